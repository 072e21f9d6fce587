package store

import (
	"context"
	"os"
	"testing"

	"freshet"
)

func TestOpenAndPing(t *testing.T) {
	dsns := []string{":memory:", t.TempDir() + "/a b?.db"}
	if u := os.Getenv("FRESHET_TEST_POSTGRES"); u != "" {
		dsns = append(dsns, u+"?search_path=x1")
	}
	for _, dsn := range dsns {
		s, err := Open(context.Background(), dsn, Options{Settings: freshet.DefaultSettings()})
		if err != nil {
			t.Fatal(dsn, err)
		}
		if err := s.Ping(context.Background()); err != nil {
			t.Error(err)
		}
		s.Close()
	}
}
