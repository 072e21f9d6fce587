package store

import (
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// connections is how many connections one instance takes of a PostgreSQL server.
const connections = 10

func (s *Store) openPostgres(dsn string) error {
	s.dialect = &dialect{
		goose: "postgres", translate: toPostgres, list: func(arg any) any { return arg },
		arrays: true, prepares: true, due: duePostgres, again: postgresAgain,
	}
	config, err := pgx.ParseConfig(dsn)
	if err != nil {
		return err
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "freshet"
	}
	db := stdlib.OpenDB(*config)
	db.SetMaxOpenConns(connections)
	db.SetMaxIdleConns(connections)
	s.writer, s.reader = db, db
	return nil
}

// postgresAgain tells failures that a second try may not meet: serialization failures, deadlocks and
// unique keys that another transaction wrote first.
func postgresAgain(err error) bool {
	var e *pgconn.PgError
	if !errors.As(err, &e) {
		return false
	}
	switch e.Code {
	case "40001", "40P01", "23505":
		return true
	}
	return false
}
