//go:build !race

package fetch

const racing = false
