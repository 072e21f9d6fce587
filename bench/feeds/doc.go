// Package feeds compares Freshet's feed reader with gofeed and with the tokenizers of the standard library, in one run over the
// same documents (SPEC.md E1). It is a module of its own, so that what it compares with is no dependency of Freshet.
//
//	go test -bench . -run '^$' -cpu 1
//
// The figures that count are MB/s side by side; the machine and what else runs on it change both sides alike.
package feeds
