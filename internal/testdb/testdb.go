// Package testdb gives tests a PostgreSQL of their own: an empty schema of the server that FRESHET_TEST_POSTGRES names,
// which goes when the test ends. It keeps nothing and makes no tables. SQLite needs none of this: a file in
// t.TempDir() does.
package testdb

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Postgres returns the address of an empty schema. Settings are of its sessions, as "name=value". The test is skipped
// when there is no server.
func Postgres(t testing.TB, settings ...string) (address string) {
	t.Helper()
	server := os.Getenv("FRESHET_TEST_POSTGRES")
	if server == "" {
		t.Skip("SKIPPED: FRESHET_TEST_POSTGRES names no server")
	}
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	schema := fmt.Sprintf("freshet_%d_%d", os.Getpid(), time.Now().UnixNano())
	run(t, server, "create schema "+schema)
	t.Cleanup(func() { run(t, server, "drop schema "+schema+" cascade") })
	query := u.Query()
	query.Set("search_path", schema)
	for _, s := range settings {
		name, value, _ := strings.Cut(s, "=")
		query.Set(name, value)
	}
	u.RawQuery = query.Encode()
	return u.String()
}

// run carries out a statement over a connection of its own: a bubble of fake time may not share one with the outside.
func run(t testing.TB, server, statement string) {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), server)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	if _, err := conn.Exec(context.Background(), statement); err != nil {
		t.Fatal(err)
	}
}
