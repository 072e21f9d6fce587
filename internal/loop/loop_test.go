package loop

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Each case is a loop that plans its next look ten seconds after each, over 25 seconds.
func TestRun(t *testing.T) {
	after := func(d time.Duration) time.Time { return time.Now().Add(d) }
	tests := []struct {
		name   string
		before func(l *Loop)                     // Run
		meant  func(l *Loop, room chan struct{}) // three seconds after the start
		during func(l *Loop)                     // the first look, which takes a second then
		want   []int                             // seconds at which it looked
	}{
		{name: "as planned", want: []int{0, 10, 20}},
		{name: "kicked", meant: func(l *Loop, _ chan struct{}) { l.Kick() }, want: []int{0, 3, 13, 23}},
		{name: "there is room", meant: func(_ *Loop, room chan struct{}) { Wake(room) }, want: []int{0, 3, 13, 23}},
		{name: "due before the plan", meant: func(l *Loop, _ chan struct{}) { l.Due(after(6 * time.Second)) }, want: []int{0, 3, 13, 23}},
		{name: "due with the plan", meant: func(l *Loop, _ chan struct{}) { l.Due(after(7 * time.Second)) }, want: []int{0, 10, 20}},
		{name: "never due", meant: func(l *Loop, _ chan struct{}) { l.Due(time.Time{}) }, want: []int{0, 10, 20}},
		{name: "kicked during a look", during: (*Loop).Kick, want: []int{0, 1, 11, 21}},
		{name: "kicked twice during a look", during: func(l *Loop) { l.Kick(); l.Kick() }, want: []int{0, 1, 11, 21}},
		{name: "due during a look, however late", during: func(l *Loop) { l.Due(after(time.Hour)) }, want: []int{0, 1, 11, 21}},
		{name: "never due during a look", during: func(l *Loop) { l.Due(time.Time{}) }, want: []int{0, 11, 21}},
		{name: "due before it runs", before: func(l *Loop) { l.Due(time.Now()) }, want: []int{0, 10, 20}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l, room := New(), make(chan struct{}, 1)
				if tt.before != nil {
					tt.before(l)
				}
				if tt.meant != nil {
					time.AfterFunc(3*time.Second, func() { tt.meant(l, room) })
				}
				ctx, cancel := context.WithTimeout(t.Context(), 25*time.Second)
				defer cancel()
				began := time.Now()
				var looked []int
				l.Run(ctx, room, func(context.Context) time.Duration {
					looked = append(looked, int(time.Since(began).Seconds()))
					if len(looked) == 1 && tt.during != nil {
						tt.during(l)
						time.Sleep(time.Second)
					}
					return 10 * time.Second
				})
				if !slices.Equal(looked, tt.want) {
					t.Errorf("looked after %v seconds, want %v", looked, tt.want)
				}
				if took := time.Since(began); took != 25*time.Second {
					t.Errorf("Run returned after %v", took)
				}
			})
		})
	}
}

func TestOutlive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		ctx, stop := context.WithCancel(context.WithValue(t.Context(), key{}, "kept"))
		longer, cancel := Outlive(ctx, 4*time.Second)
		cancelled, cancelNow := Outlive(ctx, 4*time.Second)
		defer cancel()
		time.Sleep(time.Hour)
		stop()
		began := time.Now()
		synctest.Wait()
		if longer.Err() != nil || longer.Value(key{}) != "kept" {
			t.Fatalf("it ended with its context: %v, with the value %v", longer.Err(), longer.Value(key{}))
		}
		cancelNow()
		if cancelled.Err() == nil {
			t.Error("it goes on though it is cancelled")
		}
		<-longer.Done()
		if lived := time.Since(began); lived != 4*time.Second {
			t.Errorf("it lived %v longer", lived)
		}
	})
}
