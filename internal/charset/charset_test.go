package charset

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// in encodes text, for tests that need documents in other encodings.
func in(t *testing.T, enc encoding.Encoding, text string) string {
	t.Helper()
	s, err := enc.NewEncoder().String(text)
	if err != nil {
		t.Fatalf("encode %q: %v", text, err)
	}
	return s
}

func TestDeclared(t *testing.T) {
	for _, c := range []struct{ label, text string }{
		{"windows-1250", "Žluťoučký kůň"}, {"windows-1251", "Новости дня"}, {"windows-1252", "Iñtërnâtiônàlizætiøn €"},
		{"windows-1253", "Ειδήσεις"}, {"windows-1254", "İğüşöç"}, {"windows-1255", "חדשות"}, {"windows-1256", "أخبار"},
		{"windows-1257", "ąčęėįšųū"}, {"windows-1258", "àâăđơư"}, {"windows-874", "ข่าว"}, {"cp1251", "Новости"}, {"win-1251", "Новости"},
		{"ISO-8859-1", "café"}, {"latin1", "café"}, {"ISO-8859-2", "Žluťoučký kůň"}, {"iso-8859-5", "Новости"},
		{"iso_8859-7", "Ειδήσεις"}, {"iso-8859-8", "חדשות"}, {"iso-8859-9", "İğüşöç"}, {"iso-8859-15", "œuvre €"},
		{"koi8-r", "Новости"}, {"KOI8-U", "Їжак є"}, {"macintosh", "café “x”"}, {"x-mac-cyrillic", "Новости"}, {"ibm866", "Новости"}, {"cp437", "café"}, {"cp850", "café"},
		{"gb2312", "新闻今日"}, {"GBK", "新闻今日"}, {"gb18030", "新闻今日㐀"}, {"big5", "新聞今日"}, {"Shift_JIS", "ニュース速報"}, {"x-sjis", "ニュース"},
		{"euc-jp", "ニュース速報"}, {"iso-2022-jp", "ニュース速報"}, {"euc-kr", "오늘의 뉴스"}, {"ks_c_5601-1987", "오늘의 뉴스"}, {"hz-gb-2312", "新闻今日"},
	} {
		enc := lookup(c.label)
		if enc.Encoding == nil {
			t.Errorf("%s is not known", c.label)
			continue
		}
		for _, doc := range []struct{ contentType, text string }{
			{"application/xml", `<?xml version="1.0" encoding="` + c.label + `"?><a>` + c.text + "</a>"},
			{"text/xml", "<?xml version='1.0' encoding = '" + c.label + "' ?><a>" + c.text + "</a>"},
			{"text/xml; charset=" + c.label, "<a>" + c.text + "</a>"},
			{`text/xml;charset="` + c.label + `"; x=y`, `<?xml version="1.0" encoding="utf-8"?><a>` + c.text + "</a>"},
		} {
			got, _, err := UTF8([]byte(in(t, enc, doc.text)), doc.contentType)
			if string(got) != doc.text || err != nil {
				t.Errorf("%s: %q, %v; want %q", c.label, got, err, doc.text)
			}
		}
	}
}

func TestUnicode(t *testing.T) {
	text := "<?xml version=\"1.0\"?><a>Žluťoučký 東京 😀</a>"
	declared := strings.Replace(text, "?>", ` encoding="utf-16"?>`, 1)
	for name, enc := range map[string]encoding.Encoding{
		"utf-16be": unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
		"utf-16le": unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
		"utf-32be": utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM),
		"utf-32le": utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM),
	} {
		for _, want := range []string{text, declared} {
			for _, mark := range []string{"", "\ufeff"} {
				got, as, err := UTF8([]byte(in(t, enc, mark+want)), "text/xml; charset=iso-8859-1")
				if string(got) != want || as != name || err != nil {
					t.Errorf("%s with mark %q: %s, %q, %v", name, mark, as, got, err)
				}
			}
		}
	}
}

func TestUTF8(t *testing.T) {
	for _, c := range []struct{ name, contentType, doc, want, as string }{
		{"nothing declared", "", "<a>é</a>", "<a>é</a>", "utf-8"},
		{"mark", "text/xml", "\ufeff<a>é</a>", "<a>é</a>", "utf-8"},
		{"mark against declaration", "", "\ufeff<?xml version='1.0' encoding='iso-8859-1'?>é", "<?xml version='1.0' encoding='iso-8859-1'?>é", "utf-8"},
		{"declared as something else", "text/xml; charset=windows-1251", "<a>日本 é</a>", "<a>日本 é</a>", "utf-8"},
		{"unknown label", "text/xml; charset=klingon", "<a>é</a>", "<a>é</a>", "utf-8"},
		{"UTF-16 that is none", "", "<?xml version='1.0' encoding='utf-16'?>é", "<?xml version='1.0' encoding='utf-16'?>é", "utf-8"},
		{"stray byte", "text/xml; charset=utf-8", "<a>é “x” \x93y\x94</a>", "<a>é “x” “y”</a>", "utf-8"},
		{"cut off", "", "<a>日本\xe6\x97", "<a>日本", "utf-8"},
		{"Latin declared as UTF-8", "text/xml; charset=utf-8", "<a>caf\xe9 \x96 na\xefve</a>", "<a>café – naïve</a>", "windows-1252"},
		{"HTTP wrong, declaration right", "text/xml; charset=utf-8", "<?xml version='1.0' encoding='windows-1251'?>\xcd\xee\xe2\xee\xf1\xf2\xe8", "<?xml version='1.0' encoding='windows-1251'?>Новости", "windows-1251"},
		{"NUL", "", "a\x00b", "ab", "utf-8"},
		{"empty", "", "", "", "utf-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, as, err := UTF8([]byte(c.doc), c.contentType)
			if string(got) != c.want || as != c.as || err != nil {
				t.Errorf("got %q as %s, %v; want %q as %s", got, as, err, c.want, c.as)
			}
		})
	}
}

