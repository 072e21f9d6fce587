//go:build unix

package fetch

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"syscall"
	"testing"
	"time"
)

// benchSite is where these benchmarks fetch from. Half of the figures would be the server's if it ran
// in the same process, so it can run in another:
//
//	go test -c -o fetch.test ./internal/fetch
//	sleep 60 | FETCH_SERVE=1 ./fetch.test -test.run TestServeBench    (prints its address)
//	FETCH_BENCH=http://127.0.0.1:PORT ./fetch.test -test.run xxx -test.bench Get -test.cpu 1
//
// cpu-us/fetch is processor time, the kernel's included.
func benchSite(b *testing.B) string {
	if at := os.Getenv("FETCH_BENCH"); at != "" {
		return at
	}
	server := httptest.NewServer(benchHandler(b))
	b.Cleanup(server.Close)
	return server.URL
}

func benchHandler(t testing.TB) http.Handler {
	plain := text(67_000)
	packed := map[string][]byte{}
	for _, coding := range []string{"gzip", "br", "zstd"} {
		packed[coding] = pack(t, coding, plain)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		w.Header().Set("Content-Type", "application/rss+xml")
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		body := plain
		if coding := r.URL.Query().Get("coding"); coding != "" {
			w.Header().Set("Content-Encoding", coding)
			body = packed[coding]
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(body)))
		w.Write(body)
	})
}

// TestServeBench is the server for benchmarks in another process; it ends when its input does.
func TestServeBench(t *testing.T) {
	if os.Getenv("FETCH_SERVE") == "" {
		t.Skip("FETCH_SERVE is not set")
	}
	server := httptest.NewServer(benchHandler(t))
	fmt.Println(server.URL)
	io.Copy(io.Discard, os.Stdin)
	server.Close()
}

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func measure(b *testing.B, perTurn int, r Request) {
	r.URL = benchSite(b) + r.URL
	client := New(Settings{Allow: loopback})
	b.ReportAllocs()
	began := cpu()
	for b.Loop() {
		turn := client.Turn()
		for range perTurn {
			resp, err := turn.Get(b.Context(), r)
			if err != nil {
				b.Fatal(err)
			}
			resp.Release()
		}
		turn.Close()
	}
	b.ReportMetric(float64((cpu()-began).Microseconds())/float64(b.N*perTurn), "cpu-us/fetch")
}

func BenchmarkGet304(b *testing.B)    { measure(b, 1, Request{URL: "/", ETag: `"1"`}) }
func BenchmarkGet304x4(b *testing.B)  { measure(b, 4, Request{URL: "/", ETag: `"1"`}) }
func BenchmarkGet200x4(b *testing.B)  { measure(b, 4, Request{URL: "/"}) }
func BenchmarkGetGzip(b *testing.B)   { measure(b, 4, Request{URL: "/?coding=gzip"}) }
func BenchmarkGetBrotli(b *testing.B) { measure(b, 4, Request{URL: "/?coding=br"}) }
func BenchmarkGetZstd(b *testing.B)   { measure(b, 4, Request{URL: "/?coding=zstd"}) }
