package store

import (
	"context"
	"fmt"
	"strings"
)

// bulk is a statement for many rows: it runs once a row on SQLite, where a statement costs little, and
// once with arrays on PostgreSQL, where a round trip costs much.
type bulk struct {
	row, arrays string
	kinds       []string
}

// inserting makes the statement that inserts rows. columns are names with PostgreSQL's types, such as
// "item_id bigint, body text"; tail is what follows, such as "on conflict do nothing".
func inserting(table, columns, tail string) *bulk {
	names, kinds := parseColumns(columns)
	params, arrays := make([]string, len(names)), make([]string, len(names))
	for i := range names {
		params[i] = fmt.Sprintf("$%d", i+1)
		arrays[i] = fmt.Sprintf("$%d::%s[]", i+1, kinds[i])
	}
	into := "insert into " + table + " (" + strings.Join(names, ", ") + ") "
	return &bulk{
		row:    into + "values (" + strings.Join(params, ", ") + ") " + tail,
		arrays: into + "select * from unnest(" + strings.Join(arrays, ", ") + ") " + tail,
		kinds:  kinds,
	}
}

// updating makes the statement that updates rows by their key, which is the first column.
func updating(table, columns string) *bulk {
	names, kinds := parseColumns(columns)
	row, joined, arrays := make([]string, len(names)), make([]string, len(names)), make([]string, len(names))
	for i := range names {
		row[i] = fmt.Sprintf("%s = $%d", names[i], i+1)
		joined[i] = fmt.Sprintf("%s = v.%s", names[i], names[i])
		arrays[i] = fmt.Sprintf("$%d::%s[]", i+1, kinds[i])
	}
	return &bulk{
		row: "update " + table + " set " + strings.Join(row[1:], ", ") + " where " + row[0],
		arrays: "update " + table + " t set " + strings.Join(joined[1:], ", ") +
			" from unnest(" + strings.Join(arrays, ", ") + ") v (" + strings.Join(names, ", ") + ") where t." + joined[0],
		kinds: kinds,
	}
}

func parseColumns(columns string) (names, kinds []string) {
	for column := range strings.SplitSeq(columns, ",") {
		name, kind, _ := strings.Cut(strings.TrimSpace(column), " ")
		names, kinds = append(names, name), append(kinds, kind)
	}
	return names, kinds
}

// rows gathers what a bulk statement is run with.
type rows struct {
	t    *tx
	of   *bulk
	args []any
}

func (t *tx) rows(of *bulk) *rows { return &rows{t: t, of: of} }

// room makes room for n rows.
func (t *tx) room(of *bulk, n int) *rows {
	return &rows{t: t, of: of, args: make([]any, 0, n*len(of.kinds))}
}

// add adds a row.
func (r *rows) add(values ...any) {
	for _, v := range values {
		r.args = append(r.args, r.t.s.dialect.arg(v))
	}
}

// run writes the rows and returns how many it wrote.
func (r *rows) run(ctx context.Context) (int, error) {
	if len(r.args) == 0 {
		return 0, nil
	}
	if r.t.s.dialect.arrays {
		return r.t.run(ctx, r.of.arrays, r.columns())
	}
	width, total := len(r.of.kinds), 0
	for at := 0; at < len(r.args); at += width {
		n, err := r.t.run(ctx, r.of.row, r.args[at:at+width])
		if err != nil {
			return total, err
		}
		total += n
	}
	return total, nil
}

// columns turns rows into one array a column.
func (r *rows) columns() []any {
	width := len(r.of.kinds)
	columns := make([]any, width)
	for c, kind := range r.of.kinds {
		switch kind {
		case "bigint":
			columns[c] = column[int64](r.args[c:], width)
		case "text":
			columns[c] = column[string](r.args[c:], width)
		default:
			bytes := make([][]byte, 0, len(r.args)/width)
			for at := c; at < len(r.args); at += width {
				bytes = append(bytes, r.args[at].([]byte))
			}
			columns[c] = bytes
		}
	}
	return columns
}

// column gathers every width-th value; null is nil.
func column[T any](args []any, width int) []*T {
	list := make([]*T, 0, len(args)/width+1)
	for at := 0; at < len(args); at += width {
		var p *T
		if v, ok := args[at].(T); ok {
			p = &v
		}
		list = append(list, p)
	}
	return list
}
