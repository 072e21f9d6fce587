package web

import (
	"strings"
	"time"

	"freshet"
)

// condition is how a source is, in a word. It is also the class that gives the word its shape and colour.
type condition string

const (
	healthy   condition = "healthy"
	fresh     condition = "new" // no poll has succeeded yet, and none has failed
	retrying  condition = "retrying"
	unhealthy condition = "unhealthy"
	waiting   condition = "waiting" // its server asked for a pause
	paused    condition = "paused"  // by a person
	off       condition = "off"     // by itself: it is gone, or failed for too long
)

// conditions are all of them, worst first.
var conditions = []condition{unhealthy, off, waiting, retrying, paused, fresh, healthy}

// conditionHelp says what the words mean.
var conditionHelp = map[condition]string{
	healthy:   "the last poll went well",
	fresh:     "its first poll is still to come",
	retrying:  "the last poll failed; it is tried again",
	unhealthy: "three polls or more failed in a row",
	waiting:   "its server asked for a pause",
	paused:    "you paused it",
	off:       "it was switched off because it is gone or failed for too long",
}

// Help says what the word means.
func (c condition) Help() string { return conditionHelp[c] }

// pausedByHand is the reason of a source that a person switched off on a page.
const pausedByHand = "Paused by hand."

func conditionOf(src freshet.Source, h freshet.Host, now time.Time) condition {
	switch {
	case !src.Enabled && strings.Contains(src.DisabledReason, "by hand"):
		return paused
	case !src.Enabled:
		return off
	case src.Health() == freshet.Unhealthy:
		return unhealthy
	case h.Cooling(now):
		return waiting
	case src.Failures > 0:
		return retrying
	case src.FirstPoll():
		return fresh
	default:
		return healthy
	}
}
