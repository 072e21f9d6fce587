package e2e

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// listFile writes a list of feeds that a test hands to a file field.
func listFile(t *testing.T, outlines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "subscriptions.opml")
	must(t, os.WriteFile(path, []byte(`<opml version="2.0"><body>`+strings.Join(outlines, "\n")+`</body></opml>`), 0o600))
	return path
}

func outline(title, address string) string {
	return fmt.Sprintf(`<outline text="%s" type="rss" xmlUrl="%s"/>`, title, address)
}

// hand puts a file into a file field.
func (b *tab) hand(css, path string) {
	b.t.Helper()
	b.do(chromedp.SetUploadFiles(chromedp.CSS(css), []string{path}))
}

// mixedList is a list with a feed of every kind of health, on a host of its own.
func mixedList(t *testing.T, stand *newsstand) (path string) {
	t.Helper()
	stand.feed("/works.xml", "Works", entries("works", 3, time.Hour)...)
	stand.feed("/new/place.xml", "Has Moved", entries("moved", 2, time.Hour)...)
	stand.status("/old.xml", http.StatusMovedPermanently, "Location: "+stand.url+"/new/place.xml")
	stand.feed("/named.xml", "Named", entries("named", 1, time.Hour)...)
	stand.html("/page", `<html><head><link rel=alternate type=application/rss+xml href=/named.xml title="All posts"><link rel=alternate type=application/rss+xml href=/other.xml title="Comments"></head></html>`)
	stand.status("/ill.xml", http.StatusBadGateway)
	return listFile(t,
		`<outline text="Daily">`+outline("A feed that works", stand.url+"/works.xml")+`</outline>`,
		outline("A feed that moved", stand.url+"/old.xml"), outline("A page", stand.url+"/page"),
		outline("Ill today", stand.url+"/ill.xml"), outline("Dead for years", stand.url+"/gone.xml"),
		outline("No web address", "gopher://three.example/"), outline("Once more", stand.url+"/works.xml"))
}

// A list is looked at before it is subscribed to: what works, moved, is a page with feeds or is dead is told, and only
// what was chosen is added.
func TestImportWithALook(t *testing.T) {
	for _, mode := range []struct {
		name   string
		before []chromedp.Action[chromedp.Void]
	}{{"with script", nil}, {"without script", []chromedp.Action[chromedp.Void]{noScript()}}} {
		t.Run(mode.name, func(t *testing.T) {
			stand := newNewsstand(t, "127.0.0.2")
			list := mixedList(t, stand)
			s := reader(t)
			b := browse(t, s.url, mode.before...)
			b.open("/sources")
			b.hand("#opml", list)
			b.follow(".import form button")
			b.waitText("#check", "Nothing is added before you say so")
			for _, want := range []string{"1 works", "1 moved", "1 page with feeds", "1 no answer now", "1 dead", "1 cannot be used", "1 there already"} {
				b.says(".findings", want)
			}
			b.says("#check", "502")
			b.says("#check", "All posts")
			if n := b.count("#check tbody input:checked"); n != 4 {
				t.Errorf("%d are chosen, want those that work, moved, are named by a page, or may come back", n)
			}
			b.looks("found")
			for range 2 {
				if n := stand.visits("/works.xml"); n != 1 {
					t.Errorf("asked %d times for one address", n)
				}
			}
			b.follow("#check form .actions button")
			b.says("main", "4 feeds were added")
			b.looks("imported")
			b.open("/sources")
			for _, want := range []string{"A feed that works", "A feed that moved", "A page", "Ill today"} {
				b.says("#list", want)
			}
			var feeds struct {
				Feeds []struct{ URL, Title, Folder string }
			}
			must(t, get(s.url+"/api/feeds", &feeds))
			at := map[string]string{}
			for _, f := range feeds.Feeds {
				at[f.Title] = strings.TrimPrefix(f.URL, stand.url) + " " + f.Folder
			}
			for title, want := range map[string]string{"A feed that works": "/works.xml Daily", "A feed that moved": "/new/place.xml ", "A page": "/named.xml "} {
				if at[title] != want {
					t.Errorf("%s is at %q, want %q", title, at[title], want)
				}
			}
		})
	}
}

// The look tells how far it is, asks a host for one address after the other, and can be stopped.
func TestImportTellsItsProgress(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	slow := newNewsstand(t, "127.0.0.3")
	stand.feed("/quick.xml", "Quick", entries("quick", 1, time.Hour)...)
	_, release := slow.slow("/slow.xml", "Slow", entries("slow", 1, time.Hour)...)
	defer release()
	s := reader(t)
	b := browse(t, s.url)
	b.open("/sources")
	b.hand("#opml", listFile(t, outline("Quick", stand.url+"/quick.xml"), outline("Slow", slow.url+"/slow.xml"), outline("Behind it", slow.url+"/behind.xml")))
	b.follow(".import form button")
	b.waitText("#check", "1 of 3 looked at")
	b.waitText(".findings", "1 works")
	if n := slow.visits("/behind.xml"); n != 0 {
		t.Error("a host was asked for two addresses at once")
	}
	b.looks("running")
	b.follow(`#check button[name=stop]`)
	b.waitText("#check", "2 not looked at")
	b.says("#check", "1 works")
	b.picture("stopped")
	address := b.where()

	t.Run("a check that is gone", func(t *testing.T) {
		b := b.in(t)
		b.open(strings.Replace(address, "/check/", "/check/x", 1))
		b.says("main", "not there any more")
		b.says("main", "Choose the file again")
		b.picture("gone")
	})
}

// A list is imported without a look, too, and one bad address does not hold up the rest.
func TestImportAtOnce(t *testing.T) {
	stand := newNewsstand(t, "127.0.0.2")
	s := reader(t)
	b := browse(t, s.url, noScript())
	b.open("/sources")
	b.hand("#opml", mixedList(t, stand))
	b.follow(".import button[formaction]")
	b.says("main", "5 feeds were added, 1 was there already, 1 was refused")
	b.says("main", "No web address")
	b.looks("imported")
	b.open("/sources")
	bad := filepath.Join(t.TempDir(), "holiday.jpg")
	must(t, os.WriteFile(bad, []byte("no list at all"), 0o600))
	b.hand("#opml", bad)
	b.follow(".import form button")
	b.says("#problem", "Nothing was imported")
	b.says("#wrong-list", "OPML")
	b.picture("no-list")
}
