package poll

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// onDatabases runs a test on an empty database of each kind, of PostgreSQL when FRESHET_TEST_POSTGRES names a
// server.
func onDatabases(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, ":memory:") })
	t.Run("postgres", func(t *testing.T) {
		server := os.Getenv("FRESHET_TEST_POSTGRES")
		if server == "" {
			t.Skip("SKIPPED: FRESHET_TEST_POSTGRES names no server")
		}
		test(t, emptySchema(t, server))
	})
}

// emptySchema makes a schema that goes when the test ends.
func emptySchema(t *testing.T, server string) (dsn string) {
	t.Helper()
	u, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	schema := fmt.Sprintf("freshet_poll_%d_%d", os.Getpid(), time.Now().UnixNano())
	run := func(statement string) {
		conn, err := pgx.Connect(context.Background(), server)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close(context.Background())
		if _, err := conn.Exec(context.Background(), statement); err != nil {
			t.Fatal(err)
		}
	}
	run("create schema " + schema)
	t.Cleanup(func() { run("drop schema " + schema + " cascade") })
	query := u.Query()
	query.Set("search_path", schema)
	query.Set("synchronous_commit", "off")
	u.RawQuery = query.Encode()
	return u.String()
}
