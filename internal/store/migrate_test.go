package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pressly/goose/v3"

	"freshet"
	"freshet/internal/testdb"
)

// Instances that start together on an empty database all find it ready.
func TestManyInstancesStartAtOnce(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			dsn := filepath.Join(t.TempDir(), "freshet.db")
			if engine == "postgres" {
				dsn = testdb.Postgres(t)
			}
			var wg sync.WaitGroup
			for range 6 {
				wg.Go(func() {
					s, err := Open(context.Background(), dsn, Options{Settings: freshet.DefaultSettings()})
					if err != nil {
						t.Error(err)
						return
					}
					defer s.Close()
					if err := s.Ping(context.Background()); err != nil {
						t.Error(err)
					}
				})
			}
			wg.Wait()
		})
	}
}

// A database that every migration brought up has the schema of a new one.
func TestUpgradeEqualsFreshSchema(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			fresh, stepped := newWorld(t, engine), newWorld(t, engine)
			folder, err := fs.Sub(migrations, "migrations/"+stepped.dialect.goose)
			stepped.must(err)
			dialect := goose.DialectPostgres
			if engine == "sqlite" {
				dialect = goose.DialectSQLite3
			}
			p, err := goose.NewProvider(dialect, stepped.writer, folder)
			stepped.must(err)
			_, err = p.DownTo(bg, 0)
			stepped.must(err)
			stepped.equal("tables after all the way down", stepped.count(tableCount[engine]), 0)
			for range p.ListSources() {
				_, err := p.UpByOne(bg)
				stepped.must(err)
			}
			if got, want := stepped.columns(), fresh.columns(); !slices.Equal(got, want) {
				t.Errorf("step by step:\n%s\nat once:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		})
	}
}

var tableCount = map[string]string{
	"sqlite":   "select count(*) from sqlite_schema where type = 'table' and name not like 'goose%' and name not like 'sqlite%'",
	"postgres": "select count(*) from information_schema.tables where table_schema = current_schema() and table_name not like 'goose%'",
}

// columns lists "table.column null-or-not" of every table of ours.
func (w *world) columns() []string {
	w.Helper()
	text := `select t.name || '.' || c.name || case when c."notnull" = 1 or c.pk > 0 then ' not null' else ' null' end
 from sqlite_schema t, pragma_table_info(t.name) c where t.type = 'table' and t.name not like 'goose%' and t.name not like 'search\_%' escape '\' and t.name not like 'sqlite%' or t.name = 'search_pending'`
	if w.dialect.arrays {
		text = `select table_name || '.' || column_name || case is_nullable when 'NO' then ' not null' else ' null' end
 from information_schema.columns where table_schema = current_schema() and table_name not like 'goose%'`
	}
	list, err := all(bg, w.Store, func(s *string) []any { return []any{s} }, text)
	w.must(err)
	slices.Sort(list)
	return slices.Compact(list)
}

// Both databases have the same tables and columns; only the search index differs.
func TestBothSchemasAreAlike(t *testing.T) {
	if len(engines()) == 1 {
		t.Skip("SKIPPED: FRESHET_TEST_POSTGRES names no server")
	}
	var columns [2][]string
	for i, engine := range engines() {
		for _, c := range newWorld(t, engine).columns() {
			if !strings.HasPrefix(c, "search.") {
				columns[i] = append(columns[i], c)
			}
		}
	}
	if !slices.Equal(columns[0], columns[1]) {
		t.Errorf("sqlite:\n%s\npostgres:\n%s", strings.Join(columns[0], "\n"), strings.Join(columns[1], "\n"))
	}
	if len(columns[0]) < 80 {
		t.Errorf("only %d columns were compared", len(columns[0]))
	}
}

func TestNewerSchemaIsRefused(t *testing.T) {
	for _, engine := range engines() {
		t.Run(engine, func(t *testing.T) {
			w := newWorld(t, engine)
			_, err := w.writer.Exec("insert into goose_db_version (version_id, is_applied) values (999, " + map[string]string{"sqlite": "1", "postgres": "true"}[engine] + ")")
			w.must(err)
			if s, err := Open(bg, w.dsn, Options{}); err == nil || !strings.Contains(err.Error(), "newer Freshet") {
				t.Errorf("a newer schema gives %v", err)
				s.Close()
			}
			if err := w.Ping(bg); err == nil {
				t.Error("the readiness of a program that is too old is not refused")
			}
		})
	}
}

// The settings of SQLite hold on every connection.
func TestSQLiteSettings(t *testing.T) {
	w := newWorld(t, "sqlite")
	for db, settings := range map[*sql.DB]map[string]string{
		w.writer: {"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "10000", "auto_vacuum": "2", "temp_store": "2", "query_only": "0", "wal_autocheckpoint": "4000"},
		w.reader: {"journal_mode": "wal", "foreign_keys": "1", "busy_timeout": "10000", "temp_store": "2", "query_only": "1"},
	} {
		for name, want := range settings {
			var got string
			w.must(db.QueryRow("pragma " + name).Scan(&got))
			w.equal(name, got, want)
		}
	}
	if _, err := w.reader.Exec("delete from sources"); err == nil {
		t.Error("the readers can write")
	}
}

// A path may hold what means something in an address.
func TestOddPath(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b?c#d%20.db")
	s, err := Open(bg, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if found, _ := filepath.Glob(filepath.Join(filepath.Dir(path), "*")); !slices.Contains(found, path) {
		t.Errorf("the folder holds %v, want %s", found, path)
	}
}

func TestOpenFails(t *testing.T) {
	for _, dsn := range []string{t.TempDir() + "/no/such/folder/x.db", t.TempDir(), "postgres://127.0.0.1:1/nothing?connect_timeout=1", "postgres://%zz"} {
		ctx, cancel := context.WithCancel(bg)
		s, err := Open(ctx, dsn, Options{})
		cancel()
		if err == nil {
			s.Close()
			t.Errorf("%s opened", dsn)
		}
	}
}

// The database in memory lives and dies in a bubble of fake time.
func TestMemoryInABubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{T: t, dsn: memory, settings: freshet.DefaultSettings()}
		w.Store = w.open()
		defer w.Close()
		w.now = time.Now()
		src := w.add("https://a.example/feed")
		w.read(src.ID, article("one", w.now))
		w.equal("items", len(w.river()), 1)
		w.equal("health", fmt.Sprint(w.source(src.ID).Health()), "healthy")
	})
}

