package fetch

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"freshet"
)

// pack returns body as a server packs it.
func pack(t testing.TB, coding string, body []byte) []byte {
	var out bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip", "x-gzip":
		w = gzip.NewWriter(&out)
	case "deflate":
		w = zlib.NewWriter(&out)
	case "raw deflate":
		w, _ = flate.NewWriter(&out, 6)
	case "br":
		w = brotli.NewWriterLevel(&out, max(1, 5-len(body)>>18)) // better is too slow for large bodies
	case "zstd":
		w, _ = zstd.NewWriter(&out)
	default:
		t.Fatalf("no coding %s", coding)
	}
	if _, err := w.Write(body); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// text is a body that packs like a feed does.
func text(n int) []byte {
	random := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("river news item title link description published guid feed source the of and to in")
	var b bytes.Buffer
	for b.Len() < n {
		fmt.Fprintf(&b, "<%s>%d</%s> ", words[random.IntN(len(words))], random.IntN(1000), words[random.IntN(len(words))])
	}
	return b.Bytes()[:n]
}

// serving answers everything with one body.
func serving(coding string, body []byte, length int64) *Client {
	return NewWith(roundTrip(func(*http.Request) (*http.Response, error) {
		h := http.Header{"Etag": {`"x"`}}
		if coding != "" {
			h.Set("Content-Encoding", coding)
		}
		return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(bytes.NewReader(body)), ContentLength: length}, nil
	}), Settings{})
}

var codings = []string{"gzip", "deflate", "raw deflate", "br", "zstd"}

// header is how a coding is announced.
func header(coding string) string { return strings.TrimPrefix(coding, "raw ") }

func TestEncodings(t *testing.T) {
	for _, coding := range codings {
		for _, n := range []int{0, 1, 100, 67_000, 1<<20 + 1} {
			body := text(n)
			packed := pack(t, coding, body)
			client := serving(header(coding), packed, int64(len(packed)))
			for range 2 { // the second time with what the first left behind
				resp, err := client.Get(t.Context(), Request{URL: "http://news.example/"})
				if err != nil || !bytes.Equal(resp.Body, body) {
					t.Fatalf("%s, %d bytes: %v", coding, n, err)
				}
				resp.Release()
			}
		}
	}
}

func TestEncodingSpellings(t *testing.T) {
	body := text(1000)
	double := pack(t, "br", pack(t, "gzip", body))
	for _, test := range []struct {
		coding string
		packed []byte
	}{
		{"", body}, {"identity", body}, {"utf-8", body}, {"none", body}, {"Identity, ", body},
		{"GZIP", pack(t, "gzip", body)}, {"x-gzip", pack(t, "gzip", body)}, {"identity, gzip", pack(t, "gzip", body)},
		{"gzip, br", double},
		{"gzip", append(pack(t, "gzip", body[:500]), pack(t, "gzip", body[500:])...)},
		{"zstd", append(pack(t, "zstd", body[:500]), pack(t, "zstd", body[500:])...)},
		{"gzip", nil}, // an empty document that is not wrapped
	} {
		want := body
		if test.packed == nil {
			want = nil
		}
		resp, err := serving(test.coding, test.packed, -1).Get(t.Context(), Request{URL: "http://news.example/"})
		if err != nil || !bytes.Equal(resp.Body, want) {
			t.Errorf("%q: %v", test.coding, err)
		}
	}
	for _, coding := range []string{"lzma", "gzip, compress", "gzip, gzip, gzip, gzip", "*"} {
		if _, f := mustFail(t, serving(coding, body, -1), Request{URL: "http://news.example/"}); f.Code != "encoding" {
			t.Errorf("%q: %+v", coding, f)
		}
	}
}

