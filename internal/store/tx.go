package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"freshet"
)

// querier is a transaction or the pool of readers.
type querier interface {
	query(ctx context.Context, text string, args ...any) (*sql.Rows, error)
}

// tx is one transaction. Its statements are in the words of dialect.
type tx struct {
	s      *Store
	tx     *sql.Tx
	stmts  map[string]*sql.Stmt
	fresh  []string // texts that were prepared for this transaction alone
	events []event
}

// errAgain asks for the whole transaction once more: another one wrote what this one relies on.
var errAgain = errors.New("another transaction came between")

// attempts is how often a transaction is tried that others keep meeting.
const attempts = 10

// write runs fn in one transaction, again when it met another one, and commits unless fn fails. It
// does not stop when ctx ends, because a half-done write helps nobody, but takes bounded time.
func (s *Store) write(ctx context.Context, fn func(ctx context.Context, t *tx) error) error {
	ctx = context.WithoutCancel(ctx)
	if s.dialect.arrays {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, patience)
		defer cancel()
	}
	var err error
	for try := range attempts {
		if err = s.attempt(ctx, fn); err == nil || !errors.Is(err, errAgain) && !s.dialect.again(err) {
			return err
		}
		s.log.Debug("transaction is tried again", "try", try+1, "err", err)
		time.Sleep(time.Duration(s.random() * float64(time.Millisecond) * float64(int(1)<<min(try, 6))))
	}
	return fmt.Errorf("%d tries: %w", attempts, err)
}

func (s *Store) attempt(ctx context.Context, fn func(ctx context.Context, t *tx) error) error {
	sqltx, err := s.writer.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("begin: %w", err)
	}
	defer sqltx.Rollback() // nothing after a commit
	t := &tx{s: s, tx: sqltx}
	if err := fn(ctx, t); err != nil {
		return err
	}
	if err := t.writeEvents(ctx); err != nil {
		return err
	}
	if err := sqltx.Commit(); err != nil {
		return fmt.Errorf("commit: %w", err)
	}
	for _, text := range t.fresh {
		if _, err := s.writes.prepare(ctx, text); err != nil {
			return err
		}
	}
	return nil
}

// stmt returns the prepared statement of a text within the transaction, nil when the driver keeps it.
func (t *tx) stmt(ctx context.Context, text string) (*sql.Stmt, error) {
	if t.s.dialect.prepares {
		return nil, nil
	}
	if stmt := t.stmts[text]; stmt != nil {
		return stmt, nil
	}
	var stmt *sql.Stmt
	if kept := t.s.writes.kept(text); kept != nil {
		stmt = t.tx.StmtContext(ctx, kept)
	} else {
		var err error
		if stmt, err = t.tx.PrepareContext(ctx, t.s.writes.text(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
		t.fresh = append(t.fresh, text)
	}
	if t.stmts == nil {
		t.stmts = map[string]*sql.Stmt{}
	}
	t.stmts[text] = stmt
	return stmt, nil
}

// exec runs a statement and returns how many rows it touched.
func (t *tx) exec(ctx context.Context, text string, args ...any) (int, error) {
	return t.run(ctx, text, t.s.dialect.args(args))
}

// run is exec with arguments that are the database's already.
func (t *tx) run(ctx context.Context, text string, args []any) (int, error) {
	stmt, err := t.stmt(ctx, text)
	if err != nil {
		return 0, err
	}
	var result sql.Result
	if stmt != nil {
		result, err = stmt.ExecContext(ctx, args...)
	} else {
		result, err = t.tx.ExecContext(ctx, t.s.writes.text(text), args...)
	}
	if err != nil {
		return 0, fmt.Errorf("%s: %w", text, err)
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// query runs a statement that returns rows, within the transaction.
func (t *tx) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	stmt, err := t.stmt(ctx, text)
	if err != nil {
		return nil, err
	}
	args = t.s.dialect.args(args)
	if stmt != nil {
		return stmt.QueryContext(ctx, args...)
	}
	return t.tx.QueryContext(ctx, t.s.writes.text(text), args...)
}

// query runs a statement that returns rows, on the readers' pool.
func (s *Store) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	args = s.dialect.args(args)
	if s.dialect.prepares {
		return s.reader.QueryContext(ctx, s.reads.text(text), args...)
	}
	stmt, err := s.reads.prepare(ctx, text)
	if err != nil {
		return nil, err
	}
	return stmt.QueryContext(ctx, args...)
}

// all reads every row of a statement; columns names where the columns of one go.
func all[T any](ctx context.Context, q querier, columns func(*T) []any, text string, args ...any) ([]T, error) {
	rows, err := q.query(ctx, text, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	defer rows.Close()
	var list []T
	for rows.Next() {
		list = append(list, *new(T))
		if err := rows.Scan(columns(&list[len(list)-1])...); err != nil {
			return nil, fmt.Errorf("%s: %w", text, err)
		}
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	return list, nil
}

// one reads the first row of a statement; found is false when there is none.
func one[T any](ctx context.Context, q querier, columns func(*T) []any, text string, args ...any) (v T, found bool, err error) {
	list, err := all(ctx, q, columns, text, args...)
	if err != nil || len(list) == 0 {
		return v, false, err
	}
	return list[0], true, nil
}

// the returns what a key has found, else ErrNotFound.
func the[T any](list []T, err error) (v T, _ error) {
	if err == nil && len(list) == 0 {
		err = freshet.ErrNotFound
	}
	if err != nil {
		return v, err
	}
	return list[0], nil
}

// number is the column of a statement that returns numbers.
func number(n *int64) []any { return []any{n} }

// instant is the column of a statement that returns times.
func instant(t *time.Time) []any { return []any{moment{t}} }

// id is the column of a statement that returns ids.
func id[N ~int64](n *N) []any { return []any{n} }
