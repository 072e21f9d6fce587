package web

import (
	"context"
	"errors"
	"time"

	"freshet"
	"freshet/internal/fetch"
)

// Credential is a token as the API shows it: everything but the token (S7).
type Credential struct {
	Provider       freshet.Provider `json:"provider" enum:"x"`
	Owner          *string          `json:"owner" doc:"Whose it is, as briefings name their owner; null for the instance."`
	UpdatedAt      time.Time        `json:"updated_at"`
	ReadsThisMonth int              `json:"reads_this_month" doc:"What was read with the owner's tokens since the month began (UTC) and is paid for."`
}

type credentialInput struct {
	Provider string `path:"provider" doc:"x, or twitter, which is the same."`
	Owner    string `query:"owner" maxLength:"100" doc:"Whose it is; without it the instance's."`
}

// providerOf reads the path.
func providerOf(name string) (freshet.Provider, error) {
	p, err := freshet.ParseProvider(name)
	var field *freshet.FieldError
	if errors.As(err, &field) {
		return "", invalidField("path.provider", field.Reason, name)
	}
	return p, err
}

type credentialSetInput struct {
	Provider string `path:"provider" doc:"x, or twitter, which is the same."`
	Owner    string `query:"owner" maxLength:"100" doc:"Whose it is; without it the instance's."`
	Body     struct {
		Token string `json:"token" doc:"It is sealed and never shown again."`
	}
}

type credentialOutput struct{ Body Credential }

func (s *Server) setCredential(ctx context.Context, in *credentialSetInput) (*credentialOutput, error) {
	p, err := providerOf(in.Provider)
	if err != nil {
		return nil, err
	}
	if s.Vault == nil {
		return nil, problem(unavailable, "This server keeps no tokens.")
	}
	c, err := s.Vault.Set(ctx, in.Owner, p, in.Body.Token, time.Now())
	if err != nil {
		return nil, err
	}
	s.Kick() // accounts that waited for it are due
	return s.showCredential(ctx, c)
}

func (s *Server) getCredential(ctx context.Context, in *credentialInput) (*credentialOutput, error) {
	p, err := providerOf(in.Provider)
	if err != nil {
		return nil, err
	}
	c, err := s.Store.Credential(ctx, in.Owner, p)
	if errors.Is(err, freshet.ErrNotFound) {
		err = noCredential(p)
	}
	if err != nil {
		return nil, err
	}
	return s.showCredential(ctx, c)
}

func (s *Server) removeCredential(ctx context.Context, in *credentialInput) (*struct{}, error) {
	p, err := providerOf(in.Provider)
	if err != nil {
		return nil, err
	}
	err = s.Store.RemoveCredential(ctx, in.Owner, p)
	if errors.Is(err, freshet.ErrNotFound) {
		err = noCredential(p)
	}
	return nil, err
}

func noCredential(p freshet.Provider) error {
	return problem(notFound, "No token for "+string(p)+" is kept for this owner.")
}

func (s *Server) showCredential(ctx context.Context, c freshet.Credential) (*credentialOutput, error) {
	reads, err := s.Store.Reads(ctx, c.Owner, c.Provider, freshet.Month(time.Now()))
	if err != nil {
		return nil, err
	}
	return &credentialOutput{Credential{c.Provider, given(c.Owner), utc(c.UpdatedAt), reads}}, nil
}

// sourceAddress reads the address of a new source. That of an X account may be its handle (E4).
func sourceAddress(kind freshet.Type, raw string) (address, warning string, err error) {
	if kind == freshet.Twitter || kind == freshet.RSS && freshet.NamesAccount(raw) {
		if address = freshet.AccountURL(raw); address == "" {
			return "", "", invalidField("body.url", "must be an X account, such as @name or https://x.com/name", fetch.Redact(raw))
		}
		return address, "", nil
	}
	u, warning, err := fetch.CheckURL(raw)
	if err != nil {
		return "", "", badAddress(raw, err)
	}
	return u.String(), warning, nil
}
