package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"freshet"
)

// NewSource is a source to be added.
type NewSource struct {
	Type    freshet.Type // "" for freshet.RSS
	URL     string
	Title   string // a person's own, "" for the feed's
	Folder  string
	SiteURL string
	Config  freshet.Config
	Hidden  bool // not in the river: only a workflow or a briefing asked for it (W2)
	AtOnce  bool // a person waits: due now (S3); else within the first interval (S4)
}

// Added is what became of a NewSource.
type Added struct {
	Watched
	Known bool // it was there already and stays as it was
}

// Check refuses what cannot be kept with a *freshet.FieldError that names the field.
func (n NewSource) Check() error {
	switch n.Type {
	case "", freshet.RSS, freshet.Website, freshet.HTTP, freshet.Twitter:
	default:
		return &freshet.FieldError{Field: "type", Reason: `must be "rss", "website", "http" or "twitter"`}
	}
	switch {
	case strings.TrimSpace(n.URL) == "":
		return &freshet.FieldError{Field: "url", Reason: "must not be empty"}
	case n.ofAccount().Type == freshet.Twitter:
		if n.ofAccount().URL == "" {
			return &freshet.FieldError{Field: "url", Reason: "must be an X account, such as @name or https://x.com/name"}
		}
	case freshet.WebLink(clean(n.URL)) == "":
		return &freshet.FieldError{Field: "url", Reason: "must be an address that begins with http:// or https://"}
	}
	return n.Config.Check()
}

// checked returns the source as it is kept, or what Check refuses.
func (n NewSource) checked() (NewSource, error) {
	if err := n.Check(); err != nil {
		return n, err
	}
	n = n.ofAccount()
	n.URL, n.Type = strings.TrimSpace(clean(n.URL)), cmp.Or(n.Type, freshet.RSS)
	return n, nil
}

// ofAccount is the source by the address of its X account, if it is one. What names an account cannot be a feed.
func (n NewSource) ofAccount() NewSource {
	if (n.Type == "" || n.Type == freshet.RSS) && freshet.NamesAccount(n.URL) {
		n.Type = freshet.Twitter
	}
	if n.Type == freshet.Twitter {
		n.URL = freshet.AccountURL(n.URL)
	}
	return n
}

// AddSource adds a source. One that is there already is a *freshet.DuplicateError, unless it was removed (D7)
// or did not show in the river and does now.
func (s *Store) AddSource(ctx context.Context, n NewSource, now time.Time) (Watched, error) {
	added, err := s.AddSources(ctx, []NewSource{n}, now)
	var field *freshet.FieldError
	switch {
	case errors.As(err, &field):
		return Watched{}, field
	case err != nil:
		return Watched{}, err
	case added[0].Known:
		return added[0].Watched, &freshet.DuplicateError{Existing: added[0].Source}
	}
	return added[0].Watched, nil
}

// addsAtOnce is how many sources one transaction adds.
const addsAtOnce = 300

// AddSources adds many sources, in their order. When one cannot be kept none is added and the error, a
// *freshet.FieldError, says which.
func (s *Store) AddSources(ctx context.Context, list []NewSource, now time.Time) ([]Added, error) {
	list = slices.Clone(list)
	for i, n := range list {
		var err error
		if list[i], err = n.checked(); err != nil {
			return nil, fmt.Errorf("add source %s: %w", n.URL, err)
		}
	}
	added := make([]Added, 0, len(list))
	for part := range slices.Chunk(list, addsAtOnce) {
		var done []Added
		err := s.write(ctx, func(ctx context.Context, t *tx) (err error) {
			done, err = t.addSources(ctx, part, now)
			return err
		})
		if err != nil {
			return added, fmt.Errorf("add %d sources: %w", len(part), err)
		}
		added = append(added, done...)
	}
	return added, nil
}

func (t *tx) addSources(ctx context.Context, list []NewSource, now time.Time) ([]Added, error) {
	normalized, names := make([]string, len(list)), make([]string, len(list))
	for i, n := range list {
		normalized[i], names[i] = freshet.NormalizedURL(n.URL), freshet.HostGroup(n.Type, n.URL, "")
	}
	existing, err := watched(ctx, t, "where s.normalized_url in ($1...) order by s.id for update of p", normalized)
	if err != nil {
		return nil, err
	}
	hosts, err := t.hosts(ctx, names, now)
	if err != nil {
		return nil, err
	}
	known := make(map[string]*Watched, len(list))
	for i := range existing {
		known[existing[i].Source.NormalizedURL] = &existing[i]
	}
	sources, homes, polls := t.rows(insertSources), t.rows(insertPolls), t.rows(updatePolls)
	added := make([]Added, len(list))
	fresh := map[string]*Watched{}
	for i, n := range list {
		if w := fresh[normalized[i]]; w != nil { // twice in one list
			added[i] = Added{Watched: *w, Known: true}
			continue
		}
		if w := known[normalized[i]]; w != nil {
			if added[i].Known, err = t.addAgain(ctx, w, n, hosts[names[i]], now); err != nil {
				return nil, err
			}
			added[i].Watched = *w
			continue
		}
		w := &Watched{Source: t.s.newSource(n, normalized[i], now), Host: hosts[names[i]]}
		w.Source.Host = w.Host.Name
		t.s.schedule(w, n.AtOnce, now)
		sources.addSource(w)
		homes.addHome(w)
		polls.addPoll(&w.Source)
		fresh[normalized[i]], added[i].Watched = w, *w
		t.emitFeed(&w.Source, now)
	}
	return added, runAll(ctx, sources, homes, polls)
}

