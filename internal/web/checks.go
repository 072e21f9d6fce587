package web

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"freshet"
	"freshet/internal/discover"
	"freshet/internal/opml"
)

// Findings that need no request, beside those of package discover.
const (
	known   discover.Finding = "known"   // it is a source, or stands further up in the list
	refused discover.Finding = "refused" // it cannot be a source
	unseen  discover.Finding = "unseen"  // nobody asked for it
)

// looked is a feed of a list with what was found at its address.
type looked struct {
	opml.Outline
	discover.Sight
	Why string // in a sentence, where the finding alone does not say
}

// check looks at the feeds of a list before they are subscribed to. It lives in memory: the end of the process is its
// end, and whoever waits for it starts again.
type check struct {
	ID   string
	stop context.CancelFunc

	mu   sync.Mutex // guards the rest
	rows []looked
	done int
	over bool
}

// Limits of a check. A host is asked for one address after the other; where it wants longer pauses than a person
// waits for, only for the first.
const (
	hostsAtOnce  = 32
	longestPause = 5 * time.Second
)

// newCheck judges what can be judged without asking.
func newCheck(outlines []opml.Outline, there map[string]bool) *check {
	c := &check{ID: rand.Text(), rows: make([]looked, len(outlines))}
	for i, o := range outlines {
		row := looked{Outline: o}
		source, err := newSource(o)
		switch normalized := freshet.NormalizedURL(source.URL); {
		case err != nil:
			row.Finding, row.Why = refused, sentence(reasonOf(err))
		case there[normalized]:
			row.Finding = known
		default:
			row.Outline.URL, there[normalized] = source.URL, true
		}
		if row.Finding != "" {
			c.done++
		}
		c.rows[i] = row
	}
	return c
}

// reasonOf is the reason of an error without the name of its field.
func reasonOf(err error) string {
	var field *freshet.FieldError
	if errors.As(err, &field) {
		return "the address " + field.Reason
	}
	return err.Error()
}

// run asks for what is left, host by host, and ends early when ctx does.
func (c *check) run(ctx context.Context, look func(context.Context, string) discover.Sight, pause func(host string) time.Duration) {
	hosts, order := map[string][]int{}, []string{}
	for i := range c.rows {
		if c.rows[i].Finding == "" {
			host := freshet.HostOf(c.rows[i].Outline.URL)
			if hosts[host] == nil {
				order = append(order, host)
			}
			hosts[host] = append(hosts[host], i)
		}
	}
	var g errgroup.Group
	g.SetLimit(hostsAtOnce)
	for _, host := range order {
		g.Go(func() error {
			c.visit(ctx, host, hosts[host], look, pause(host))
			return nil
		})
	}
	g.Wait()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.over = true
}

// visit asks a host for its addresses, one after the other, until it wants no more.
func (c *check) visit(ctx context.Context, host string, rows []int, look func(context.Context, string) discover.Sight, pause time.Duration) {
	for n, i := range rows {
		if n > 0 && pause > longestPause {
			c.skip(rows[n:], fmt.Sprintf("%s wants %s between two requests, so only its first address was looked at.", host, freshet.Span(pause)))
			return
		}
		if n > 0 {
			select {
			case <-ctx.Done():
			case <-time.After(pause):
			}
		}
		if ctx.Err() != nil {
			c.skip(rows[n:], "")
			return
		}
		sight := look(ctx, c.rows[i].Outline.URL) // an outline does not change
		if ctx.Err() != nil {
			c.skip(rows[n:], "")
			return
		}
		c.found(i, sight)
		if f := sight.Failure; f != nil && f.CoolHost {
			c.skip(rows[n+1:], host+" asked for a pause.")
			return
		}
	}
}

func (c *check) found(row int, sight discover.Sight) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.rows[row].Sight = sight
	if sight.Failure != nil {
		c.rows[row].Why = sight.Failure.Sentence
	}
	c.done++
}

func (c *check) skip(rows []int, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, i := range rows {
		c.rows[i].Finding, c.rows[i].Why = unseen, why
	}
	c.done += len(rows)
}

// checked is how far a check is.
type checked struct {
	Done, Total int
	Over        bool
	Rows        []looked
}

func (c *check) state() checked {
	c.mu.Lock()
	defer c.mu.Unlock()
	return checked{c.done, len(c.rows), c.over, slices.Clone(c.rows)}
}

// checks are the newest few checks of this process.
type checks struct {
	group sync.WaitGroup

	mu   sync.Mutex // guards the rest
	list []*check
}

// keptChecks is how many there are at a time: a long list takes some megabytes.
const keptChecks = 3

// start begins a check, which ends with ctx, and forgets the oldest one where there are too many.
func (k *checks) start(ctx context.Context, c *check, look func(context.Context, string) discover.Sight, pause func(host string) time.Duration) {
	ctx, c.stop = context.WithCancel(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.list = append(k.list, c); len(k.list) > keptChecks {
		k.list[0].stop()
		k.list = slices.Delete(k.list, 0, 1)
	}
	k.group.Go(func() {
		defer c.stop()
		c.run(ctx, look, pause)
	})
}

// find returns a check, nil when this process knows none of that id.
func (k *checks) find(id string) *check {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, c := range k.list {
		if c.ID == id {
			return c
		}
	}
	return nil
}

// drop forgets a check.
func (k *checks) drop(id string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = slices.DeleteFunc(k.list, func(c *check) bool { return c.ID == id })
}

// wait returns when nothing is looked at any more.
func (k *checks) wait() { k.group.Wait() }
