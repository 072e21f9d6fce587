package web

import (
	"fmt"
	"io/fs"
	"net/http"
	"strconv"
	"time"

	"freshet"
	"freshet/internal/opml"
	"freshet/internal/store"
)

// pack is a small list of feeds to begin with.
type pack struct {
	Slug  string
	Name  string
	Help  string
	Feeds []opml.Outline
}

// packShelf are the packs in the order in which they are offered; their feeds are in packs/SLUG.opml.
var packShelf = []pack{
	{Slug: "world", Name: "World news", Help: "Public broadcasters and newsrooms from several countries."},
	{Slug: "science", Name: "Science", Help: "Discoveries, told by those who make them and those who explain them."},
	{Slug: "code", Name: "Go and open source", Help: "Releases, articles and talk from people who build software in the open."},
	{Slug: "comics", Name: "Comics and design", Help: "Something to smile at, something to look at."},
}

// readPacks reads the lists of the packs.
func readPacks(files fs.FS) ([]pack, error) {
	packs := make([]pack, len(packShelf))
	for i, p := range packShelf {
		list, err := files.Open("packs/" + p.Slug + ".opml")
		if err != nil {
			return nil, err
		}
		p.Feeds, err = opml.Read(list, opml.MaxOutlines)
		list.Close()
		if err != nil {
			return nil, fmt.Errorf("read pack %s: %w", p.Slug, err)
		}
		packs[i] = p
	}
	return packs, nil
}

// addPack adds the feeds of a pack, or those that were chosen of it. A person waits for them.
func (s *Server) addPack(w http.ResponseWriter, r *http.Request) error {
	for _, p := range s.packs {
		if p.Slug != r.PathValue("name") {
			continue
		}
		var sources []store.NewSource
		for _, n := range r.PostForm["feed"] {
			if i, err := strconv.Atoi(n); err == nil && i >= 0 && i < len(p.Feeds) {
				o := p.Feeds[i]
				sources = append(sources, store.NewSource{URL: o.URL, Title: o.Title, Folder: o.Folder, SiteURL: o.SiteURL, AtOnce: true})
			}
		}
		if len(sources) == 0 {
			return backTo(w, r, r.PostForm.Get("back"), "nochoice")
		}
		_, err := s.Store.AddSources(r.Context(), sources, time.Now())
		return s.changed(w, r, err, "/", "packed")
	}
	return freshet.ErrNotFound
}
