package vault

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"freshet"
)

// table is a database with one table.
type table struct {
	mu   sync.Mutex
	rows map[string]freshet.Credential
}

func (m *table) SetCredential(_ context.Context, c freshet.Credential) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, other := range m.rows {
		if other.KeyID != c.KeyID {
			return freshet.ErrKey
		}
	}
	if m.rows == nil {
		m.rows = map[string]freshet.Credential{}
	}
	m.rows[c.Owner+"/"+string(c.Provider)] = c
	return nil
}

func (m *table) Credential(_ context.Context, owner string, p freshet.Provider) (freshet.Credential, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	c, ok := m.rows[owner+"/"+string(p)]
	if !ok {
		return c, freshet.ErrNotFound
	}
	return c, nil
}

func (m *table) Credentials(context.Context) (list []freshet.Credential, err error) {
	for _, c := range m.rows {
		list = append(list, c)
	}
	return list, nil
}

var (
	bg    = context.Background()
	now   = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	keyA  = base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("A"), 32))
	keyB  = base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("B"), 32))
	token = "the-secret-token"
)

func mustOpen(t *testing.T, rows Rows, master, file string) *Vault {
	t.Helper()
	v, err := Open(bg, rows, master, file)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func mustSet(t *testing.T, v *Vault, owner, token string) freshet.Credential {
	t.Helper()
	c, err := v.Set(bg, owner, freshet.X, token, now)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestSealAndOpen(t *testing.T) {
	rows := &table{}
	v := mustOpen(t, rows, keyA, "")
	if _, err := v.Token(bg, "", freshet.X); !errors.Is(err, freshet.ErrNotFound) {
		t.Errorf("a token that was not set gives %v", err)
	}
	first := mustSet(t, v, "", token)
	if bytes.Contains(first.Sealed, []byte(token)) || bytes.Contains(first.Sealed, []byte("secret")) {
		t.Error("the token lies open")
	}
	again := mustSet(t, v, "", token)
	if bytes.Equal(first.Sealed, again.Sealed) || bytes.Equal(first.Sealed[:12], again.Sealed[:12]) {
		t.Error("the same token is sealed the same way twice: the nonce is not random")
	}
	mustSet(t, v, "alice", "another")
	for owner, want := range map[string]string{"": token, "alice": "another"} {
		if got, err := mustOpen(t, rows, keyA, "").Token(bg, owner, freshet.X); got != want || err != nil {
			t.Errorf("after a restart the token of %q is %q, %v", owner, got, err)
		}
	}
}

// A row that was changed, or put in another's place, does not open.
func TestTamperedRows(t *testing.T) {
	rows := &table{}
	v := mustOpen(t, rows, keyA, "")
	mustSet(t, v, "", token)
	mustSet(t, v, "alice", "another")
	good := rows.rows["/x"]
	for name, change := range map[string]func(*freshet.Credential){
		"another owner's": func(c *freshet.Credential) { c.Sealed = rows.rows["alice/x"].Sealed },
		"one bit":         func(c *freshet.Credential) { c.Sealed = append([]byte{}, c.Sealed...); c.Sealed[20] ^= 1 },
		"cut":             func(c *freshet.Credential) { c.Sealed = c.Sealed[:10] },
		"empty":           func(c *freshet.Credential) { c.Sealed = nil },
	} {
		c := good
		change(&c)
		rows.rows["/x"] = c
		if got, err := v.Token(bg, "", freshet.X); err == nil || got != "" {
			t.Errorf("%s: opens as %q", name, got)
		} else if strings.Contains(err.Error(), token) {
			t.Errorf("%s: the error tells the token", name)
		}
		if _, err := Open(bg, rows, keyA, ""); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%s: the vault opens with %v", name, err)
		}
	}
}

// A wrong key, or none, is a clear error at start, and nothing is overwritten.
func TestWrongKey(t *testing.T) {
	rows := &table{}
	sealed := mustSet(t, mustOpen(t, rows, keyA, ""), "", token)
	file := filepath.Join(t.TempDir(), "freshet.key")
	for name, open := range map[string]func() (*Vault, error){
		"another key":      func() (*Vault, error) { return Open(bg, rows, keyB, file) },
		"no key":           func() (*Vault, error) { return Open(bg, rows, "", file) },
		"another key file": func() (*Vault, error) { return Open(bg, rows, "", keyFile(t, keyB)) },
	} {
		_, err := open()
		if !errors.Is(err, freshet.ErrKey) || !strings.Contains(err.Error(), "FRESHET_MASTER_KEY") || strings.Contains(err.Error(), keyB) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A vault that was opened while there was nothing to open.
	late := &Vault{rows: rows, keys: mustOpen(t, &table{}, keyB, "").keys}
	if _, err := late.Set(bg, "alice", freshet.X, "other", now); !errors.Is(err, freshet.ErrKey) {
		t.Errorf("a second key seals: %v", err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("a key file was made beside credentials of another key")
	}
	if got := rows.rows["/x"]; len(rows.rows) != 1 || !bytes.Equal(got.Sealed, sealed.Sealed) {
		t.Error("something was overwritten")
	}
}

func keyFile(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "freshet.key")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestKeyFile(t *testing.T) {
	rows, path := &table{}, filepath.Join(t.TempDir(), "data", "freshet.key")
	v := mustOpen(t, rows, "", path)
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Error("a key file is made before there is anything to seal")
	}
	mustSet(t, v, "", token)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the key file is %v, %v, want mode 0600", info, err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".freshet-key-*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
	before, _ := os.ReadFile(path)
	mustSet(t, mustOpen(t, rows, "", path), "alice", "another")
	if after, _ := os.ReadFile(path); !bytes.Equal(before, after) {
		t.Error("the key file was written again")
	}
	if got, err := v.Token(bg, "alice", freshet.X); got != "another" || err != nil {
		t.Errorf("what another process sealed opens as %q, %v", got, err)
	}
	// The file's text serves as the setting, too.
	if got, err := mustOpen(t, rows, string(before), "").Token(bg, "", freshet.X); got != token || err != nil {
		t.Errorf("with the file's text as the setting: %q, %v", got, err)
	}
}

// Of processes that make the key at once one does, and all use it.
func TestKeyFileRivals(t *testing.T) {
	rows, path := &table{}, filepath.Join(t.TempDir(), "freshet.key")
	var wg sync.WaitGroup
	for _, owner := range []string{"a", "b", "c", "d", "e", "f"} {
		v := mustOpen(t, &table{}, "", path)
		v.rows = rows
		wg.Go(func() {
			if _, err := v.Set(bg, owner, freshet.X, token, now); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if _, err := Open(bg, rows, "", path); err != nil || len(rows.rows) != 6 {
		t.Errorf("%d credentials, %v", len(rows.rows), err)
	}
}

func TestParseKey(t *testing.T) {
	raw := bytes.Repeat([]byte{0xfb, 0xef, 0xff, 0x01}, 8)
	for name, text := range map[string]string{
		"base64": base64.StdEncoding.EncodeToString(raw), "without padding": base64.RawStdEncoding.EncodeToString(raw),
		"for URLs": base64.URLEncoding.EncodeToString(raw), "hexadecimal": hex.EncodeToString(raw), "with a line end": base64.StdEncoding.EncodeToString(raw) + "\r\n",
	} {
		if got, err := parseKey(text); err != nil || !bytes.Equal(got, raw) {
			t.Errorf("%s: %x, %v", name, got, err)
		}
	}
	for name, text := range map[string]string{
		"empty": "", "a password": "correct horse battery staple", "16 bytes": base64.StdEncoding.EncodeToString(raw[:16]), "33 bytes": base64.StdEncoding.EncodeToString(append(raw, 1)), "half hex": hex.EncodeToString(raw)[:63],
	} {
		got, err := parseKey(text)
		if err == nil || got != nil {
			t.Errorf("%s is taken", name)
		} else if text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%s: the error tells it", name)
		}
		if _, err := Open(bg, &table{}, "", keyFile(t, text)); err == nil || !strings.Contains(err.Error(), "32 bytes") {
			t.Errorf("a key file with %s gives %v", name, err)
		}
	}
}
