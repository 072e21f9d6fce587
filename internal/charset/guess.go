package charset

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// language is a way to write in an encoding: its frequent characters make up some two thirds of any text, prose or
// headlines or messages of programs, and turn up seldom when another language or encoding is read as this one.
type language struct {
	label    string
	frequent string
	adjacent bool // words are runs of bytes above 127; else accents among ASCII may look like it
}

const (
	japanese = "あいうえおかがきぎくぐけげこごさざしじすずせそただちっつてでとどなにぬねのはばひびふぶへべほまみむめもやゆよらりるれろわをん" +
		"アイウエオカガキギクグケゲコゴサザシジスズセソタダチッツテデトドナニネノハバパヒビピフブプヘベペホボポマミムメモャュョラリルレロワンー、。" +
		"日一国会人年大十二本中長出三同時政事自行社見月分議後前民生連五発間対上部東者党地合市業内相方四定今回新場金員九入選立開手米力学問高代明実円関決子動京全目表戦経通外最言氏現理調体化田当八六約主題下首意法更記能用"
	hangul = "이다는에의을가고하지은로를한기서사도어시자리인아대나해그일수정부스라원들보과전주제장동상구있게만면었였습니요것적으여성년국조비오트신공안치연진선방개없합용할파음않터위문션드데프작표름함입모패되크업소버실형중된값" +
		"바키력설경식메행블디명거브못옵테료열했세야변호필레미번목잘환록내복류태유출렉화너우체추현재단무마령려읽타커러간새글알림"
	hanzi = "的一是不了在人有我他这个们中来上大为和国地到以说时要就出会可也你对生能而子那得于着下自之年过发后作里用道行所然家种事成方多经么去法学如都同现当没动面起看定天分还进好小部其些主样理心她本前开但因只从想实日民工业新" +
		"月，。军者意无力它与长把机十第公此已使情明性知全三又关点正外将两高间由问很最重并物手应战向头文体政美相见被利什二等产或己制身果加西斯话合回特代内信表化老给世位次度门任常先海通教儿原东声提立及比员解水名真论处走义" +
		"各入几口认条平系气题活尔更别打女变四神总何电数安少报才结反受目太量再感建务做接必场件计管期市直德资命山金指克许统区保至队形社便空决治展马科司五基眼书非则听白却界达光放强即像难且权思王象完设式色路记南品住告类求据" +
		"程北边死张该交规万取格望觉术领共确传师观清今切院让识候带导争运、：；“”《》（）字标符置选存输器包效列录错未项示引型值序误除号密户配支参您组模显语息需签库索令否钥失查创键证含码操持请图改服须称换读复"
	hanzu = "的一是不了在人有我他這個們中來上大為和國地到以說時要就出會可也你對生能而子那得於著下自之年過發後作裡用道行所然家種事成方多經麼去法學如都同現當沒動面起看定天分還進好小部其些主樣理心她本前開但因只從想實日民工業新" +
		"月，。軍者意無力它與長把機十第公此已使情明性知全三又關點正外將兩高間由問很最重並物手應戰向頭文體政美相見被利什二等產或己制身果加西斯話合回特代內信表化老給世位次度門任常先海通教兒原東聲提立及比員解水名真論處走義" +
		"各入幾口認條平系氣題活爾更別打女變四神總何電數安少報才結反受目太量再感建務做接必場件計管期市直德資命山金指克許統區保至隊形社便空決治展馬科司五基眼書非則聽白卻界達光放強即像難且權思王象完設式色路記南品住告類求據" +
		"程北邊死張該交規萬取格望覺術領共確傳師觀清今切院讓識候帶導爭運、：；「」『』《》（）檔案字選示標列元項輸錯存效未誤稱除錄引號顯組符料語否值訊支令鍵您需版模鑰包預請碼置器啟讀印執態證型失移視套參含庫單端寫狀串"
	slavic = "оеаинтсрвлкпдмуя"
	greek  = "αοιετνρσμηπκυςίλΆ" // the last one tells the two encodings of Greek apart
)

var languages = []language{
	{"euc-jp", japanese, false},
	{"shift_jis", japanese, false},
	{"euc-kr", hangul, false},
	{"gbk", hanzi, false},
	{"big5", hanzu, false},
	{"windows-1251", slavic, true},
	{"koi8-u", slavic, true},
	{"iso-8859-5", slavic, true},
	{"ibm866", slavic, true},
	{"windows-1255", "יותהלמראנשבקפ", true},
	{"windows-1253", greek, true},
	{"iso-8859-7", greek, true},
	{"windows-1256", "اليمرتةوندفعبسحك", true},
	{"windows-874", "ารอ่มกนเ้งดัลีติยสบว", true},
}

const (
	sampleBytes = 4 << 10 // of a document are looked at
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
	if total == 0 || bad > total/50 {
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
