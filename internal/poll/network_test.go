package poll

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"freshet"
)

// S5: at least five hosts tried within a minute, none reached.
func TestNetworkVerdict(t *testing.T) {
	type step struct {
		after time.Duration
		host  freshet.ID // 0: a host was reached
	}
	miss := func(after time.Duration, hosts ...freshet.ID) (steps []step) {
		for _, h := range hosts {
			steps = append(steps, step{after, h})
		}
		return steps
	}
	const second = time.Second
	tests := []struct {
		name  string
		steps []step
		want  bool
	}{
		{"five hosts", miss(second, 1, 2, 3, 4, 5), true},
		{"four hosts", miss(second, 1, 2, 3, 4, 4, 4, 4), false},
		{"five within more than a minute", miss(16*second, 1, 2, 3, 4, 5), false},
		{"more, the last five within a minute", miss(14*second, 1, 2, 3, 4, 5, 6, 7), true},
		{"one reached between", append(miss(second, 1, 2, 3), append([]step{{second, 0}}, miss(second, 4, 5, 6)...)...), false},
		{"one that was under way answers", append(miss(0, 1, 2, 3, 4, 5), step{second, 0}), false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				kicks := 0
				n := newNetwork(quiet, func() { kicks++ })
				for _, s := range tt.steps {
					time.Sleep(s.after)
					if s.host == 0 {
						n.reached()
					} else {
						n.unreached(s.host, 100+s.host)
					}
				}
				time.Sleep(downSettle + time.Second)
				since, reason := n.paused()
				if got := !since.IsZero(); got != tt.want || got != (reason != "") || got != (kicks > 0) {
					t.Errorf("paused since %v because %q, kicked %d times; want paused: %v", since, reason, kicks, tt.want)
				}
			})
		})
	}
}

func TestNetworkPauseAndResume(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := newNetwork(quiet, func() {})
		for id := range freshet.ID(6) {
			n.unreached(id+1, id+101)
		}
		time.Sleep(downSettle)
		synctest.Wait()
		n.unreached(9, 109) // was under way
		if got := n.takeBlamed(); !slices.Equal(got, []freshet.ID{101, 102, 103, 104, 105, 106, 109}) {
			t.Errorf("blamed %v", got)
		}
		if got := n.takeBlamed(); got != nil {
			t.Errorf("blamed twice: %v", got)
		}
		if wait := n.probeNow(time.Now()); wait != 0 {
			t.Errorf("the first probe waits %v", wait)
		}
		if wait := n.probeNow(time.Now().Add(time.Second)); wait != probeGap-time.Second {
			t.Errorf("the next probe waits %v", wait)
		}
		n.reached()
		if since, _ := n.paused(); !since.IsZero() {
			t.Error("still paused")
		}
		if !n.takeResumed() || n.takeResumed() {
			t.Error("the end of the pause is not told once")
		}
	})
}

func TestNoNetworkIsAlwaysUp(t *testing.T) {
	var n *network
	n.reached()
	n.unreached(1, 1)
	if since, reason := n.paused(); !since.IsZero() || reason != "" || n.takeResumed() {
		t.Error("a run without a verdict is paused")
	}
}
