package freshet

import (
	"bytes"
	"compress/flate"
	"io"
)

// Document is what a source that is one document gave last: a page (E2) or whatever lies at an address (E3).
type Document struct {
	Hash   string `json:"hash"` // SHA-256 of what counts: the text of a page, else the body
	Status int    `json:"status"`
	Size   int    `json:"size"`            // of the body, in bytes
	Rules  string `json:"rules,omitempty"` // stands for the rules by which a page's text was read
	Text   []byte `json:"text,omitempty"`  // a page's text, packed, to tell what changes; see Keep
}

// maxKept and maxPacked bound the text that a cursor holds, in bytes before and after packing.
const (
	maxKept   = 256 << 10
	maxPacked = 24 << 10
)

// Keep packs the text into the document. One that is too long is not kept, and what changes in it is not told.
func (d *Document) Keep(text string) { d.Text = pack(text) }

// Kept returns the text that was kept, "" when none was.
func (d *Document) Kept() string { return unpack(d.Text) }

// pack makes a text small, nil when it is too long to be kept.
func pack(text string) []byte {
	if len(text) > maxKept {
		return nil
	}
	var packed bytes.Buffer
	w, _ := flate.NewWriter(&packed, flate.DefaultCompression) // only a bad level is an error
	io.WriteString(w, text)
	w.Close()
	if packed.Len() > maxPacked {
		return nil
	}
	return packed.Bytes()
}

// unpack returns what pack was given, "" when it kept nothing.
func unpack(packed []byte) string {
	text, err := io.ReadAll(io.LimitReader(flate.NewReader(bytes.NewReader(packed)), maxKept+1))
	if err != nil || len(text) > maxKept {
		return ""
	}
	return string(text)
}

// Shown is the cursor as people see it: without the text that is only kept to compare with.
func (c Cursor) Shown() Cursor {
	if d := c.Document; d != nil {
		shown := *d
		shown.Text = nil
		c.Document = &shown
	}
	return c
}