func TestEBCDIC(t *testing.T) {
	// <?xml version="1.0" encoding="cp037"?><a>[é]</a>, and the same in 500 and 1026.
	for _, c := range []struct{ doc, as, want string }{
		{"\x4c\x6f\xa7\x94\x93\x40\x85\x95\x83\x96\x84\x89\x95\x87\x7e\x7f\x83\x97\xf0\xf3\xf7\x7f\x6f\x6e\xba\x51\xbb", "ibm037", `<?xml encoding="cp037"?>[é]`},
		{"\x4c\x6f\xa7\x94\x93\x40\x85\x95\x83\x96\x84\x89\x95\x87\x7e\x7f\x83\x97\xf5\xf0\xf0\x7f\x6f\x6e\x4a\x51\x5a", "ibm500", `<?xml encoding="cp500"?>[é]`},
		{"\x4c\x6f\xa7\x94\x93\x40\x85\x95\x83\x96\x84\x89\x95\x87\x7e\xfc\x83\x97\xf1\xf0\xf2\xf6\xfc\x6f\x6e\x68\x51\xac\xd0", "ibm1026", `<?xml encoding="cp1026"?>[é]ğ`},
	} {
		got, as, err := UTF8([]byte(c.doc), "")
		if string(got) != c.want || as != c.as || err != nil {
			t.Errorf("got %q as %s, %v; want %q as %s", got, as, err, c.want, c.as)
		}
	}
}

// The sentences are of this test; the encodings those in which feeds come undeclared.
func TestGuess(t *testing.T) {
	for _, c := range []struct{ label, text string }{
		{"shift_jis", "東京で桜が咲きました。週末は多くの人が花見に出かけるでしょう。"},
		{"shift_jis", "ニュース速報"},
		{"euc-jp", "東京で桜が咲きました。週末は多くの人が花見に出かけるでしょう。"},
		{"shift_jis", "新しい警告の一覧"},
		{"euc-jp", "新着記事の一覧"},
		{"euc-kr", "새 글 알림"},
		{"euc-kr", "서울의 봄은 짧고 아름답습니다. 사람들은 공원에서 시간을 보냅니다."},
		{"gb18030", "我们今天在北京看到了很多人，他们都说天气很好。"},
		{"big5", "我們今天在台北看到了很多人，他們都說天氣很好。"},
		{"gb18030", "软件更新：新版本发布"},
		{"gb18030", "无法打开文件"},
		{"big5", "軟體更新：新版本發布"},
		{"big5", "無法開啟檔案"},
		{"windows-1251", "Сегодня в Москве прошёл дождь, а завтра обещают снег."},
		{"windows-1251", "Новости"},
		{"windows-1251", "Съешь же ещё этих мягких булок — «да»"},
		{"windows-1251", "Не може да се свърже с portmapper"},
		{"koi8-u", "Новини України: її ґанок і їжак"},
		{"koi8-u", "Сегодня в Москве прошёл дождь, а завтра обещают снег."},
		{"iso-8859-5", "Сегодня в Москве прошёл дождь, а завтра обещают снег."},
		{"ibm866", "Сегодня в Москве прошёл дождь, а завтра обещают снег."},
		{"windows-1253", "Σήμερα στην Αθήνα ο καιρός είναι πολύ καλός."},
		{"iso-8859-7", "Άγνωστο σφάλμα σύνδεσης"},
		{"windows-1255", "היום בירושלים יורד גשם ומחר יהיה קר"},
		{"windows-1256", "اليوم في القاهرة الطقس جميل والناس في الحدائق"},
		{"windows-874", "วันนี้ที่กรุงเทพอากาศดีมาก คนไปเที่ยวกันเยอะ"},
		{"windows-874", "ข่าววันนี้"},
		{"windows-1252", "Le café était fermé à midi, où l’on préparait déjà la fête de Noël."},
		{"windows-1252", "Größe und Höhe: äußerst schöne Straßen über Köln"},
		{"windows-1252", "El niño comió piñas mañana “aquí”"},
		{"windows-1252", "På grund af uroligheder i København er søndagens kamp aflyst"},
		{"windows-1252", "© 2004 Example – naïve"},
	} {
		doc := "<rss><channel><title>" + c.text + "</title></channel></rss>"
		got, as, err := UTF8([]byte(in(t, lookup(c.label), doc)), "text/xml")
		if as != c.label || string(got) != doc || err != nil {
			t.Errorf("%s taken for %s: %q, %v", c.label, as, got, err)
		}
	}
}

