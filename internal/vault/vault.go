// Package vault keeps tokens of other services sealed (SPEC.md S7, section 6): AES-256-GCM with a random
// nonce for each, bound to its owner and provider, so that a row that was moved or changed does not open.
//
// It keeps the master key in memory and nowhere else but in its file. It does not know where the sealed rows
// lie and who may ask for a token. No error of it holds a key or a token.
package vault

import (
	"context"
	"fmt"
	"time"

	"freshet"
)

// Rows is where the sealed credentials lie.
type Rows interface {
	// SetCredential adds or replaces one. It is freshet.ErrKey when others are sealed with another key.
	SetCredential(ctx context.Context, c freshet.Credential) error
	// Credential is freshet.ErrNotFound when the owner has none.
	Credential(ctx context.Context, owner string, p freshet.Provider) (freshet.Credential, error)
	Credentials(ctx context.Context) ([]freshet.Credential, error)
}

// Vault seals and opens. It may be used from many goroutines.
type Vault struct {
	rows Rows
	keys *keyring
}

// Open returns the vault of a database after it has opened every credential in it, so that a wrong key is
// found before anything relies on it or is overwritten. master is the text of the key; when it is "" the key
// is in file, which is made with the first credential.
func Open(ctx context.Context, rows Rows, master, file string) (*Vault, error) {
	keys, err := newKeyring(master, file)
	if err != nil {
		return nil, err
	}
	v := &Vault{rows, keys}
	list, err := rows.Credentials(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if _, err := v.open(c); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// Set seals a token and keeps it in place of the one before.
func (v *Vault) Set(ctx context.Context, owner string, p freshet.Provider, token string, now time.Time) (freshet.Credential, error) {
	token, err := freshet.CheckToken(token)
	if err != nil {
		return freshet.Credential{}, err
	}
	k, err := v.keys.make()
	if err != nil {
		return freshet.Credential{}, err
	}
	c := freshet.Credential{Owner: owner, Provider: p, KeyID: k.id, UpdatedAt: now}
	c.Sealed = k.seal.Seal(nil, nil, []byte(token), place(c))
	if err := v.rows.SetCredential(ctx, c); err != nil {
		return freshet.Credential{}, err
	}
	return c, nil
}

// Token returns an owner's token, freshet.ErrNotFound when there is none.
func (v *Vault) Token(ctx context.Context, owner string, p freshet.Provider) (string, error) {
	c, err := v.rows.Credential(ctx, owner, p)
	if err != nil {
		return "", err
	}
	return v.open(c)
}

func (v *Vault) open(c freshet.Credential) (string, error) {
	k, err := v.keys.current()
	if err != nil {
		return "", err
	}
	if k == nil || k.id != c.KeyID {
		return "", fmt.Errorf("%w: give the right one (%s), or remove them and set them again (freshet credentials rm %s)", freshet.ErrKey, v.keys.from(), c.Provider)
	}
	token, err := k.seal.Open(nil, nil, c.Sealed, place(c))
	if err != nil {
		return "", fmt.Errorf("open the credential of %s for owner %q: it is damaged; set it again after freshet credentials rm %s", c.Provider, c.Owner, c.Provider)
	}
	return string(token), nil
}

// place is what a sealed token is bound to.
func place(c freshet.Credential) []byte {
	return []byte("freshet credential\x00" + string(c.Provider) + "\x00" + c.Owner)
}