func testAgain(t *testing.T, w *world) {
	tries := 0
	w.must(w.write(bg, func(ctx context.Context, tx *tx) error {
		tries++
		if _, err := tx.exec(ctx, "update counters set value = value + 1 where name = 'lease'"); err != nil {
			return err
		}
		switch tries {
		case 1:
			return errAgain
		case 2: // an id that another process made in the same millisecond
			_, err := tx.exec(ctx, "insert into counters (name, value) values ('lease', 0)")
			return err
		}
		return nil
	}))
	w.equal("tries", tries, 3)
	w.equal("what they left", w.count("select value from counters where name = 'lease'"), 1)
	err := w.write(bg, func(context.Context, *tx) error { tries++; return errAgain })
	w.is(err, errAgain)
	w.equal("tries in vain", tries, 3+attempts)
}

func testRolledBack(t *testing.T, w *world) {
	change := func(ctx context.Context, tx *tx) {
		_, err := tx.exec(ctx, "update counters set value = 7 where name = 'lease'")
		w.must(err)
	}
	refusal := errors.New("no")
	w.is(w.write(bg, func(ctx context.Context, tx *tx) error { change(ctx, tx); return refusal }), refusal)
	func() {
		defer func() { recover() }()
		w.must(w.write(bg, func(ctx context.Context, tx *tx) error { change(ctx, tx); panic("mid-way") }))
	}()
	w.equal("the counter", w.count("select value from counters where name = 'lease'"), 0)
	ended, cancel := context.WithCancel(bg)
	cancel()
	w.must(w.write(ended, func(ctx context.Context, tx *tx) error { change(ctx, tx); return nil })) // a write outlives who asked for it
	w.equal("the counter after a write whose caller is gone", w.count("select value from counters where name = 'lease'"), 7)
}
