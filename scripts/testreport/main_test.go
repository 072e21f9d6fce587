package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	for name, tc := range map[string]struct {
		events string
		good   bool
		want   []string
		not    string
	}{
		"skips are told with their reason": {
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"p","Test":"TestA","Output":"    a_test.go:7: needs a database\n"}
{"Action":"skip","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Elapsed":0.5}`,
			good: true,
			want: []string{"ok   p 0.5s", "0 passed, 0 failed, 1 skipped", "SKIPPED p TestA: needs a database"},
		},
		"what passes says nothing, what fails all": {
			events: `{"Action":"output","Package":"p","Test":"TestA","Output":"chatter\n"}
{"Action":"pass","Package":"p","Test":"TestA"}
{"Action":"output","Package":"p","Test":"TestB","Output":"    b_test.go:1: got 1, want 2\n"}
{"Action":"fail","Package":"p","Test":"TestB"}
{"Action":"fail","Package":"p"}`,
			want: []string{"FAIL p TestB\n    b_test.go:1: got 1, want 2", "1 passed"},
			not:  "chatter",
		},
		"a package that does not build fails": {
			events: `{"Action":"build-output","ImportPath":"p","Output":"p/a.go:1: undefined: x\n"}
{"Action":"build-fail","ImportPath":"p"}
{"Action":"output","Package":"p","Output":"FAIL\tp [build failed]\n"}
{"Action":"fail","Package":"p"}`,
			want: []string{"undefined: x", "[build failed]", "1 failed"},
		},
		"what is no event is passed on": {events: "go: no modules", good: true, want: []string{"go: no modules"}},
	} {
		t.Run(name, func(t *testing.T) {
			var out strings.Builder
			if good := report(strings.NewReader(tc.events), &out); good != tc.good {
				t.Errorf("good is %v, want %v", good, tc.good)
			}
			for _, want := range tc.want {
				if !strings.Contains(out.String(), want) {
					t.Errorf("%q is not in:\n%s", want, out.String())
				}
			}
			if tc.not != "" && strings.Contains(out.String(), tc.not) {
				t.Errorf("%q is in:\n%s", tc.not, out.String())
			}
		})
	}
}
