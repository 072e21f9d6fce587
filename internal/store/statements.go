package store

import (
	"context"
	"database/sql"
	"fmt"
	"sync"
)

// statements keeps the texts of statements in the words of the database and, for SQLite, prepared.
type statements struct {
	db      *sql.DB
	dialect *dialect

	mu       sync.Mutex // guards prepared and texts
	prepared map[string]*sql.Stmt
	texts    map[string]string
}

func newStatements(db *sql.DB, d *dialect) *statements {
	return &statements{db: db, dialect: d, prepared: map[string]*sql.Stmt{}, texts: map[string]string{}}
}

// text returns a statement in the words of the database.
func (c *statements) text(text string) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	said, ok := c.texts[text]
	if !ok {
		said = c.dialect.translate(text)
		c.texts[text] = said
	}
	return said
}

// kept returns the prepared statement of a text, nil when there is none yet.
func (c *statements) kept(text string) *sql.Stmt {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.prepared[text]
}

// prepare returns the prepared statement of a text and keeps it. On SQLite a transaction has the only
// connection that writes, so it is no place to call this from.
func (c *statements) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if stmt := c.kept(text); stmt != nil {
		return stmt, nil
	}
	stmt, err := c.db.PrepareContext(ctx, c.text(text))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", text, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if other := c.prepared[text]; other != nil {
		stmt.Close()
		return other, nil
	}
	c.prepared[text] = stmt
	return stmt, nil
}

func (c *statements) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, stmt := range c.prepared {
		stmt.Close()
	}
	clear(c.prepared)
}