// ASCII is no encoding for other bytes: they are guessed.
func TestASCIISaysNothing(t *testing.T) {
	for _, label := range []string{"us-ascii", "ASCII", "ANSI_X3.4-1968"} {
		want := `<?xml version="1.0" encoding="` + label + `"?><title>Новости дня</title>`
		if got, as, _ := UTF8([]byte(in(t, lookup("windows-1251"), want)), "text/xml; charset="+label); string(got) != want {
			t.Errorf("%s: %q as %s", label, got, as)
		}
	}
}

func TestEscapesUndeclared(t *testing.T) {
	want := "<a>東京の桜</a>"
	if got, as, _ := UTF8([]byte(in(t, lookup("iso-2022-jp"), want)), ""); string(got) != want || as != "iso-2022-jp" {
		t.Errorf("%q as %s", got, as)
	}
}

func TestPage(t *testing.T) {
	for _, c := range []struct{ contentType, head string }{
		{"text/html", `<!doctype html><head><meta charset="windows-1251">`},
		{"text/html", `<META name=x><Meta http-equiv="Content-Type" content="text/html; charset=windows-1251">`},
		{"text/html; charset=windows-1251", `<meta charset=utf-8>`},
		{"", `<meta charset='Windows-1251' />`},
	} {
		want := c.head + "Новости"
		got, as, err := PageUTF8([]byte(in(t, lookup("windows-1251"), want)), c.contentType)
		if string(got) != want || as != "windows-1251" || err != nil {
			t.Errorf("%s: %q as %s, %v", c.head, got, as, err)
		}
	}
}

func TestBinary(t *testing.T) {
	doc := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x01\x00\x00\x00\x01\x00\x08\x06\x00\x00\x00\x5c\x72\xa8\x66")
	if _, _, err := UTF8(doc, "image/png"); !errors.Is(err, ErrBinary) {
		t.Errorf("a picture: %v, want ErrBinary", err)
	}
}

func TestNoCopy(t *testing.T) {
	doc := []byte("<?xml version='1.0' encoding='utf-8'?><a>žluťoučký</a>")
	if n := testing.AllocsPerRun(10, func() { UTF8(doc, "text/xml; charset=utf-8") }); n > 3 {
		t.Errorf("%v allocations for valid UTF-8", n)
	}
	if got, _, _ := UTF8(doc, ""); &got[0] != &doc[0] {
		t.Error("valid UTF-8 was copied")
	}
}

func FuzzUTF8(f *testing.F) {
	for _, seed := range []string{
		"<?xml version='1.0' encoding='windows-1251'?><a>\xcf\xf0</a>", "\xff\xfe<\x00a\x00", "\xef\xbb\xbfa\xffb",
		"\x4c\x6f\xa7\x94\x93", "\x1b$B%F%9%H\x1b(B", "\x00\x00\x00<", "<meta charset=gbk>\xc4\xe3\xba\xc3",
	} {
		f.Add([]byte(seed), "text/xml")
		f.Add([]byte(seed), "text/html; charset=Shift_JIS")
	}
	f.Fuzz(func(t *testing.T, doc []byte, contentType string) {
		for _, decode := range []func([]byte, string) ([]byte, string, error){UTF8, PageUTF8} {
			text, name, err := decode(doc, contentType)
			if !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
				t.Errorf("%s: %q is not UTF-8 without NUL", name, text)
			}
			if len(text) > 4*len(doc)+4 {
				t.Errorf("%s: %d bytes became %d", name, len(doc), len(text))
			}
			if (name == "") != (err != nil) {
				t.Errorf("name %q with error %v", name, err)
			}
		}
	})
}

// BenchmarkUTF8 shows the cost of documents that need nothing, and that time grows with length alone.
func BenchmarkUTF8(b *testing.B) {
	latin := strings.Repeat("<p>caf\xe9 au lait</p>\n", 1<<12)
	for _, c := range []struct{ name, doc string }{
		{"ascii", strings.Repeat("<item><title>News of the day</title></item>\n", 1<<12)},
		{"czech", strings.Repeat("<item><title>Žluťoučký kůň</title></item>\n", 1<<12)},
		{"latin1", latin}, {"latin2x", latin + latin}, {"latin4x", latin + latin + latin + latin},
		{"stray", strings.Repeat("é“”\xe9 ", 1<<12)}, {"stray2x", strings.Repeat("é“”\xe9 ", 1<<13)},
		{"gbk", "<?xml version='1.0' encoding='gbk'?>" + strings.Repeat("\xc4\xe3\xba\xc3\xa3\xac ", 1<<13)},
	} {
		b.Run(c.name, func(b *testing.B) {
			doc := []byte(c.doc)
			b.SetBytes(int64(len(doc)))
			b.ReportAllocs()
			for b.Loop() {
				UTF8(doc, "text/xml")
			}
		})
	}
}
