package e2e

import (
	"bytes"
	"database/sql"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

const picturesFolder = "../docs/pictures"

// The pictures that README shows are there, 1200 px wide, for light and for dark, and small.
func TestReadmePictures(t *testing.T) {
	readme, err := os.ReadFile("../README.md")
	must(t, err)
	named := regexp.MustCompile(`docs/pictures/([a-z]+-(?:light|dark)\.png)`).FindAllSubmatch(readme, -1)
	if len(named) != 6 {
		t.Errorf("README names %d pictures, want three for light and three for dark", len(named))
	}
	for _, m := range named {
		body, err := os.ReadFile(filepath.Join(picturesFolder, string(m[1])))
		must(t, err)
		size, err := png.DecodeConfig(bytes.NewReader(body))
		if err != nil || size.Width != 1200 || len(body) >= 150_000 {
			t.Errorf("%s is %d px wide and has %d bytes (%v)", m[1], size.Width, len(body), err)
		}
	}
}

// The pictures of README are made anew from a made-up town: "make pictures".
func TestMakePictures(t *testing.T) {
	if os.Getenv("FRESHET_PICTURES") == "" {
		t.Skip("SKIPPED: the pictures of README are made with FRESHET_PICTURES=1 only (make pictures)")
	}
	w := newTown(t, 20)
	flow, board := w.ferries(t)
	must(t, post(w.url+"/api/rivers", "application/json", strings.NewReader(`{"name":"Morning","filter":"folders=Town&days=7"}`), nil))
	must(t, post(w.url+"/api/rivers", "application/json", strings.NewReader(`{"name":"Science & code","filter":"folders=Science"}`), nil))
	w.changeDatabase(t, "update refreshes set finished_at = finished_at - 3600000", "update executions set created_at = created_at - 25000000 where state = 'succeeded'")
	names := strings.NewReplacer("STAND", w.stand.url, "BOARD", strings.TrimPrefix(board, "http://"))
	must(t, os.MkdirAll(picturesFolder, 0o755))
	b := browse(t, w.url)
	for _, p := range []struct {
		name, path string
		height     int64
	}{{"river", "/", 760}, {"sources", "/sources", 760}, {"workflow", "/workflows/" + flow, 620}} {
		for _, scheme := range []string{"light", "dark"} {
			b.do(chromedp.EmulateViewport(1000, p.height, chromedp.EmulateScale(1.2)), media("prefers-color-scheme", scheme))
			b.open(p.path)
			b.wait("the page", `document.readyState === "complete" && document.fonts.status === "loaded"`)
			eval[bool](b, names.Replace(otherNames))
			shot, err := chromedp.Run(b.ctx, chromedp.CaptureScreenshot())
			must(t, err)
			must(t, os.WriteFile(filepath.Join(picturesFolder, p.name+"-"+scheme+".png"), fewColours(t, shot), 0o644))
		}
	}
}

// otherNames shows names in place of the addresses of a test's own hosts, which have no names and no certificates.
const otherNames = `(() => {
	document.querySelector(".message.warn")?.remove();
	const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
	while (texts.nextNode()) texts.currentNode.data = texts.currentNode.data.replaceAll("STAND", "https://papers.example").replaceAll("BOARD", "board.example")
		.replaceAll("127.0.0.2", "papers.example").replaceAll("127.0.0.1", "board.example");
	return true;
})()`

// ferries adds a workflow whose receiver took two entries this morning and is busy now.
func (w town) ferries(t *testing.T) (flow, address string) {
	t.Helper()
	var busy atomic.Bool
	board := httptest.NewServer(http.HandlerFunc(func(a http.ResponseWriter, _ *http.Request) {
		if busy.Load() {
			a.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	t.Cleanup(board.Close)
	flow = w.addFlow(t, "Late ferries to the notice board", "/ferries", `not (title contains "on time")`, true, board.URL)
	await(t, "both to be delivered", func() (bool, error) {
		w.run(t, flow, "succeeded")
		return w.waiting(t) == 0, nil
	})
	busy.Store(true)
	w.stand.feed("/ferries", "Ferry Times", entry{"urn:ferry:late", "Ferry ten minutes late", "https://ferries.example/late", "It waits for the train.", time.Now()})
	w.poll(t)
	w.run(t, flow, "retrying")
	return flow, board.URL
}

// changeDatabase changes what a server shows behind its back.
func (w town) changeDatabase(t *testing.T, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(w.setting("FRESHET_DATA"), "freshet.db")+"?_pragma=busy_timeout(5000)")
	must(t, err)
	defer db.Close()
	for _, statement := range statements {
		_, err := db.Exec(statement)
		must(t, err)
	}
}

// fewColours makes a picture small: its 256 most frequent colours stand for all.
func fewColours(t *testing.T, shot []byte) []byte {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(shot))
	must(t, err)
	counts := map[color.Color]int{}
	bounds := img.Bounds()
	for y := range bounds.Dy() {
		for x := range bounds.Dx() {
			counts[img.At(x, y)]++
		}
	}
	colours := make(color.Palette, 0, len(counts))
	for c := range counts {
		colours = append(colours, c)
	}
	slices.SortFunc(colours, func(a, b color.Color) int { return counts[b] - counts[a] })
	small := image.NewPaletted(bounds, colours[:min(256, len(colours))])
	draw.Draw(small, bounds, img, image.Point{}, draw.Src)
	var out bytes.Buffer
	must(t, (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&out, small))
	return out.Bytes()
}
