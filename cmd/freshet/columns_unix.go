//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// columnsOf is how wide the terminal behind f is, 0 when it is none.
func columnsOf(f *os.File) int {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0
	}
	return int(size.Col)
}
