//go:build unix

package store

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockFile opens the lock beside a database file. While a process has the database open it shares the lock,
// and the system gives it back whatever ends the process. Alone says that nobody else shares it; the
// lock is exclusive then, until shareLock.
func lockFile(path string) (lock *os.File, alone bool, err error) {
	lock, err = os.OpenFile(path+"-lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, false, fmt.Errorf("open the lock beside the database: %w", err)
	}
	switch err = flock(lock, syscall.LOCK_EX|syscall.LOCK_NB); {
	case err == nil:
		return lock, true, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = shareLock(lock)
	}
	if err != nil {
		lock.Close()
		return nil, false, fmt.Errorf("lock the database: %w", err)
	}
	return lock, false, nil
}

// shareLock lets others open the database, too.
func shareLock(lock *os.File) error { return flock(lock, syscall.LOCK_SH) }

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