// F4: a body cut anywhere is no body, and leaves no validators.
func TestCutEncodings(t *testing.T) {
	for _, coding := range codings {
		packed := pack(t, coding, text(20_000))
		for _, n := range []int{1, 2, 5, 10, len(packed) / 2, len(packed) - 1} {
			_, f := mustFail(t, serving(header(coding), packed[:n], int64(n)), Request{URL: "http://news.example/"})
			if f.Code != "encoding" || f.Class != freshet.Transient {
				t.Errorf("%s cut to %d of %d: %+v", coding, n, len(packed), f)
			}
		}
		broken := bytes.Clone(packed)
		for i := len(broken) / 3; i < len(broken)/3+20; i++ {
			broken[i] ^= 0x55
		}
		if coding == "gzip" || coding == "zstd" || coding == "deflate" { // those with a checksum
			if _, f := mustFail(t, serving(header(coding), broken, -1), Request{URL: "http://news.example/"}); f.Code != "encoding" {
				t.Errorf("%s broken: %+v", coding, f)
			}
		}
		if _, f := mustFail(t, serving(header(coding), []byte("<rss>not packed at all</rss>"), -1), Request{URL: "http://news.example/"}); f.Code != "encoding" {
			t.Errorf("%s not packed: %+v", coding, f)
		}
	}
}

// F4: a limit that is exceeded fails the fetch; it never passes a shortened body on.
func TestLimit(t *testing.T) {
	const limit = 100_000
	for _, coding := range append(codings, "") {
		for _, n := range []int{limit, limit + 1, 20 * limit} {
			body := bytes.Repeat([]byte("x"), n)
			packed := body
			if coding != "" {
				packed = pack(t, coding, body)
			}
			for _, length := range []int64{-1, int64(len(packed))} {
				client := serving(header(coding), packed, length)
				resp, err := client.Get(t.Context(), Request{URL: "http://news.example/", MaxBytes: limit})
				if n <= limit {
					if err != nil || len(resp.Body) != n {
						t.Errorf("%q, %d bytes: %v", coding, n, err)
					}
					continue
				}
				_, f := mustFail(t, client, Request{URL: "http://news.example/", MaxBytes: limit})
				if f.Code != "too_large" || f.Sentence != "The document is larger than the limit of 100000 bytes." {
					t.Errorf("%q, %d bytes: %+v", coding, n, f)
				}
			}
		}
	}
	client := serving("", make([]byte, 10<<20+1), -1)
	if _, f := mustFail(t, client, Request{URL: "http://news.example/", MaxBytes: 1 << 40}); !strings.Contains(f.Sentence, "10 MiB") {
		t.Errorf("a request may lower the limit, not raise it: %+v", f)
	}
	if resp, err := serving("", make([]byte, 10<<20), -1).Get(t.Context(), Request{URL: "http://news.example/"}); err != nil || len(resp.Body) != 10<<20 {
		t.Errorf("exactly the limit: %v", err)
	}
}

// bomb returns n bytes of nothing, packed.
func bomb(t testing.TB, coding string, n int) []byte {
	var out bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w, _ = gzip.NewWriterLevel(&out, 9)
	case "br":
		w = brotli.NewWriterOptions(&out, brotli.WriterOptions{Quality: 1, LGWin: 24})
	case "zstd":
		w, _ = zstd.NewWriter(&out, zstd.WithWindowSize(8<<20))
	}
	zeros := make([]byte, 1<<20)
	for range n >> 20 {
		w.Write(zeros)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// P4: a bomb costs no more memory than the limit allows, whatever it would unpack to.
func TestBombs(t *testing.T) {
	for _, coding := range []string{"gzip", "br", "zstd"} {
		packed := bomb(t, coding, 32<<20)
		client := serving(coding, packed, int64(len(packed)))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, f := mustFail(t, client, Request{URL: "http://news.example/"})
		runtime.ReadMemStats(&after)
		if f.Code != "too_large" {
			t.Errorf("%s: %+v", coding, f)
		}
		if got := (after.TotalAlloc - before.TotalAlloc) >> 20; got > 64 {
			t.Errorf("%s: %d MB were allocated for a bomb of %d bytes", coding, got, len(packed))
		}
	}
}

// A zstd frame that asks for a window beyond the standard's is not read.
func TestZstdWindow(t *testing.T) {
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithWindowSize(64<<20))
	if err != nil {
		t.Fatal(err)
	}
	w.Write(text(1000))
	w.Flush()
	w.Write(text(1000))
	w.Close()
	if _, f := mustFail(t, serving("zstd", out.Bytes(), -1), Request{URL: "http://news.example/"}); f.Code != "encoding" {
		t.Errorf("%+v", f)
	}
}

