// Package date reads the dates of feeds (SPEC.md E1): RFC 822 and its many broken forms, RFC 3339, W3CDTF,
// ISO 8601 in parts, asctime, and month names of some languages.
//
// Times are UTC and whole seconds or finer as written; a date without a zone is UTC. What Python's
// feedparser reads is read with the same result, but for zones it does not know (CET) or
// misreads, and much that it refuses is read too. Days that do not exist: in ISO forms they run over into the next month as
// feedparser lets them, elsewhere they are refused. The package keeps nothing, knows no present and
// so completes no year.
package date

import (
	"strings"
	"time"
)

// longest is the length of what can be a date.
const longest = 128

// Parse reads a date. It reports false for what is none or lies outside the years 1 to 9999.
func Parse(s string) (time.Time, bool) {
	s = strings.TrimSpace(strings.ReplaceAll(s, "\u00a0", " "))
	if len(s) == 0 || len(s) > longest {
		return time.Time{}, false
	}
	if t, ok := parseISO(s); ok {
		return t, true
	}
	return parseWords(s)
}

// civil is a date and time of day as written. Seconds of the zone are to be subtracted.
type civil struct {
	year, month, day           int
	hour, minute, second, nano int
	zone                       int
}

// time is the moment that c means; false if its year is out of range. Days and hours beyond their end run over.
func (c civil) time() (time.Time, bool) {
	t := time.Date(c.year, time.Month(c.month), c.day, c.hour, c.minute, c.second-c.zone, c.nano, time.UTC)
	if t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}, false
	}
	return t, true
}

// exists reports whether the day is one of the calendar.
func (c civil) exists() bool {
	return c.month >= 1 && c.month <= 12 && c.day >= 1 && c.day <= daysIn(c.year, c.month)
}

func daysIn(year, month int) int {
	switch month {
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	case 4, 6, 9, 11:
		return 30
	}
	return 31
}
