package charset

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// language is a way to write in an encoding: its frequent characters make up a good part of any text,
// and turn up seldom when another language or encoding is read as this one.
type language struct {
	label    string
	frequent string
	adjacent bool // words are runs of bytes above 127; else accents among ASCII may look like it
}

const (
	kana = "あいうえおかがきぎくぐけげこごさざしじすずせそただちっつてでとどなにぬねのはばひびふぶへべほまみむめもやゆよらりるれろわをん" +
		"アイウエオカガキギクグケゲコゴサザシジスズセソタダチッツテデトドナニネノハバパヒビピフブプヘベペホボポマミムメモャュョラリルレロワンー、。"
	hangul = "이다는에의을가고하지은로를한기서사도어시자리인아대나해그일수정부스라원들보과전주제장동상구있게만면었였습니요것적으여성년국조비오트신공안치연진선방개"
	hanzi  = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日民工业新月，。"
	hanzu  = "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日民工業新月，。"
	slavic = "оеаинтсрвл"
)

var languages = []language{
	{"euc-jp", kana, false},
	{"shift_jis", kana, false},
	{"euc-kr", hangul, false},
	{"gbk", hanzi, false},
	{"big5", hanzu, false},
	{"windows-1251", slavic, true},
	{"koi8-r", slavic, true},
	{"iso-8859-5", slavic, true},
	{"ibm866", slavic, true},
	{"windows-1255", "יוהלאמרתבש", true},
	{"windows-1253", "αοιετσνηυρ", true},
	{"windows-1256", "الينمرتوبة", true},
	{"windows-874", "านรอกเงมยล", true},
}

const (
	sampleBytes = 16 << 10 // of a document are looked at
	// A text's frequent characters are half of it or more; titles are short, so a third convinces.
	convincing = 0.3
)

// guess names the encoding of a document that neither says it nor is UTF-8, from how frequent its
// characters would be; ok is false if nothing convinces.
func guess(doc []byte) (enc named, ok bool) {
	text := sample(doc)
	best := convincing
	for _, l := range languages {
		if l.adjacent && !adjacent(text) {
			continue
		}
		candidate := lookup(l.label)
		if score := l.score(candidate, text); score > best {
			best, enc, ok = score, candidate, true
		}
	}
	return enc, ok
}

// sample is the part of a document that shows its encoding. Of ASCII, which does not, no more is kept than a character of
// several bytes may hold.
func sample(doc []byte) []byte {
	first := bytes.IndexFunc(doc, func(r rune) bool { return r >= utf8.RuneSelf })
	if first < 0 {
		return nil
	}
	doc = doc[first:min(len(doc), first+sampleBytes)]
	text := make([]byte, 0, len(doc))
	ascii := 0
	for _, c := range doc {
		if ascii++; c >= utf8.RuneSelf {
			ascii = 0
		}
		if ascii <= 2 {
			text = append(text, c)
		}
	}
	return text
}

// score is the share of frequent characters among those beyond ASCII, 0 if more than a few bytes have no meaning.
func (l language) score(enc named, text []byte) float64 {
	decoded, err := enc.NewDecoder().Bytes(text)
	if err != nil {
		return 0
	}
	total, frequent, bad := 0, 0, 0
	for _, r := range string(decoded) {
		switch {
		case r < utf8.RuneSelf:
		case r == utf8.RuneError:
			bad++
		default:
			total++
			if strings.ContainsRune(l.frequent, r) {
				frequent++
			}
		}
	}
	if total == 0 || bad > 1+total/50 {
		return 0
	}
	return float64(frequent) / float64(total)
}

// adjacent reports whether most bytes above 127 stand next to each other.
func adjacent(text []byte) bool {
	high, pairs := 0, 0
	for i, c := range text {
		if c < utf8.RuneSelf {
			continue
		}
		high++
		if i > 0 && text[i-1] >= utf8.RuneSelf {
			pairs++
		}
	}
	return pairs*2 > high
}
