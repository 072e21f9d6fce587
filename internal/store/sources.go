package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"freshet"
)

// Watched is a source with its host, which together explain its schedule (S8).
type Watched struct {
	Source freshet.Source
	Host   freshet.Host
}

const sourceColumns = `select s.id, s.type, s.url, s.moved_from, s.normalized_url, s.title, s.feed_title, s.site_url, s.folder,
 s.in_river, s.enabled, s.disabled_reason, s.config, s.asked, s.parts, s.briefing, s.owner, s.created_at, s.updated_at, s.removed_at,
 p.seq, p.next_poll_at, p.last_poll_at, p.last_success_at, p.failures, p.permanent_failures, p.failure,
 p.cursor, p.etag, p.last_modified, p.history, p.refresh_id,
 h.id, h.name, h.not_before, h.failures, h.status
 from sources s join poll_state p on p.source_id = s.id join hosts h on h.id = s.host_id `

func (w *Watched) columns() []any {
	s, h := &w.Source, &w.Host
	return []any{
		&s.ID, &s.Type, &s.URL, &s.MovedFrom, &s.NormalizedURL, &s.Title, &s.FeedTitle, &s.SiteURL, &s.Folder,
		flag{&s.InRiver}, flag{&s.Enabled}, &s.DisabledReason, document{&s.Config}, span{&s.Asked}, document{&s.Parts}, document{&s.Briefing}, &s.Owner,
		moment{&s.CreatedAt}, moment{&s.UpdatedAt}, moment{&s.RemovedAt},
		&s.Seq, moment{&s.NextPollAt}, moment{&s.LastPollAt}, moment{&s.LastSuccessAt}, &s.Failures, &s.PermanentFailures, document{&s.LastFailure},
		document{&s.Cursor}, &s.Cursor.ETag, &s.Cursor.LastModified, &s.History, optional{&s.Refresh},
		&h.ID, &h.Name, moment{&h.NotBefore}, &h.Failures, &h.Status,
	}
}

// watched reads sources; where is what follows the columns.
func watched(ctx context.Context, q querier, where string, args ...any) ([]Watched, error) {
	list, err := all(ctx, q, (*Watched).columns, sourceColumns+where, args...)
	for i := range list {
		list[i].Source.Host = list[i].Host.Name
	}
	return list, err
}

// theSource reads one source, else it is ErrNotFound.
func theSource(ctx context.Context, q querier, where string, args ...any) (Watched, error) {
	return the(watched(ctx, q, where, args...))
}

// Source returns a source that is not removed, else ErrNotFound.
func (s *Store) Source(ctx context.Context, id freshet.ID) (Watched, error) {
	w, err := theSource(ctx, s, "where s.id = $1 and s.removed_at is null", id)
	if err != nil {
		return w, fmt.Errorf("read source %s: %w", id, err)
	}
	return w, nil
}

// FindSource returns the source that a person names by its address or its id.
func (s *Store) FindSource(ctx context.Context, urlOrID string) (Watched, error) {
	id, _ := freshet.ParseID(urlOrID)
	if freshet.NamesAccount(urlOrID) {
		urlOrID = freshet.AccountURL(urlOrID)
	}
	w, err := theSource(ctx, s, "where (s.normalized_url = $1 or s.id = $2) and s.removed_at is null", freshet.NormalizedURL(urlOrID), id)
	if err != nil {
		return w, fmt.Errorf("find source %s: %w", urlOrID, err)
	}
	return w, nil
}

// CountSources returns how many sources show in the river, and is cheap with thousands of them.
func (s *Store) CountSources(ctx context.Context) (int, error) {
	n, _, err := one(ctx, s, func(n *int) []any { return []any{n} },
		"select count(*) from sources where in_river = 1 and removed_at is null")
	if err != nil {
		return 0, fmt.Errorf("count sources: %w", err)
	}
	return n, nil
}

// SourceFilter chooses sources. Those that show in the river are always meant.
type SourceFilter struct {
	Hidden  bool         // those that only a workflow or a briefing asked for, too (W2)
	Removed bool         // removed ones, too (D7)
	IDs     []freshet.ID // these only; nil for all
}

