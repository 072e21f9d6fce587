package vault

import (
	"fmt"
	"sync"

	"freshet"
)

// Seals seals what others keep that is secret, such as what workflows send with, under the key of the vault. It may be
// used from many goroutines.
type Seals struct {
	ring func() (*keyring, error)
}

// NewSeals takes the key as Open does, and looks for it when it is first needed.
func NewSeals(master, file string) *Seals {
	return &Seals{sync.OnceValues(func() (*keyring, error) { return newKeyring(master, file) })}
}

// Seal returns a text sealed, bound to its place. Where there is no key yet one is made.
func (s *Seals) Seal(place string, text []byte) ([]byte, error) {
	ring, err := s.ring()
	if err != nil {
		return nil, err
	}
	k, err := ring.make()
	if err != nil {
		return nil, err
	}
	return k.seal.Seal([]byte(k.id), nil, text, bound(place)), nil
}

// Open returns the text that was sealed for a place. It is freshet.ErrKey when another key did that.
func (s *Seals) Open(place string, sealed []byte) ([]byte, error) {
	ring, err := s.ring()
	if err != nil {
		return nil, err
	}
	k, err := ring.current()
	if err != nil {
		return nil, err
	}
	if k == nil || len(sealed) < len(k.id) || string(sealed[:len(k.id)]) != k.id {
		return nil, fmt.Errorf("%w: give the right one (%s)", freshet.ErrKey, ring.from())
	}
	text, err := k.seal.Open(nil, nil, sealed[len(k.id):], bound(place))
	if err != nil {
		return nil, fmt.Errorf("open what is sealed for %s: it is damaged", place)
	}
	return text, nil
}

// bound is what a sealed text is bound to; no token is bound to the same.
func bound(place string) []byte { return []byte("freshet sealed\x00" + place) }
