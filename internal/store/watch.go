package store

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
)

// lookEvery is how often Watch looks at a SQLite file, and how long it waits to listen again after a
// PostgreSQL server went away.
const lookEvery = time.Second

// Watch calls changed whenever another process committed something that those who follow want to know.
// It returns when ctx ends. It needs a session of its own: behind a pooler that lends connections for a
// transaction only, it hears nothing.
func (s *Store) Watch(ctx context.Context, changed func()) error {
	look := s.listen
	if !s.dialect.arrays {
		look = s.watchFile
	}
	for {
		if err := look(ctx, changed); err != nil && ctx.Err() == nil {
			s.log.Warn("cannot hear what other processes do", "err", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookEvery):
		}
	}
}

// watchFile asks the connection that writes whether somebody else changed the file.
func (s *Store) watchFile(ctx context.Context, changed func()) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	last := int64(-1)
	for {
		var version int64
		if err := s.writer.QueryRowContext(context.WithoutCancel(ctx), "pragma data_version").Scan(&version); err != nil {
			return fmt.Errorf("ask whether the file changed: %w", err)
		}
		if last >= 0 && version != last {
			changed()
		}
		last = version
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
	}
}

const channel = "freshet"

// announce tells other processes that something was committed, when it is. On SQLite they see it.
func (s *Store) announce(ctx context.Context, t *tx) error {
	if !s.dialect.arrays {
		return nil
	}
	_, err := t.exec(ctx, "select pg_notify('"+channel+"', $1)", s.name)
	return err
}

// listen waits for the announcements of others until ctx ends or the server goes away. What was announced
// before it began may have been missed, so it begins with a call.
func (s *Store) listen(ctx context.Context, changed func()) error {
	conn, err := s.writer.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connect to listen: %w", err)
	}
	defer conn.Close()
	return conn.Raw(func(driver any) error {
		pg := driver.(*stdlib.Conn).Conn()
		if _, err := pg.Exec(ctx, "listen "+channel); err != nil {
			return fmt.Errorf("listen: %w", err)
		}
		defer pg.Close(context.WithoutCancel(ctx)) // it must not go back to the pool listening
		for changed(); ; {
			n, err := pg.WaitForNotification(ctx)
			if err != nil {
				return fmt.Errorf("wait for announcements: %w", err)
			}
			if n.Payload != s.name {
				changed()
			}
		}
	})
}
