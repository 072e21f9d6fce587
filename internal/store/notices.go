package store

import (
	"context"
	"fmt"

	"freshet"
)

var insertNotices = inserting("notices", "id bigint, at bigint, kind text, workflow_id bigint, title text, body text", "")

// tell writes a notice, and an alert for each address that wants to be told (W8).
func (l *workload) tell(n freshet.Notice) {
	n.ID = l.next()
	l.notices.add(n.ID, n.At, string(n.Kind), n.Workflow, n.Title, n.Text)
	l.t.s.log.Warn("[Workflow] "+n.Title, "workflow", n.Workflow, "why", n.Text)
	alert := freshet.MarshalData(struct {
		Title string `json:"title"`
		Text  string `json:"text"`
	}{n.Title, n.Text})
	for i := range l.t.s.settings.Alerts {
		l.fresh.addExecution(&freshet.Execution{ID: l.next(), Kind: freshet.KindAlert, Action: fmt.Sprint(i), State: freshet.Queued,
			Data: alert, DueAt: l.now, CreatedAt: l.now}, int64(n.ID), 0)
	}
}

// Notices returns the newest of what people may want to know of, newest first (W8).
func (s *Store) Notices(ctx context.Context, limit int) ([]freshet.Notice, error) {
	list, err := all(ctx, s, func(n *freshet.Notice) []any {
		return []any{&n.ID, moment{&n.At}, &n.Kind, &n.Workflow, &n.Title, &n.Text}
	}, "select id, at, kind, workflow_id, title, body from notices order by id desc limit $1", limit)
	if err != nil {
		return nil, fmt.Errorf("read notices: %w", err)
	}
	return list, nil
}
