package vault

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// keyLength is that of AES-256.
const keyLength = 32

// key is a master key.
type key struct {
	id   string // tells it from others and nothing about it
	seal cipher.AEAD
}

func newKey(b []byte) (*key, error) {
	seal, err := newSeal(b)
	if err != nil {
		return nil, fmt.Errorf("use the master key: %w", err)
	}
	mac := hmac.New(sha256.New, b)
	mac.Write([]byte("freshet key id"))
	return &key{id: hex.EncodeToString(mac.Sum(nil)[:8]), seal: seal}, nil
}

// newSeal returns AES-256-GCM that puts a random nonce before each text.
func newSeal(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

// keyring finds the master key: given, in its file, or not made yet.
type keyring struct {
	file string

	mu    sync.Mutex // guards found
	found *key
}

func newKeyring(master, file string) (*keyring, error) {
	r := &keyring{file: file}
	if master != "" {
		b, err := parseKey(master)
		if err != nil {
			return nil, fmt.Errorf("master key: %w", err)
		}
		r.file = ""
		r.found, err = newKey(b)
		return r, err
	}
	_, err := r.current()
	return r, err
}

// from says where the key is looked for.
func (r *keyring) from() string {
	if r.file == "" {
		return "FRESHET_MASTER_KEY"
	}
	return "FRESHET_MASTER_KEY, or the file " + r.file
}

// current returns the key, nil when there is none yet.
func (r *keyring) current() (*key, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.found != nil {
		return r.found, nil
	}
	text, err := os.ReadFile(r.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the master key: %w", err)
	}
	b, err := parseKey(string(text))
	if err != nil {
		return nil, fmt.Errorf("master key in %s: %w", r.file, err)
	}
	r.found, err = newKey(b)
	return r.found, err
}

// make returns the key; when there is none it makes one and its file, whole or not at all. Of two
// processes that do so at once one makes it and both use it.
func (r *keyring) make() (*key, error) {
	if k, err := r.current(); k != nil || err != nil {
		return k, err
	}
	b := make([]byte, keyLength)
	rand.Read(b) // never fails
	if err := writeNew(r.file, base64.StdEncoding.EncodeToString(b)+"\n"); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("make the master key: %w", err)
	}
	k, err := r.current()
	if err == nil && k == nil {
		err = fmt.Errorf("make the master key: %s is gone again", r.file)
	}
	return k, err
}

// writeNew writes a file that only its owner can read, on disk when it returns, and never in place of another.
func writeNew(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".freshet-key-*") // mode 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		return err
	}
	return os.Link(f.Name(), path)
}

// parseKey reads a key of 32 bytes in base64 or hexadecimal.
func parseKey(text string) ([]byte, error) {
	text = strings.TrimSpace(text)
	if b, err := hex.DecodeString(text); err == nil && len(b) == keyLength {
		return b, nil
	}
	plain := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(text), "=")
	if b, err := base64.RawStdEncoding.DecodeString(plain); err == nil && len(b) == keyLength {
		return b, nil
	}
	return nil, errors.New("it takes 32 bytes in base64 or hexadecimal, such as openssl rand -base64 32 makes")
}
