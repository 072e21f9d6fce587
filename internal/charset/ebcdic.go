package charset

import (
	"strings"

	"golang.org/x/text/encoding/charmap"
)

// isEBCDIC reports an XML declaration, "<?xm", in EBCDIC.
func isEBCDIC(doc []byte) bool {
	return len(doc) >= 4 && string(doc[:4]) == "\x4c\x6f\xa7\x94"
}

// ebcdicOf is the code page that the declaration names; they agree on the characters it needs.
func ebcdicOf(doc []byte) named {
	head, _ := charmap.CodePage037.NewDecoder().Bytes(doc[:min(len(doc), 256)])
	label := declaredLabel(head)
	switch strings.TrimLeft(label, "abcdehimpsx-_") {
	case "1047":
		return named{Encoding: charmap.CodePage1047, name: "ibm1047"}
	case "1140", "01140":
		return named{Encoding: charmap.CodePage1140, name: "ibm1140"}
	}
	return named{Encoding: charmap.CodePage037, name: "ibm037"}
}
