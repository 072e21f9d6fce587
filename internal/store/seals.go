package store

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"freshet"
)

// Seals seals what is secret in what workflows send with (S7), each text bound to its place. Open is freshet.ErrKey
// when it was sealed with another key.
type Seals interface {
	Seal(place string, text []byte) ([]byte, error)
	Open(place string, sealed []byte) ([]byte, error)
}

// keptDefinition is a definition as it lies in the database. Where Sealed is set the actions are as they are shown,
// and what they lack is in it.
type keptDefinition struct {
	freshet.Definition
	Sealed []byte `json:"sealed,omitempty"`
}

// definitionOf reads a definition without opening it.
type definitionOf struct{ *freshet.Workflow }

// Scan implements sql.Scanner.
func (d definitionOf) Scan(v any) error {
	var kept keptDefinition
	if err := (document{&kept}).Scan(v); err != nil {
		return err
	}
	d.Definition, d.Sealed = kept.Definition, kept.Sealed
	return nil
}

// kept writes the definition of a workflow that is sealed, or has nothing to seal.
func kept(w *freshet.Workflow) string { return text(keptDefinition{w.Definition, w.Sealed}) }

func placeOf(w *freshet.Workflow) string { return "workflow " + w.ID.String() }

// seal returns the workflow as it is kept. What was not opened stays as it is.
func (s *Store) seal(w freshet.Workflow) (freshet.Workflow, error) {
	if s.seals == nil || w.Sealed != nil {
		return w, nil
	}
	var secret []freshet.Action
	shown := slices.Clone(w.Actions)
	for i := range shown {
		if shown[i] = shown[i].Shown(); !sameSecrets(&shown[i], &w.Actions[i]) {
			secret = append(secret, w.Actions[i])
		}
	}
	if secret == nil {
		return w, nil
	}
	var err error
	w.Actions = shown
	w.Sealed, err = s.seals.Seal(placeOf(&w), []byte(text(secret)))
	return w, err
}

func sameSecrets(a, b *freshet.Action) bool {
	return a.URL == b.URL && a.Secret == b.Secret && a.PreviousSecret == b.PreviousSecret && maps.Equal(a.Headers, b.Headers)
}

// open gives a workflow's actions back what is secret in them. When that fails they stay as they are shown.
func (s *Store) open(w *freshet.Workflow) error {
	if w.Sealed == nil {
		return nil
	}
	if s.seals == nil {
		return fmt.Errorf("%w, and this instance has none: give FRESHET_MASTER_KEY", freshet.ErrKey)
	}
	plain, err := s.seals.Open(placeOf(w), w.Sealed)
	if err != nil {
		return err
	}
	var secret []freshet.Action
	if err := json.Unmarshal(plain, &secret); err != nil {
		return fmt.Errorf("read what is sealed: %w", err)
	}
	for i := range secret {
		from := &secret[i]
		if to := w.Action(from.ID); to != nil {
			to.URL, to.Secret, to.PreviousSecret, to.Headers = from.URL, from.Secret, from.PreviousSecret, from.Headers
		}
	}
	w.Sealed = nil
	return nil
}

// tryOpen opens what can be opened. What cannot is shown and kept, and is no reason to fail: without the key a workflow
// can still be looked at, switched and removed.
func (s *Store) tryOpen(w *freshet.Workflow) {
	if err := s.open(w); err != nil {
		s.log.Warn("the secrets of a workflow cannot be opened", "workflow", w.Name, "err", err)
	}
}

// addSealed adds a workflow as it is kept to rows that are written. It does not seal beside what another key has sealed.
func (t *tx) addSealed(ctx context.Context, saved *rows, w freshet.Workflow) error {
	sealed, err := t.s.seal(w)
	if err != nil {
		return err
	}
	if sealed.Sealed != nil && w.Sealed == nil {
		others, err := workflows(ctx, t, `where w.definition like '%"sealed":%' and w.id <> $1 order by w.id limit 1`, w.ID)
		if err != nil {
			return err
		}
		for i := range others {
			if err := t.s.open(&others[i]); err != nil {
				return err
			}
		}
	}
	saved.addWorkflow(&sealed)
	return nil
}

// SealSecrets sees to it that all secrets of workflows can be opened, else it is ErrKey and nothing is changed, and seals
// those that lie open because there was no key for them.
func (s *Store) SealSecrets(ctx context.Context) error {
	err := s.write(ctx, func(ctx context.Context, t *tx) error {
		list, err := workflows(ctx, t, "order by w.id for update")
		if err != nil {
			return err
		}
		saved := t.rows(updateWorkflows)
		for i := range list {
			w := &list[i]
			if w.Sealed != nil {
				if err := s.open(w); err != nil {
					return fmt.Errorf("workflow %q: %w, or remove it (freshet workflows rm %s)", w.Name, err, w.ID)
				}
				continue
			}
			if *w, err = s.seal(*w); err != nil {
				return err
			}
			if w.Sealed != nil {
				saved.addWorkflow(w)
			}
		}
		return runAll(ctx, saved)
	})
	if err != nil {
		return fmt.Errorf("open the secrets of workflows: %w", err)
	}
	return nil
}
