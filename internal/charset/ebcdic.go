package charset

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/transform"
)

// isEBCDIC reports an XML declaration, "<?xm", in EBCDIC.
func isEBCDIC(doc []byte) bool {
	return len(doc) >= 4 && string(doc[:4]) == "\x4c\x6f\xa7\x94"
}

// ebcdicOf is the code page that the declaration names; they agree on the characters it needs.
func ebcdicOf(doc []byte) named {
	head, _ := charmap.CodePage037.NewDecoder().Bytes(doc[:min(len(doc), 256)])
	label := declaredLabel(head)
	for _, page := range ebcdic {
		if strings.Contains(label, strings.TrimPrefix(page.name, "ibm")) {
			return page
		}
	}
	return ebcdic[0]
}

// ebcdic are the code pages of EBCDIC; 037 is what a page means that is not among them.
var ebcdic = []named{
	{Encoding: charmap.CodePage037, name: "ibm037"},
	{Encoding: charmap.CodePage1047, name: "ibm1047"},
	{Encoding: charmap.CodePage1140, name: "ibm1140"},
	{Encoding: codePage{0x4a: '[', 0x4f: '!', 0x5a: ']', 0x5f: '^', 0xb0: '¢', 0xba: '¬', 0xbb: '|'}, name: "ibm500"},
	{Encoding: codePage{
		0x48: '{', 0x4a: 'Ç', 0x4f: '!', 0x5a: 'Ğ', 0x5b: 'İ', 0x5f: '^', 0x68: '[', 0x6a: 'ş', 0x79: 'ı', 0x7b: 'Ö',
		0x7c: 'Ş', 0x7f: 'Ü', 0x8c: '}', 0x8d: '`', 0x8e: '¦', 0xa1: 'ö', 0xac: ']', 0xad: '$', 0xae: '@', 0xb0: '¢',
		0xba: '¬', 0xbb: '|', 0xc0: 'ç', 0xcc: '~', 0xd0: 'ğ', 0xdc: '\\', 0xe0: 'ü', 0xec: '#', 0xfc: '"',
	}, name: "ibm1026"},
}

// codePage is code page 037 with some bytes changed. As an encoding it only decodes.
type codePage map[byte]rune

// NewDecoder returns a decoder to UTF-8.
func (c codePage) NewDecoder() *encoding.Decoder { return &encoding.Decoder{Transformer: c} }

// NewEncoder returns an encoder that has no characters: nothing is ever written in EBCDIC.
func (c codePage) NewEncoder() *encoding.Encoder { return encoding.Replacement.NewEncoder() }

// Reset does nothing: no byte depends on those before.
func (c codePage) Reset() {}

// Transform decodes src.
func (c codePage) Transform(dst, src []byte, _ bool) (nDst, nSrc int, err error) {
	for _, b := range src {
		r, changed := c[b]
		if !changed {
			r = charmap.CodePage037.DecodeByte(b)
		}
		if nDst+utf8.RuneLen(r) > len(dst) {
			return nDst, nSrc, transform.ErrShortDst
		}
		nDst += utf8.EncodeRune(dst[nDst:], r)
		nSrc++
	}
	return nDst, nSrc, nil
}
