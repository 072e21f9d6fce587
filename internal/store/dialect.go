package store

import (
	"encoding/hex"
	"encoding/json"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"freshet"
)

// dialect is what the databases say differently. A statement has one text for both, with $1
// placeholders; "in ($1...)" and "in ($1 keys...)" stand for membership in one argument that is a list
// of numbers or words, or of bytes. "indexed by" is for SQLite alone, "for update" for PostgreSQL.
type dialect struct {
	goose     string // its name for goose, and the folder of its migrations
	translate func(text string) string
	list      func(arg any) any // one argument from a list
	arrays    bool              // a bulk statement runs once with arrays, not once a row
	prepares  bool              // the driver keeps prepared statements by itself
	due       string            // see dueSQLite
	again     func(error) bool  // the transaction met another one and is worth a second try
}

var (
	membership = regexp.MustCompile(`(not )?in \(\$(\d+)( keys)?\.\.\.\)`)
	listTable  = regexp.MustCompile(`\blist\(\$(\d+)\)`)
	indexHint  = regexp.MustCompile(`indexed by \w+ `)
	rowLocks   = regexp.MustCompile(` for (update|share)( of \w+)?( skip locked)?`)
)

func toSQLite(text string) string {
	text = rowLocks.ReplaceAllString(text, "")
	text = listTable.ReplaceAllString(text, "(select value from json_each($$$1))")
	return membership.ReplaceAllStringFunc(text, func(m string) string {
		part := membership.FindStringSubmatch(m)
		value := "value"
		if part[3] != "" {
			value = "unhex(value)"
		}
		return part[1] + "in (select " + value + " from json_each($" + part[2] + "))"
	})
}

func toPostgres(text string) string {
	text = indexHint.ReplaceAllString(text, "")
	text = listTable.ReplaceAllString(text, "(select unnest($$$1::bigint[]) as value)")
	return membership.ReplaceAllStringFunc(text, func(m string) string {
		part := membership.FindStringSubmatch(m)
		if part[1] != "" {
			return "<> all($" + part[2] + ")"
		}
		return "= any($" + part[2] + ")"
	})
}

// listSQLite writes a list as a JSON array.
func listSQLite(arg any) any {
	switch l := arg.(type) {
	case []int64:
		b := append(make([]byte, 0, 20*len(l)+2), '[')
		for i, n := range l {
			if i > 0 {
				b = append(b, ',')
			}
			b = strconv.AppendInt(b, n, 10)
		}
		return string(append(b, ']'))
	case [][]byte:
		b := append(make([]byte, 0, 35*len(l)+2), '[')
		for i, key := range l {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(hex.AppendEncode(append(b, '"'), key), '"')
		}
		return string(append(b, ']'))
	default:
		b, _ := json.Marshal(arg) // a list of words
		return string(b)
	}
}

// arg turns one of our values into one of the database's: times are milliseconds and null when zero,
// ids are numbers, flags are 0 and 1, texts are clean.
func (d *dialect) arg(arg any) any {
	switch v := arg.(type) {
	case string:
		if isClean(v) {
			return arg // as it is: no new one is made
		}
		return clean(v)
	case time.Time:
		if v.IsZero() {
			return nil
		}
		return v.UnixMilli()
	case freshet.ID:
		return int64(v)
	case time.Duration:
		return v.Milliseconds()
	case []byte:
		if v == nil {
			return []byte{}
		}
		return arg
	case int:
		return int64(v)
	case bool:
		if v {
			return int64(1)
		}
		return int64(0)
	case []freshet.ID:
		return d.list(numbers(v))
	case []int:
		return d.list(numbers(v))
	case []string:
		words := make([]string, len(v))
		for i := range v {
			words[i] = clean(v[i])
		}
		return d.list(words)
	case [][]byte, []int64:
		return d.list(v)
	default:
		return arg
	}
}

func (d *dialect) args(args []any) []any {
	said := make([]any, len(args))
	for i, v := range args {
		said[i] = d.arg(v)
	}
	return said
}

func numbers[N ~int | ~int64](list []N) []int64 {
	n := make([]int64, len(list))
	for i, v := range list {
		n[i] = int64(v)
	}
	return n
}

// clean returns text that both databases take: valid UTF-8 without NUL.
func clean(s string) string {
	if isClean(s) {
		return s
	}
	return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "\uFFFD")
}

func isClean(s string) bool { return strings.IndexByte(s, 0) < 0 && utf8.ValidString(s) }

// moment reads a column of milliseconds into a time; null is the zero time.
type moment struct{ t *time.Time }

// Scan implements sql.Scanner.
func (m moment) Scan(v any) error {
	*m.t = time.Time{}
	if ms, ok := v.(int64); ok {
		*m.t = time.UnixMilli(ms).UTC()
	}
	return nil
}

// span reads a column of milliseconds into a duration.
type span struct{ d *time.Duration }

// Scan implements sql.Scanner.
func (s span) Scan(v any) error {
	ms, _ := v.(int64)
	*s.d = time.Duration(ms) * time.Millisecond
	return nil
}

// flag reads a column of 0 and 1.
type flag struct{ b *bool }

// Scan implements sql.Scanner.
func (f flag) Scan(v any) error {
	n, _ := v.(int64)
	*f.b = n != 0
	return nil
}

// optional reads an id that may be null, which is 0.
type optional struct{ id *freshet.ID }

// Scan implements sql.Scanner.
func (o optional) Scan(v any) error {
	n, _ := v.(int64)
	*o.id = freshet.ID(n)
	return nil
}

// digest reads a column that holds a content hash.
type digest struct{ hash *freshet.ContentHash }

// Scan implements sql.Scanner.
func (d digest) Scan(v any) error {
	b, _ := v.([]byte)
	copy(d.hash[:], b)
	return nil
}

// document reads a column that holds a JSON document; null and {} leave the value as it is.
type document struct{ v any }

// Scan implements sql.Scanner.
func (d document) Scan(v any) error {
	text, _ := v.(string)
	if text == "" || text == "{}" {
		return nil
	}
	return json.Unmarshal([]byte(text), d.v)
}
