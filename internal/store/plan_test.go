package store

import (
	"context"
	"math"
	"regexp"
	"strings"
	"testing"
	"time"

	"freshet"
)

// plan tells how the database would run a statement: PostgreSQL for these very arguments.
func plan(t *testing.T, s *Store, text string, args ...any) string {
	t.Helper()
	explain := "explain query plan "
	if s.dialect.arrays {
		explain = "explain "
	}
	rows, err := s.query(context.Background(), explain+text, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var line string
		var n any
		to := []any{&line}
		if !s.dialect.arrays {
			to = []any{&n, &n, &n, &line}
		}
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(line + "\n")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return plan.String()
}

// Hot reads walk an index, and what must not be sorted is not (D9). The tables are large enough that
// PostgreSQL has a choice.
func TestPlans(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 20,000 items")
	}
	onEngines(t, func(t *testing.T, s *Store) {
		fillRiver(t, s, 20_000)
		indexAll(t, s)
		settle(t, s)
		top := int64(math.MaxInt64)
		mid := riverStart.Add(riverSpan / 2).UnixMilli()
		ten := []freshet.ID{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
		ids, err := all(t.Context(), s, number, "select id from items order by id limit 200")
		if err != nil {
			t.Fatal(err)
		}
		searchText, searchArgs := matchesPostgres+visible(nil, "", "")+matchesPostgresOrder, []any{
			tsQuery(parseSearch("every")) + hoursQuery(stretch{place{mid, 0, 0}, mid - 1}), mid - 1, mid, mid, mid, 201}
		if !s.dialect.arrays {
			searchText, searchArgs = matchesSQLite+visible([]freshet.ID{1}, "r.item_id", "$9")+matchesSQLiteOrder,
				[]any{`"every"`, 0, mid, 0, mid, mid, mid, 201, ten}
		}
		for _, c := range []struct {
			name             string
			sqlite, postgres string // what the plan must say
			never            string // what it must not
			text             string
			args             []any
		}{
			{"latest 200", "SEARCH i USING INDEX items_river", "Index Scan using items_river", "(?i)sort|temp b-tree|seq scan",
				newestItems, []any{int64(0), top, top, top, 201}},
			{"a page in the middle", "SEARCH i USING INDEX items_river .*published_at,ingested_at", "Index Scan using items_river", "(?i)sort|temp b-tree|seq scan",
				newestItems, []any{int64(0), mid, mid, mid, 201}},
			{"ten sources", "SEARCH posts USING PRIMARY KEY .source_id=. AND published_at>. AND .published_at,ingested_at,item_id", "using posts_pkey", "(?i)seq scan|SCAN posts",
				placesOfSources, []any{ten, mid - 4*time.Hour.Milliseconds(), mid, mid, mid, 201}},
			{"items of many sources", "SEARCH i USING COVERING INDEX items_river(.|\n)*SEARCH p EXISTS USING COVERING INDEX posts_item .item_id=..\n", "Scan using items_river(.|\n)*Scan using posts_item", "(?i)seq scan|SCAN [ip]|posts_pkey|PRIMARY KEY",
				placesOfItems, []any{ten, mid - 4*time.Hour.Milliseconds(), mid, mid, mid, 201}},
			{"a stretch of 200", "SEARCH items USING COVERING INDEX items_river .published_at>. AND published_at<.", "Index Only Scan using items_river", "(?i)sort  |temp b-tree|seq scan",
				nthNewest, []any{int64(0), mid, 200}},
			{"sources of a page", "SEARCH p USING INDEX posts_item", "posts_item", "(?i)seq scan on posts|SCAN p\n",
				sourcesOfItems, []any{ids}},
			{"items of a page", "SEARCH i USING INTEGER PRIMARY KEY", "items_pkey", "(?i)seq scan on items|SCAN i\n", itemsByID, []any{ids}},
			{"newest", "SEARCH items USING COVERING INDEX items_river", "items_river", "(?i)seq scan|SCAN items", newestItem, nil},
			{"retention", "SEARCH items USING COVERING INDEX items_river .published_at<", "items_river", "(?i)seq scan|SCAN items",
				oldItems, []any{mid, 200}},
			{"retention of what it removes", "SEARCH items USING INTEGER PRIMARY KEY", "items_pkey", "(?i)seq scan|SCAN items\n", removeItems, []any{ids}},
			{"retention of sources", "USING (COVERING )?INDEX sources_removed", "sources_removed", "(?i)seq scan on sources|SCAN sources\n|SCAN p\n", oldSources, []any{mid, 200}},
			{"search", `SCAN s VIRTUAL TABLE INDEX [^\n]*\nSEARCH r USING INTEGER PRIMARY KEY[^$]*SEARCH i USING INTEGER PRIMARY KEY`, "Bitmap Index Scan on search_doc",
				"(?i)temp b-tree for order by|seq scan on search|scan r\n|scan i\n", searchText, searchArgs},
			{"oldest due", "SEARCH p USING COVERING INDEX poll_due", "poll_due", "(?i)seq scan on poll_state|SCAN p\n", oldestDue, []any{Shards, mid}},
		} {
			t.Run(c.name, func(t *testing.T) {
				want := c.sqlite
				if s.dialect.arrays {
					want = c.postgres
				}
				got := plan(t, s, c.text, c.args...)
				if !regexp.MustCompile(want).MatchString(got) || regexp.MustCompile(c.never).MatchString(got) {
					t.Errorf("want %s and never %s in\n%s", want, c.never, got)
				}
			})
		}
	})
}
