package poll

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"freshet"
	"freshet/internal/fetch"
	"freshet/internal/store"
)

// visit polls claimed sources of one host, one after the other, with the resolved delay after each (S6).
// The host is busy until the last delay is over and all outcomes are recorded, so that what they say
// about the host is known before anybody claims it again.
type visit struct {
	*run
	host    freshet.Host
	sources []freshet.Source
	again   time.Duration // after which what could not be asked is due again
	probing bool          // asks although our own network seems to be down

	turn     Turn
	recorded sync.WaitGroup
}

func (v *visit) do(ctx context.Context) {
	left := v.askAll(ctx)
	v.hangUp()
	v.turns.rest()
	v.recorded.Wait()
	v.giveBack(left)
	v.turns.finish(v.host.ID)
}

// askAll polls the sources in order and returns those that were not asked: at a stop, after a lost
// lease, after an answer that cools the host down, and while our own network is down.
func (v *visit) askAll(ctx context.Context) (left []freshet.Source) {
	left = v.sources
	v.waitAfterTakeover(ctx, left[0])
	for len(left) > 0 {
		o := v.ask(ctx, left[0])
		if o == nil {
			return left
		}
		delay := v.o.Settings.Policy(left[0]).Delay
		left = left[1:]
		if f := o.Failure; f != nil && (f.CoolHost || f.Code == stopped) || !o.Pause.IsZero() {
			return left
		}
		v.rest(ctx, delay)
	}
	return nil
}

// stopped is the code of a request that we ended ourselves. It says nothing about the source, so it is not
// recorded; but the server was asked, so the source waits for its next turn, as after a crash.
const stopped = "stopped"

// waitAfterTakeover keeps the delay towards a host that another instance may have asked just now.
func (v *visit) waitAfterTakeover(ctx context.Context, first freshet.Source) {
	if since, ok := v.leases.covers(v.host.Name, 0); ok {
		v.rest(ctx, time.Until(since.Add(v.o.Settings.Policy(first).Delay)))
	}
}

// rest waits without holding anything that others wait for.
func (v *visit) rest(ctx context.Context, d time.Duration) {
	if d <= 0 {
		return
	}
	if d >= time.Second {
		v.hangUp() // a kept connection would be closed by the server meanwhile
	}
	v.turns.rest()
	sleep(ctx, d)
	v.turns.work()
}

// ask polls one source and hands its outcome to the recorder; nil when it was not asked, or could not
// be because our own network is down. It is asked when the recorder has room for what it may bring, which
// bounds the memory of what waits for a slow database.
func (v *visit) ask(ctx context.Context, s freshet.Source) *freshet.Outcome {
	select {
	case v.slots <- struct{}{}:
	case <-ctx.Done():
		return nil
	}
	defer func() { <-v.slots }()
	v.recorder.reserve()
	o, counts := v.outcome(ctx, s)
	if !counts {
		v.recorder.cancel()
		return o
	}
	v.recorded.Add(1)
	v.recorder.add(&entry{source: s, outcome: o, done: v.recorded.Done})
	return o
}

// outcome reads a source that may be asked and says whether that counts as a poll.
func (v *visit) outcome(ctx context.Context, s freshet.Source) (o *freshet.Outcome, counts bool) {
	if !v.mayAsk(ctx) {
		return nil, false
	}
	o = v.read(s)
	if o.Failure != nil && o.Failure.Code == stopped {
		return o, false
	}
	if !unreached(o) {
		v.network.reached()
	} else if since, _ := v.network.paused(); !since.IsZero() {
		return nil, false
	}
	return o, true
}

func (v *visit) mayAsk(ctx context.Context) bool {
	if ctx.Err() != nil {
		return false
	}
	if _, ok := v.leases.covers(v.host.Name, v.o.FetchTimeout+leaseMargin); !ok {
		return false
	}
	since, _ := v.network.paused()
	return since.IsZero() || v.probing
}

// unreached says that no connection came about.
func unreached(o *freshet.Outcome) bool { return o.Failure != nil && o.Failure.Unreached }

// read reads one source; a panic is a failure of this source and of nothing else (S6).
func (v *visit) read(s freshet.Source) (o *freshet.Outcome) {
	began := time.Now().UTC()
	defer func() {
		if p := recover(); p != nil {
			v.log.Error("[Polling] a poll panicked", "source", fetch.Redact(s.URL), "panic", p, "stack", string(debug.Stack()))
			v.turn = nil
			o = fault(began, "Reading this source hit a fault of ours; the log has the details.")
		}
	}()
	if v.turn == nil {
		v.turn = v.reader.Turn()
	}
	return v.turn.Read(v.requests, s)
}

// fault is the outcome of a poll that failed by our own doing.
func fault(at time.Time, sentence string) *freshet.Outcome {
	return &freshet.Outcome{At: at, Failure: &freshet.Failure{Class: freshet.Transient, Code: "internal", Sentence: sentence}}
}

// hangUp closes the host's connections; the next read makes a new one.
func (v *visit) hangUp() {
	if v.turn != nil {
		v.turn.Close()
		v.turn = nil
	}
}

// giveBack lets claimed sources that were not asked be claimed again.
func (v *visit) giveBack(sources []freshet.Source) {
	if len(sources) == 0 {
		return
	}
	polls := make([]store.Poll, len(sources))
	for i, s := range sources {
		polls[i] = store.Poll{Source: s.ID, Seq: s.Seq}
	}
	if err := v.store.GiveBack(v.records, polls, time.Now().Add(v.again)); err != nil {
		v.log.Warn("[Polling] sources that were not asked wait until their next turn", "host", v.host.Name, "sources", len(sources), "err", err)
	}
}
