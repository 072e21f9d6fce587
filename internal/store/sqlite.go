package store

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// memory is the name of a database that lives in one connection, for tests.
const memory = ":memory:"

// What each connection sets. Commits are durable (synchronous=FULL) because polls share them; caches are
// small because the program's memory is, and a cached page takes twice its size of it; vacuum in steps is for retention and cannot be set later.
var (
	always  = []string{"busy_timeout(10000)", "foreign_keys(1)", "temp_store(2)", "mmap_size(0)"}
	writing = []string{"auto_vacuum(2)", "journal_mode(wal)", "synchronous(2)", "cache_size(-2048)", "wal_autocheckpoint(4000)", "journal_size_limit(33554432)"}
	reading = []string{"query_only(1)", "cache_size(-512)"}
)

// readers is how many reads of SQLite run side by side.
const readers = 4

func (s *Store) openSQLite(path string) (err error) {
	s.dialect = &dialect{goose: "sqlite", translate: toSQLite, list: listSQLite, due: dueSQLite, again: sqliteAgain}
	if path != memory {
		if s.lock, s.alone, err = lockFile(path); err != nil {
			return err
		}
		if err = makePrivate(path); err != nil {
			return err
		}
	}
	if s.writer, err = sqliteDB(path, writing, 1); err != nil {
		return err
	}
	if path == memory {
		s.reader = s.writer
		return nil
	}
	s.reader, err = sqliteDB(path, reading, readers)
	return err
}

// makePrivate makes a file that only its owner reads where there is none. SQLite gives what it makes beside it the
// same mode.
func makePrivate(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func sqliteDB(path string, pragmas []string, connections int) (*sql.DB, error) {
	query := url.Values{"_txlock": {"immediate"}}
	for _, p := range append(append([]string{}, always...), pragmas...) {
		query.Add("_pragma", p)
	}
	dsn := memory + "?" + query.Encode()
	if path != memory {
		abs, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("find %s: %w", path, err)
		}
		dsn = (&url.URL{Scheme: "file", OmitHost: true, Path: filepath.ToSlash(abs), RawQuery: query.Encode()}).String()
	}
	connector, err := sqlite.NewConnector(dsn)
	if err != nil {
		return nil, err
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	return db, nil
}

// sqliteAgain tells ids that clash with those that another process made; new ones are made then.
func sqliteAgain(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code() {
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_ROWID, sqlite3.SQLITE_CONSTRAINT_UNIQUE:
		return true
	}
	return false
}
