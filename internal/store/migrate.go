package store

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"time"

	"github.com/pressly/goose/v3"
)

//go:embed migrations
var migrations embed.FS

// migrate brings the schema up to date. Instances that start together meet in the database: one of
// them migrates, the others' attempts fail or wait, and find nothing to do when they look again.
func (s *Store) migrate(ctx context.Context) error {
	if err := s.writer.PingContext(ctx); err != nil {
		return err
	}
	folder, err := fs.Sub(migrations, "migrations/"+s.dialect.goose)
	if err != nil {
		return err
	}
	dialect := goose.DialectPostgres
	if s.dialect.goose == "sqlite" {
		dialect = goose.DialectSQLite3
	}
	p, err := goose.NewProvider(dialect, s.writer, folder, goose.WithLogger(goose.NopLogger()), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	sources := p.ListSources()
	s.schema = sources[len(sources)-1].Version
	for try := range attempts {
		if _, err = p.Up(ctx); err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Duration(try+1) * 50 * time.Millisecond):
		}
	}
	if err != nil {
		return err
	}
	version, err := p.GetDBVersion(ctx)
	if err == nil && version > s.schema {
		return fmt.Errorf("it was written by a newer Freshet: its schema is %d, this program knows %d", version, s.schema)
	}
	return err
}
