//go:build !unix

package store

import "os"

// lockFile cannot tell whether others have the database open: leases of a process that died run out.
func lockFile(string) (lock *os.File, alone bool, err error) { return nil, false, nil }

func shareLock(*os.File) error { return nil }