// A released buffer is used again, and a body that was not released is left alone.
func TestRelease(t *testing.T) {
	first := serving("", []byte("first"), -1)
	kept, err := first.Get(t.Context(), Request{URL: "http://news.example/"})
	if err != nil {
		t.Fatal(err)
	}
	for range 100 {
		resp, err := serving("gzip", pack(t, "gzip", []byte("second")), -1).Get(t.Context(), Request{URL: "http://news.example/"})
		if err != nil || string(resp.Body) != "second" {
			t.Fatal(err)
		}
		resp.Release()
	}
	if string(kept.Body) != "first" {
		t.Errorf("a kept body became %q", kept.Body)
	}
}

// P4: few large bodies are in memory at once, however they were packed and however long their readers take;
// small ones pass by them, and a fetch that fails keeps no place.
func TestLargeBodiesAreHeldUntilRelease(t *testing.T) {
	body := text(3 << 20)
	for _, coding := range codings {
		packed := pack(t, coding, body)
		t.Run(coding, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answers := map[string][]byte{"/large": packed, "/small": pack(t, coding, body[:1000])}
				client := NewWith(roundTrip(func(r *http.Request) (*http.Response, error) {
					h := http.Header{}
					if coding != "" {
						h.Set("Content-Encoding", header(coding))
					}
					return &http.Response{StatusCode: 200, Header: h, Body: io.NopCloser(bytes.NewReader(answers[r.URL.Path])), ContentLength: -1}, nil
				}), Settings{})
				get := func(path string, most int64) (*Response, error) {
					return client.Get(t.Context(), Request{URL: "http://news.example" + path, MaxBytes: most})
				}
				var read []*Response
				for range largeBodies {
					if _, err := get("/large", 2<<20); err == nil {
						t.Fatal("a body beyond its limit was read")
					}
					resp, err := get("/large", 0)
					if err != nil {
						t.Fatal(err)
					}
					read = append(read, resp)
				}
				last := make(chan error)
				go func() {
					resp, err := get("/large", 0)
					if err == nil && !bytes.Equal(resp.Body, body) {
						err = fmt.Errorf("another body of %d bytes", len(resp.Body))
					}
					last <- err
				}()
				time.Sleep(time.Minute)
				select {
				case <-last:
					t.Fatalf("body %d was read while %d are held", largeBodies+1, largeBodies)
				default:
				}
				if resp, err := get("/small", 0); err != nil || len(resp.Body) != 1000 {
					t.Errorf("a small body: %v", err)
				}
				read[0].Release()
				read[0].Release() // gives one place back, not two
				if err := <-last; err != nil {
					t.Error(err)
				}
				if n := len(client.large); n != largeBodies {
					t.Errorf("%d places are taken by %d bodies", n, largeBodies)
				}
			})
		})
	}
}

func FuzzUnpack(f *testing.F) {
	for i, coding := range codings {
		f.Add(byte(i), pack(f, coding, text(300)))
	}
	client := newClient(Settings{MaxBytes: 1 << 20})
	f.Fuzz(func(t *testing.T, which byte, packed []byte) {
		u := <-client.unpack
		defer client.unpack.giveBack(u)
		out, err := u.unpack(packed, []string{header(codings[int(which)%len(codings)])}, nil, 1<<20)
		if err == nil && len(out) > 1<<20 {
			t.Fatalf("%d bytes came out", len(out))
		}
	})
}

// Released bodies are read into the same few buffers: a refresh of 2,000 feeds leaves little garbage.
func TestReleasedBodiesAreNotGarbage(t *testing.T) {
	if racing {
		t.Skip("sync.Pool drops buffers at random under the race detector")
	}
	const fetches, length = 2000, 67_000
	body := text(length)
	packed := pack(t, "gzip", body)
	for name, client := range map[string]*Client{
		"plain": serving("", body, length), "unknown length": serving("", body, -1), "gzip": serving("gzip", packed, int64(len(packed))),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range fetches {
			resp, err := client.Get(t.Context(), Request{URL: "http://news.example/"})
			if err != nil || len(resp.Body) != length {
				t.Fatal(err)
			}
			resp.Release()
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > fetches*length/2 {
			t.Errorf("%s: %d MB allocated for %d MB of bodies", name, got>>20, fetches*length>>20)
		} else {
			t.Logf("%s: %d MB allocated for %d MB of bodies", name, got>>20, fetches*length>>20)
		}
	}
}
