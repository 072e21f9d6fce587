package store

import (
	"context"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"freshet"
	"freshet/internal/testdb"
)

// engines are the databases that a test runs on: PostgreSQL only where FRESHET_TEST_POSTGRES names a server.
func engines() []string {
	if os.Getenv("FRESHET_TEST_POSTGRES") == "" {
		return []string{"sqlite"}
	}
	return []string{"sqlite", "postgres"}
}

// onEngines runs a test on each database, empty.
func onEngines(t *testing.T, test func(t *testing.T, s *Store)) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) { test(t, openEngine(t, engine)) })
	}
	if os.Getenv("FRESHET_TEST_POSTGRES") == "" {
		t.Run("postgres", func(t *testing.T) { t.Skip("SKIPPED: FRESHET_TEST_POSTGRES names no server") })
	}
}

// openEngine opens an empty database that goes when the test ends: a file, or a schema of its own.
func openEngine(t testing.TB, engine string) *Store {
	t.Helper()
	dsn := filepath.Join(t.TempDir(), "freshet.db")
	if engine == "postgres" {
		dsn = testdb.Postgres(t)
	}
	s, err := Open(context.Background(), dsn, Options{Settings: freshet.DefaultSettings()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// processTime is the processor time that this process has taken.
func processTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
