package feed

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxLine is how long a line that names a document may be.
const maxLine = 1 << 20

// ParseLines answers lines that name documents, "PATH <TAB> URL <TAB> CONTENT-TYPE", with a line of JSON
// for each, in order: the document, or {"error": "..."} when it cannot be read or is no feed. The last two
// columns may be missing. open opens a path; nothing is fetched. Its own error is that of in or out.
func ParseLines(in io.Reader, out io.Writer, open func(path string) (io.ReadCloser, error)) error {
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 4096), maxLine)
	for lines.Scan() {
		if err := parseLine(lines.Text(), out, open); err != nil {
			return fmt.Errorf("write answer: %w", err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read lines: %w", err)
	}
	return nil
}

func parseLine(line string, out io.Writer, open func(path string) (io.ReadCloser, error)) error {
	path, rest, _ := strings.Cut(strings.TrimSuffix(line, "\r"), "\t")
	url, contentType, _ := strings.Cut(rest, "\t")
	doc, err := open(path)
	if err != nil {
		return WriteError(out, err)
	}
	defer doc.Close()
	d, err := Read(doc, Options{URL: url, ContentType: contentType})
	if err != nil {
		return WriteError(out, err)
	}
	return d.WriteJSON(out, false)
}

// WriteError writes why a document was not read as a line of JSON, with the feeds that it names if it is a web page.
func WriteError(w io.Writer, err error) error {
	v := struct {
		Error string     `json:"error"`
		Feeds []linkView `json:"feeds,omitempty"`
	}{Error: err.Error()}
	if not, ok := errors.AsType[*NotFeed](err); ok {
		for _, l := range not.Links {
			v.Feeds = append(v.Feeds, linkView(l))
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}

type linkView struct {
	URL   string `json:"url"`
	Title string `json:"title,omitempty"`
	Type  string `json:"type,omitempty"`
}
