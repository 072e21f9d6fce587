package charset

import (
	"bytes"
	"testing"
	"unicode/utf8"
)

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
