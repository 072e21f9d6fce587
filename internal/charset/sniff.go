package charset

import (
	"bytes"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

var marks = []struct{ mark, name string }{
	{"\xef\xbb\xbf", "utf-8"},
	{"\x00\x00\xfe\xff", "utf-32be"},
	{"\xff\xfe\x00\x00", "utf-32le"},
	{"\xfe\xff", "utf-16be"},
	{"\xff\xfe", "utf-16le"},
}

// byteOrderMark names the encoding that a document's mark tells, and the mark's length.
func byteOrderMark(doc []byte) (name string, n int) {
	for _, m := range marks {
		if len(doc) >= len(m.mark) && string(doc[:len(m.mark)]) == m.mark {
			return m.name, len(m.mark)
		}
	}
	return "", 0
}

// zeroPattern names the encoding that shows in where a document without mark has its zero bytes:
// it begins with ASCII, and so three of four or one of two bytes are zero.
func zeroPattern(doc []byte) string {
	head := doc[:min(len(doc), 64)&^3]
	if bytes.IndexByte(head, 0) < 0 {
		return ""
	}
	var zero [4]bool
	for i := range zero {
		n := 0
		for j := i; j < len(head); j += 4 {
			if head[j] == 0 {
				n++
			}
		}
		zero[i] = n*4 > len(head)/4*3
	}
	switch zero {
	case [4]bool{true, true, true, false}:
		return "utf-32be"
	case [4]bool{false, true, true, true}:
		return "utf-32le"
	case [4]bool{true, false, true, false}:
		return "utf-16be"
	case [4]bool{false, true, false, true}:
		return "utf-16le"
	}
	return ""
}

var unicodes = map[string]encoding.Encoding{
	"utf-16be": unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM),
	"utf-16le": unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM),
	"utf-32be": utf32.UTF32(utf32.BigEndian, utf32.IgnoreBOM),
	"utf-32le": utf32.UTF32(utf32.LittleEndian, utf32.IgnoreBOM),
}

// unicodeText decodes a document known to be in a form of Unicode.
func unicodeText(doc []byte, name string) ([]byte, string, error) {
	if name == "utf-8" {
		return dropNUL(repair(doc)), name, nil
	}
	return finish(named{Encoding: unicodes[name], name: name}, doc)
}

// httpLabel is the charset parameter of a Content-Type header.
func httpLabel(contentType string) string {
	_, params, _ := strings.Cut(strings.ToLower(contentType), "charset")
	params, ok := strings.CutPrefix(strings.TrimLeft(params, " "), "=")
	if !ok {
		return ""
	}
	params = strings.TrimLeft(params, ` "'`)
	if i := strings.IndexAny(params, ` "';,`); i >= 0 {
		params = params[:i]
	}
	return params
}

// declaredLabel is the encoding that an XML declaration at the document's beginning names.
func declaredLabel(doc []byte) string {
	doc = bytes.TrimLeft(doc[:min(len(doc), 1024)], " \t\r\n")
	if len(doc) < 5 || !bytes.EqualFold(doc[:5], []byte("<?xml")) {
		return ""
	}
	declaration, _, _ := bytes.Cut(doc, []byte(">"))
	return attribute(declaration, "encoding")
}

// metaLabel is the encoding that an XML declaration or a meta element in the first bytes of a page names.
func metaLabel(doc []byte) string {
	if label := declaredLabel(doc); label != "" {
		return label
	}
	head := bytes.ToLower(doc[:min(len(doc), 4096)])
	for {
		_, after, found := bytes.Cut(head, []byte("<meta"))
		if !found {
			return ""
		}
		meta, rest, _ := bytes.Cut(after, []byte(">"))
		if label := attribute(meta, "charset"); label != "" {
			return label
		}
		head = rest
	}
}

// attribute is the value after name= in a tag, quoted or not; it also finds charset= in a quoted content.
func attribute(tag []byte, name string) string {
	_, after, found := bytes.Cut(bytes.ToLower(tag), []byte(name))
	after, ok := bytes.CutPrefix(bytes.TrimLeft(after, " \t\r\n"), []byte("="))
	if !found || !ok {
		return ""
	}
	after = bytes.TrimLeft(after, " \t\r\n\"'")
	if i := bytes.IndexAny(after, " \t\r\n\"';?/"); i >= 0 {
		after = after[:i]
	}
	return string(after)
}
