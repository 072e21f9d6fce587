//go:build race

package fetch

// racing is true under the race detector, where sync.Pool drops at random what it is given.
const racing = true
