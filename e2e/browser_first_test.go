package e2e

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// packed makes a copy of the program with starter packs that lead to a newsstand, and nowhere else: the lists that are
// embedded in it are written over.
func packed(t *testing.T, stand *newsstand) {
	t.Helper()
	program, err := os.ReadFile(filepath.Join(bin, "freshet"))
	must(t, err)
	for _, slug := range []string{"world", "science", "code", "comics"} {
		var outlines []string
		for n := range 3 {
			path := fmt.Sprintf("/%s/%d.xml", slug, n)
			title := fmt.Sprintf("%s %d", slug, n)
			outlines = append(outlines, outline(title, stand.feed(path, title, entries(fmt.Sprint(slug, n), 4, time.Hour)...)))
		}
		list, err := os.ReadFile("../internal/web/packs/" + slug + ".opml")
		must(t, err)
		ours := bytes.Repeat([]byte(" "), len(list))
		if n := copy(ours, `<opml version="2.0"><body><outline text="`+slug+`">`+strings.Join(outlines, "")+`</outline></body></opml>`); n == len(ours) {
			t.Fatalf("no room for the newsstand's feeds in the pack %s", slug)
		}
		at := bytes.Index(program, list)
		if at < 0 {
			t.Fatalf("the program does not have the pack %s", slug)
		}
		copy(program[at:], ours)
	}
	must(t, os.WriteFile(filepath.Join(bin, "freshet-packed"), program, 0o700))
}

// First run: one field, a list from elsewhere, or a pack; items appear while first polls run.
func TestFirstRun(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	packed(t, stand)
	start := func(t *testing.T) server {
		return readerOf(t, "freshet-packed")
	}
	t.Run("a pack", func(t *testing.T) {
		s := start(t)
		b := browse(t, s.url)
		b.open("/")
		b.says("main", "Nothing flows yet")
		b.says("main", "World news")
		if n := b.count(".pack"); n != 4 {
			t.Errorf("%d packs, want 4", n)
		}
		b.looks("first")
		b.follow(`button[aria-label="Add Science"]`)
		b.says("main", "First polls are under way")
		b.waitText("#river", "science0 4")
		b.waitText("#river", "science2 4")
		b.looks("filled")
		b.open("/sources")
		b.waitText("#list", "science 1")
		b.says("#list", "science")
		if stand.visits("/comics/0.xml") != 0 {
			t.Error("a pack that nobody chose was asked for")
		}
	})
	t.Run("a part of a pack, without script", func(t *testing.T) {
		s := start(t)
		b := browse(t, s.url, noScript())
		b.open("/")
		b.click(".pack:nth-of-type(4) summary")
		b.click(`.pack:nth-of-type(4) input[value="1"]`)
		b.picture("part")
		b.follow(`button[aria-label="Add Comics and design"]`)
		await(t, "the first polls", func() (bool, error) {
			return stand.visits("/comics/0.xml") > 0 && stand.visits("/comics/2.xml") > 0, nil
		})
		if stand.visits("/comics/1.xml") != 0 {
			t.Error("a feed that was not chosen was added")
		}
		b.waitText("#river", "comics2 4") // by itself
	})
}
