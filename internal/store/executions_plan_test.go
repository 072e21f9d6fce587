package store

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"freshet"
)

// fillExecutions writes executions of workflows 1 to 100: finished ones, of which one in a thousand died, and ones
// that wait, half of them for workers.
func fillExecutions(t testing.TB, s *Store, finished, waiting int) {
	t.Helper()
	series := "(with recursive s (n) as (select %d union all select n + 1 from s where n < %d) select n from s) numbers"
	if s.dialect.arrays {
		series = "generate_series(%d::bigint, %d::bigint) as numbers (n)"
	}
	for _, text := range []string{
		`insert into workflows (id, source_id, name, enabled, wanted, every, ordered, definition, created_at, updated_at)
			select n, n, 'Workflow ' || n, 1, 1, 600000, 0, '{"name": "Workflow", "actions": [{"id": "a1", "type": "notify", "url": "ntfy://ntfy.sh/x"}]}', 0, 0 from ` + fmt.Sprintf(series, 1, 100),
		`insert into executions (id, kind, workflow_id, action, source_id, seq, state, data, created_at, done_at)
			select n, 'trigger', 1 + n % 100, 'a1', 1 + n % 100, n, case when n % 1000 = 7 then 'dead' else 'succeeded' end, '{"type":"poll"}', n, n from ` + fmt.Sprintf(series, 1, finished),
		`insert into attempts (execution_id, n, started_at, took, status, error, answer) select n, 1, n, 5, 200, '', '' from ` + fmt.Sprintf(series, 1, finished),
		`insert into executions (id, kind, workflow_id, action, source_id, seq, state, data, due_at, created_at)
			select n, 'trigger', 1 + n % 100, case when n % 2 = 0 then 'a1' else '' end, 1 + n % 100, n, case when n % 100 < 90 then 'queued' else 'retrying' end, '{"type":"poll"}', n, n from ` +
			fmt.Sprintf(series, finished+1, finished+waiting),
	} {
		if _, err := s.writer.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	if s.dialect.arrays {
		if _, err := s.writer.Exec("vacuum analyze executions, attempts, workflows, notices"); err != nil {
			t.Fatal(err)
		}
	}
}

// TestExecutionPlans uses the queue in every way while 40,000 executions are over and 4,000 wait, and looks at how the
// databases run each statement that was said: none reads all of them.
func TestExecutionPlans(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 44,000 executions")
	}
	onEngines(t, func(t *testing.T, s *Store) {
		fillExecutions(t, s, 40_000, 4_000)
		useQueue(t, s)
		said := slices.Concat(slices.Collect(maps.Keys(s.reads.texts)), slices.Collect(maps.Keys(s.writes.texts)))
		slices.Sort(said)
		n := 0
		for _, text := range slices.Compact(said) {
			if !regexp.MustCompile(`\b(executions|attempts)\b`).MatchString(text) {
				continue
			}
			n++
			got := genericPlan(t, s, text)
			if regexp.MustCompile(`Seq Scan on (executions|attempts)|SCAN (e|b|r|executions|attempts)(\n| EXISTS)`).MatchString(got) {
				t.Errorf("%s\nreads all:\n%s", text, got)
			}
			// "succeeded" is what nearly all are; any other state is looked for among the few that are not.
			if regexp.MustCompile(`(due_at|done_at) is not null|state = '[^s]`).MatchString(text) && !strings.Contains(text, "from attempts") &&
				!regexp.MustCompile("executions_(failed|open|due|pull)").MatchString(got) {
				t.Errorf("%s\nlooks for what waits or failed among all:\n%s", text, got)
			}
		}
		if n < 20 {
			t.Errorf("only %d statements were said", n)
		}
	})
}

