package charset

import (
	"strings"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/simplifiedchinese"
)

// extra are encodings and names of encodings that the Encoding Standard of browsers lacks and feeds use.
var extra = map[string]named{
	"hz-gb-2312": {Encoding: simplifiedchinese.HZGB2312, name: "hz-gb-2312", multibyte: true},
	"ibm437":     {Encoding: charmap.CodePage437, name: "ibm437"},
	"ibm850":     {Encoding: charmap.CodePage850, name: "ibm850"},
	"ibm852":     {Encoding: charmap.CodePage852, name: "ibm852"},
	"ibm855":     {Encoding: charmap.CodePage855, name: "ibm855"},
	"ibm858":     {Encoding: charmap.CodePage858, name: "ibm858"},
	"ibm860":     {Encoding: charmap.CodePage860, name: "ibm860"},
	"ibm862":     {Encoding: charmap.CodePage862, name: "ibm862"},
	"ibm863":     {Encoding: charmap.CodePage863, name: "ibm863"},
	"ibm865":     {Encoding: charmap.CodePage865, name: "ibm865"},
}

// synonyms are spellings that the Encoding Standard does not list.
var synonyms = map[string]string{
	"mac-roman": "macintosh", "macroman": "macintosh", "x-macroman": "macintosh", "mac-cyrillic": "x-mac-cyrillic",
	"maccyrillic": "x-mac-cyrillic", "latin-1": "latin1", "iso-latin-1": "latin1", "sjis": "shift_jis", "cp932": "shift_jis",
	"shift-jis": "shift_jis", "eucjp": "euc-jp", "euckr": "euc-kr", "cp949": "euc-kr", "uhc": "euc-kr", "euc-cn": "gbk", "euccn": "gbk",
	"cp936": "gbk", "big5hkscs": "big5", "cp950": "big5", "hz": "hz-gb-2312", "hz-gb": "hz-gb-2312", "tis620": "tis-620",
	"koi8r": "koi8-r", "koi8u": "koi8-u", "thai": "windows-874", "greek8": "greek",
}

// lookup finds the encoding that a label means, nothing for UTF-8 and its parts, for encodings that
// are told by their bytes, and for unknown labels.
func lookup(label string) named {
	label = strings.ToLower(strings.TrimSpace(label))
	if label == "" || label == "utf-8" || isASCII(label) {
		return named{}
	}
	plain := strings.ReplaceAll(label, "_", "-")
	for _, spelling := range []string{label, plain, synonyms[plain], windowsLabel(plain), "ibm" + strings.TrimPrefix(plain, "cp")} {
		if enc, ok := extra[spelling]; ok {
			return enc
		}
		if enc, ok := standard(spelling); ok {
			return enc
		}
	}
	return named{}
}

// isASCII reports whether a label says ASCII, which browsers take for windows-1252. Whoever writes other bytes under it
// does not know in which encoding they are: it says nothing.
func isASCII(label string) bool {
	return label == "ascii" || label == "us-ascii" || label == "iso646-us" || strings.HasPrefix(label, "ansi_x3.4")
}

// windowsLabel spells "cp1251", "win1251" and "windows1251" as windows-1251.
func windowsLabel(label string) string {
	for _, prefix := range []string{"windows", "win", "cp"} {
		if number, ok := strings.CutPrefix(label, prefix); ok {
			return "windows-" + strings.TrimPrefix(number, "-")
		}
	}
	return ""
}

// standard finds an encoding of the Encoding Standard.
func standard(label string) (named, bool) {
	enc, err := htmlindex.Get(label)
	if err != nil {
		return named{}, false
	}
	name, err := htmlindex.Name(enc)
	if err != nil {
		return named{}, false
	}
	switch name {
	case "utf-8", "utf-16be", "utf-16le", "replacement", "x-user-defined":
		return named{}, false
	case "gbk", "gb18030":
		return named{Encoding: simplifiedchinese.GB18030, name: "gb18030", multibyte: true}, true
	case "big5", "euc-jp", "shift_jis", "iso-2022-jp", "euc-kr":
		return named{Encoding: enc, name: name, multibyte: true}, true
	}
	return named{Encoding: enc, name: name}, true
}