// Sources returns sources by name, whatever its case.
func (s *Store) Sources(ctx context.Context, f SourceFilter) ([]Watched, error) {
	where, args := "where (s.in_river = 1 or $1 = 1) and (s.removed_at is null or $2 = 1)", []any{f.Hidden, f.Removed}
	if f.IDs != nil {
		where, args = where+" and s.id in ($3...)", append(args, f.IDs)
	}
	list, err := watched(ctx, s, where, args...)
	if err != nil {
		return nil, fmt.Errorf("list sources: %w", err)
	}
	names := make(map[freshet.ID]string, len(list))
	for i := range list {
		names[list[i].Source.ID] = strings.ToLower(list[i].Source.Name())
	}
	slices.SortFunc(list, func(a, b Watched) int {
		return cmp.Or(strings.Compare(names[a.Source.ID], names[b.Source.ID]), cmp.Compare(a.Source.ID, b.Source.ID))
	})
	return list, nil
}

// What people edit of a source: for insertSources and updateSources.
const sourceFields = `id bigint, host_id bigint, type text, url text, moved_from text, normalized_url text, title text, feed_title text, site_url text, folder text,
	in_river bigint, enabled bigint, disabled_reason text, config text, asked bigint, parts text, created_at bigint, updated_at bigint, removed_at bigint`

var (
	insertSources = inserting("sources", sourceFields, "")
	updateSources = updating("sources", sourceFields)
	insertPolls   = inserting("poll_state", "source_id bigint, host_id bigint, shard bigint", "")
	updateHome    = updating("poll_state", "source_id bigint, host_id bigint, shard bigint")
	updatePolls   = updating("poll_state", `source_id bigint, seq bigint, next_poll_at bigint, last_poll_at bigint, last_success_at bigint,
		failures bigint, permanent_failures bigint, failure text, cursor text, etag bytea, last_modified bytea, history bytea`)
)

// addSource adds what people edit of a source, for insertSources and updateSources.
func (r *rows) addSource(w *Watched) {
	s := &w.Source
	r.add(s.ID, w.Host.ID, string(s.Type), s.URL, s.MovedFrom, s.NormalizedURL, s.Title, s.FeedTitle, s.SiteURL, s.Folder,
		s.InRiver, s.Enabled, s.DisabledReason, text(s.Config), s.Asked, text(s.Parts), s.CreatedAt, s.UpdatedAt, s.RemovedAt)
}

// addHome adds where a source's polls belong, for insertPolls and updateHome.
func (r *rows) addHome(w *Watched) { r.add(w.Source.ID, w.Host.ID, Shard(w.Host.Name)) }

// addPoll adds what polls write of a source, for updatePolls.
func (r *rows) addPoll(s *freshet.Source) {
	var failure any
	if s.LastFailure != nil {
		failure = text(s.LastFailure)
	}
	cursor := s.Cursor
	cursor.ETag, cursor.LastModified = "", "" // kept as bytes: JSON would not keep them byte for byte (F2)
	r.add(s.ID, s.Seq, s.NextPollAt, s.LastPollAt, s.LastSuccessAt, s.Failures, s.PermanentFailures, failure,
		text(cursor), []byte(s.Cursor.ETag), []byte(s.Cursor.LastModified), []byte(s.History))
}

// text writes a value as a JSON document.
func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "{}" // only numbers that JSON has no words for; Config.Check refuses them
	}
	return string(b)
}

// saveSource writes all of a source that is there already.
func (t *tx) saveSource(ctx context.Context, w *Watched) error {
	sources, polls := t.rows(updateSources), t.rows(updatePolls)
	sources.addSource(w)
	polls.addPoll(&w.Source)
	return runAll(ctx, sources, polls)
}

// runAll writes several bulks, one after the other.
func runAll(ctx context.Context, list ...*rows) error {
	for _, r := range list {
		if _, err := r.run(ctx); err != nil {
			return err
		}
	}
	return nil
}
