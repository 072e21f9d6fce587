package charset

import "golang.org/x/text/encoding/charmap"

// guess names the encoding of a document that neither says it nor is UTF-8.
func guess(doc []byte) named {
	return named{Encoding: charmap.Windows1252, name: "windows-1252"}
}