// useQueue does once what can be done with executions.
func useQueue(t *testing.T, s *Store) {
	t.Helper()
	now := time.Date(2026, 2, 17, 10, 0, 0, 0, time.UTC)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	claimed, err := s.ClaimExecutions(bg, "me", 8, 8, []freshet.ID{7}, time.Minute, now)
	must(err)
	leased, err := s.LeaseExecutions(bg, "me", 4, 2, time.Minute, now)
	must(err)
	if len(claimed) != 8 || len(leased) != 2 {
		t.Fatalf("%d claimed, %d leased", len(claimed), len(leased))
	}
	var ended []freshet.Attempted
	for i, a := range []freshet.Attempt{{}, {Error: "no"}, {Error: "later", RetryAfter: now.Add(time.Hour)}, {Error: "no", Final: true}, {Error: "gone", Gone: true}} {
		a.N, a.StartedAt = claimed[i].Attempts, now
		ended = append(ended, freshet.Attempted{Execution: claimed[i].ID, Attempt: a})
	}
	_, err = s.FinishAttempts(bg, ended, now)
	must(err)
	_, err = s.EndLease(bg, leased[0].ID, freshet.Attempt{N: 1}, now)
	must(err)
	_, err = s.NextExecution(bg)
	must(err)
	for _, workflow := range []freshet.ID{0, 4} {
		_, err = s.NextLease(bg, workflow)
		must(err)
		for _, state := range append([]freshet.ExecutionState{""}, freshet.ExecutionStates...) {
			_, err = s.Executions(bg, ExecutionQuery{Workflow: workflow, State: state, Limit: 50})
			must(err)
		}
	}
	_, _, err = s.Execution(bg, claimed[1].ID)
	must(err)
	_, err = s.RetryExecution(bg, claimed[3].ID, now)
	must(err)
	_, err = s.CancelExecution(bg, claimed[1].ID, now)
	must(err)
	for _, change := range []func(*freshet.Definition){nil, func(d *freshet.Definition) { d.Batch, d.WindowMinutes = freshet.BatchWindow, 5 }, func(d *freshet.Definition) { d.Ordered = true }} {
		flow, err := s.AddWorkflow(bg, definition(change), now)
		must(err)
		src, err := s.Source(bg, flow.Source)
		must(err)
		o := &freshet.Outcome{At: now, Status: 200, Posts: []freshet.Post{{GUID: "urn:" + flow.ID.String(), Title: "x", Published: now}}}
		freshet.Identify(o.Posts, src.Source.ID, src.Source.Host)
		_, err = s.FinishPolls(bg, []Poll{{src.Source.ID, src.Source.Seq, o}}, now)
		must(err)
		_, err = s.TestWorkflow(bg, flow.ID, freshet.TriggerData{Type: "poll"}, now)
		must(err)
		must(s.Forgive(bg, []freshet.ID{flow.Source}, now))
		if flow.Ordered {
			must(s.DeleteWorkflow(bg, flow.ID, now))
		}
	}
	for {
		n, err := s.Retain(bg, time.UnixMilli(500).Add(workKept), 100)
		must(err)
		if n == 0 {
			break
		}
	}
}

var parameter = regexp.MustCompile(`\$(\d+)`)

// genericPlan tells how the database would run a statement whatever its arguments.
func genericPlan(t *testing.T, s *Store, text string) string {
	t.Helper()
	if !s.dialect.arrays {
		n := 0
		for _, match := range parameter.FindAllStringSubmatch(text, -1) {
			var i int
			fmt.Sscan(match[1], &i)
			n = max(n, i)
		}
		return plan(t, s, text, make([]any, n)...)
	}
	conn, err := s.writer.Conn(bg)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	said := s.dialect.translate(text)
	for _, statement := range []string{"set plan_cache_mode = force_generic_plan", "prepare it as " + said} {
		if _, err := conn.ExecContext(bg, statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	var n int
	if err := conn.QueryRowContext(bg, "select coalesce(array_length(parameter_types, 1), 0) from pg_prepared_statements where name = 'it'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	nulls := strings.TrimSuffix(strings.Repeat("null, ", n), ", ")
	if nulls != "" {
		nulls = "(" + nulls + ")"
	}
	rows, err := conn.QueryContext(bg, "explain execute it"+nulls)
	if err != nil {
		t.Fatalf("%s: %v", said, err)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(line + "\n")
	}
	if _, err := conn.ExecContext(bg, "deallocate it"); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}
