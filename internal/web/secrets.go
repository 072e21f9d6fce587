package web

import (
	"crypto/hmac"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// secrets knows the password and the token, as hashes, and signs sessions. A session is nothing but
// its end, signed: it survives a restart, holds on every instance, and a new password ends it.
type secrets struct {
	accepted [][sha256.Size]byte // any of them opens
	key      func() []byte       // of sessions; made when the first one is seen
	secure   bool                // cookies are for https where a proxy says it is
	wrong    atomic.Int32        // wrong tries of the last second
}

const (
	sessionCookie = "freshet_session"
	sessionLength = 30 * 24 * time.Hour
	sessionRounds = 50_000 // makes guessing the password from a stolen cookie slow
	wrongPause    = time.Second
	maxWrong      = 8
)

// newSecrets returns nil when there are neither password nor token.
func newSecrets(c Config) *secrets {
	if c.Password == "" && c.Token == "" {
		return nil
	}
	x := &secrets{secure: c.BehindProxy}
	for _, secret := range []string{c.Password, c.Token} {
		if secret != "" {
			x.accepted = append(x.accepted, sha256.Sum256([]byte(secret)))
		}
	}
	x.key = sync.OnceValue(func() []byte {
		key, err := pbkdf2.Key(sha256.New, c.Password+"\x00"+c.Token, []byte("freshet session"), sessionRounds, sha256.Size)
		if err != nil {
			panic(err) // only for parameters that FIPS mode refuses, and these are constant
		}
		return key
	})
	return x
}

// check says whether a request is from somebody we know.
func (x *secrets) check(r *http.Request) error {
	if c, err := r.Cookie(sessionCookie); err == nil && x.valid(c.Value, time.Now()) {
		return nil
	}
	given, ok := secretOf(r)
	if !ok {
		return problem(unauthorized, "Log in, or send a password or a token.")
	}
	return x.try(given)
}

// secretOf finds the bearer token or the password of basic auth, whose user name may be anything.
func secretOf(r *http.Request) (string, bool) {
	if _, password, ok := r.BasicAuth(); ok {
		return password, true
	}
	kind, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return strings.TrimSpace(token), strings.EqualFold(kind, "Bearer")
}

// try compares a secret in constant time. After eight wrong ones within a second nothing is compared
// until it is over, right ones neither: eight guesses a second are all there is. Sessions go on.
func (x *secrets) try(given string) error {
	if x.wrong.Load() >= maxWrong {
		return problem(tooManyTries, "Too many wrong passwords at once. Try again in a few seconds.")
	}
	sum, right := sha256.Sum256([]byte(given)), 0
	for _, accepted := range x.accepted {
		right |= subtle.ConstantTimeCompare(sum[:], accepted[:])
	}
	if right == 1 {
		return nil
	}
	x.wrong.Add(1)
	time.AfterFunc(wrongPause, func() { x.wrong.Add(-1) })
	return problem(unauthorized, "The password or token is wrong.")
}

// sign returns a session that ends at the given time.
func (x *secrets) sign(end time.Time) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(end.Unix()))
	return base64.RawURLEncoding.EncodeToString(x.mac(b))
}

// mac appends the signature to a session.
func (x *secrets) mac(session []byte) []byte {
	m := hmac.New(sha256.New, x.key())
	m.Write(session)
	return m.Sum(session)
}

func (x *secrets) valid(cookie string, now time.Time) bool {
	b, err := base64.RawURLEncoding.DecodeString(cookie)
	if err != nil || len(b) != 8+sha256.Size {
		return false
	}
	end := time.Unix(int64(binary.BigEndian.Uint64(b[:8])), 0)
	return hmac.Equal(x.mac(b[:8:8]), b) && now.Before(end)
}

// cookie carries a session; without one it ends it.
func (x *secrets) cookie(r *http.Request, session string, age time.Duration) *http.Cookie {
	https := r.TLS != nil || x.secure && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
	return &http.Cookie{Name: sessionCookie, Value: session, Path: "/", MaxAge: int(age.Seconds()),
		HttpOnly: true, Secure: https, SameSite: http.SameSiteLaxMode}
}
