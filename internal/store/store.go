package store

import (
	"context"
	"database/sql"
	"fmt"
	"hash/fnv"
	"log/slog"
	"math/rand/v2"
	"os"
	"strings"
	"time"

	"freshet"
)

// Shards is how many parts the hosts are divided into; an instance holds leases on parts (S6).
const Shards = 256

// Shard is the part that a host belongs to. All sources of a host lie in one part.
func Shard(host string) int {
	h := fnv.New32a()
	h.Write([]byte(host))
	return int(h.Sum32() % Shards)
}

// Options are what a Store is opened with.
type Options struct {
	Settings freshet.Settings
	Logger   *slog.Logger   // nil for none
	Random   func() float64 // [0, 1), for S4; nil for math/rand/v2
	Seals    Seals          // of what workflows send with; nil to keep it as it is
}

// Store is the database. It is safe for concurrent use.
type Store struct {
	settings freshet.Settings
	log      *slog.Logger
	random   func() float64
	seals    Seals
	ids      *freshet.IDs

	dialect *dialect
	writer  *sql.DB  // one connection on SQLite
	reader  *sql.DB  // cannot write on SQLite; the same pool as writer on PostgreSQL
	lock    *os.File // held while a SQLite file is open; nil otherwise
	alone   bool     // nobody else has the SQLite file open, until Open returns
	name    string   // tells our own commits from those of other processes in Watch
	schema  int64    // the newest migration

	writes, reads *statements

	census census
	days   calendar
}

// Open opens the database and brings its schema up to date: "postgres://..." or the path of a SQLite
// file, which is created when it is missing. ":memory:" is a database of its own for tests.
func Open(ctx context.Context, dsn string, o Options) (*Store, error) {
	s := &Store{settings: o.Settings, log: o.Logger, random: o.Random, seals: o.Seals, ids: freshet.NewIDs()}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.random == nil {
		s.random = rand.Float64
	}
	s.name = fmt.Sprintf("%016x", rand.Uint64())
	var err error
	if strings.HasPrefix(dsn, "postgres://") || strings.HasPrefix(dsn, "postgresql://") {
		err = s.openPostgres(dsn)
	} else {
		err = s.openSQLite(dsn)
	}
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	s.writes = newStatements(s.writer, s.dialect)
	s.reads = newStatements(s.reader, s.dialect)
	if err := s.migrate(ctx); err != nil {
		s.Close()
		return nil, fmt.Errorf("bring the database's schema up to date: %w", err)
	}
	if err := s.settleLeases(ctx); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}

// settleLeases drops what a killed process left when nobody else can hold a lease, so that a restart does
// not wait for leases to run out.
func (s *Store) settleLeases(ctx context.Context) error {
	if !s.alone {
		return nil
	}
	s.alone = false
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		if _, err := t.exec(ctx, "delete from leases"); err != nil {
			return err
		}
		// Attempts that ran belong to nobody now. Those of workers go on.
		_, err := t.exec(ctx, "update executions set due_at = 0 where state = 'running' and due_at is not null and action <> ''")
		return err
	})
	if err != nil {
		return fmt.Errorf("drop the leases of a process that ended: %w", err)
	}
	if err := shareLock(s.lock); err != nil {
		return fmt.Errorf("share the database: %w", err)
	}
	return nil
}

// Close waits for what is under way and closes the database.
func (s *Store) Close() error {
	s.reads.close()
	s.writes.close()
	err := s.writer.Close()
	if s.lock != nil {
		defer s.lock.Close()
	}
	if s.reader != s.writer {
		if e := s.reader.Close(); err == nil {
			err = e
		}
	}
	return err
}

// Settings returns the instance's defaults.
func (s *Store) Settings() freshet.Settings { return s.settings }

// Ping says whether the database answers and its schema is the one that this program knows.
func (s *Store) Ping(ctx context.Context) error {
	for _, db := range []*sql.DB{s.reader, s.writer} {
		var version int64
		if err := db.QueryRowContext(ctx, "select max(version_id) from goose_db_version").Scan(&version); err != nil {
			return fmt.Errorf("ask the database: %w", err)
		}
		if version != s.schema {
			return fmt.Errorf("the database's schema is %d, this program knows %d", version, s.schema)
		}
	}
	return nil
}

// patience is how long a write may take on a server, whoever asked for it and has gone.
const patience = time.Minute
