package main

import (
	"io"
	"strings"
)

// table prints rows for people in aligned columns. The last column is cut to what the terminal holds;
// where output is no terminal nothing is.
func table(w io.Writer, head []string, rows [][]string) error {
	t := terminalOf(w)
	widths := make([]int, len(head))
	for _, row := range append([][]string{head}, rows...) {
		for i := range row {
			row[i] = clean(row[i])
			widths[i] = max(widths[i], columnsOfText(row[i]))
		}
	}
	var out strings.Builder
	line(&out, t, widths, head, t.bold)
	for _, row := range rows {
		line(&out, t, widths, row, func(s string) string { return s })
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func line(out *strings.Builder, t terminal, widths []int, cells []string, mark func(string) string) {
	used := 0
	for i, cell := range cells {
		if i == len(cells)-1 {
			if t.columns > 0 {
				cell = cut(cell, max(10, t.columns-used))
			}
			out.WriteString(mark(cell))
			break
		}
		out.WriteString(mark(pad(cell, widths[i])) + "  ")
		used += widths[i] + 2
	}
	out.WriteString("\n")
}
