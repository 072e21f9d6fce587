package poll

import (
	"testing"

	"freshet/internal/testdb"
)

// onDatabases runs a test on an empty database of each kind, of PostgreSQL when FRESHET_TEST_POSTGRES names a
// server.
func onDatabases(t *testing.T, test func(t *testing.T, dsn string)) {
	t.Run("sqlite", func(t *testing.T) { test(t, ":memory:") })
	t.Run("postgres", func(t *testing.T) {
		test(t, testdb.Postgres(t, "synchronous_commit=off"))
	})
}