func (s *Store) newSource(n NewSource, normalized string, now time.Time) freshet.Source {
	return freshet.Source{
		ID: s.ids.Next(now), Type: n.Type, URL: n.URL, NormalizedURL: normalized,
		Title: clean(n.Title), Folder: clean(n.Folder), SiteURL: clean(n.SiteURL), Config: n.Config,
		InRiver: !n.Hidden, Enabled: true, CreatedAt: now.UTC().Truncate(time.Millisecond), UpdatedAt: now.UTC().Truncate(time.Millisecond),
	}
}

// schedule sets the first poll: now, or within the first interval (S3, S4).
func (s *Store) schedule(w *Watched, atOnce bool, now time.Time) {
	src := &w.Source
	src.NextPollAt, src.Cursor.SyntheticPollAt = now, nil
	if !atOnce {
		interval := s.settings.Policy(*src).Interval
		last := freshet.Spread(now, interval, s.random())
		src.Cursor.SyntheticPollAt, src.NextPollAt = &last, last.Add(interval)
	}
	src.NextPollAt = later(src.NextPollAt, w.Host.NotBefore)
}

// addAgain brings a removed source back with what it has given before (D7), or shows a hidden one in the
// river (W2). Any other is known and stays as it is.
func (t *tx) addAgain(ctx context.Context, w *Watched, n NewSource, h freshet.Host, now time.Time) (known bool, err error) {
	src := &w.Source
	removed := !src.RemovedAt.IsZero()
	if !removed && (src.InRiver || n.Hidden) {
		return true, nil
	}
	if !n.Hidden && !src.InRiver {
		if err := t.showItems(ctx, src.ID); err != nil {
			return false, err
		}
	}
	if !removed && src.Type == freshet.HTTP && src.Briefing == (freshet.BriefingPolicy{}) {
		*src = src.Retype(n.Type, h, now) // a workflow watches the document; in the river it is what n says
	}
	src.InRiver, src.Title, src.Folder, src.UpdatedAt = !n.Hidden, clean(n.Title), clean(n.Folder), now
	if removed {
		t.s.revive(w, n, h, now)
	}
	t.emitFeed(src, now)
	homes := t.rows(updateHome)
	homes.addHome(w)
	if err := runAll(ctx, homes); err != nil {
		return false, err
	}
	return false, t.saveSource(ctx, w)
}

// revive makes a removed source what n wants; its cursor and what it has given before stay.
func (s *Store) revive(w *Watched, n NewSource, h freshet.Host, now time.Time) {
	w.Host = h
	src := &w.Source
	if src.URL != n.URL {
		src.Forget()
	}
	src.Type, src.URL, src.Host, src.MovedFrom, src.Config = n.Type, n.URL, h.Name, "", n.Config
	src.Enabled, src.RemovedAt = false, time.Time{}
	*src = src.Enable(h, now)
	src.Seq++
	s.schedule(w, n.AtOnce, now)
}

// showItems puts what a source carried into the river.
func (t *tx) showItems(ctx context.Context, source freshet.ID) error {
	_, err := t.exec(ctx, "update items set in_river = 1 where in_river = 0 and id in (select item_id from posts where source_id = $1)", source)
	return err
}

// hosts returns the hosts of these names, new ones with a row of their own.
func (t *tx) hosts(ctx context.Context, names []string, now time.Time) (map[string]freshet.Host, error) {
	names = slices.Compact(slices.Sorted(slices.Values(names)))
	create := t.rows(insertHosts)
	for _, name := range names {
		create.add(t.s.ids.Next(now), name)
	}
	hosts, err := t.readHosts(ctx, names)
	if err != nil || len(hosts) == len(names) {
		return hosts, err
	}
	if _, err := create.run(ctx); err != nil {
		return nil, err
	}
	return t.readHosts(ctx, names)
}

var (
	insertHosts = inserting("hosts", "id bigint, name text", "on conflict (name) do nothing")
	updateHosts = updating("hosts", "id bigint, not_before bigint, failures bigint, status bigint")
)

func (t *tx) readHosts(ctx context.Context, names []string) (map[string]freshet.Host, error) {
	list, err := all(ctx, t, func(h *freshet.Host) []any {
		return []any{&h.ID, &h.Name, moment{&h.NotBefore}, &h.Failures, &h.Status}
	}, "select id, name, not_before, failures, status from hosts where name in ($1...)", names)
	hosts := make(map[string]freshet.Host, len(list))
	for _, h := range list {
		hosts[h.Name] = h
	}
	return hosts, err
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}
