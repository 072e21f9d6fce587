package web

import (
	"fmt"
	"time"

	"freshet"
)

// chart is a small picture of bars, drawn in the page as SVG, with a sentence that says the same.
type chart struct {
	Name string
	Says string // what it shows, for those who do not see it
	Bars []bar
	From string // what is at the left end
	To   string // and at the right
	Most int    // the highest bar
}

// bar is a rectangle in a picture chartWidth wide and chartHeight high.
type bar struct {
	Class      string
	X, Y, W, H float64
	Says       string
}

const (
	chartWidth  = 300
	chartHeight = 48
	chartDays   = 30
)

// place returns a bar's rectangle: the i-th of n, from low to high in units of which most fill the height.
func place(i, n, low, high, most int) bar {
	step := float64(chartWidth) / float64(n)
	unit := float64(chartHeight) / float64(max(most, 1))
	return bar{X: float64(i) * step, W: step - 2, Y: chartHeight - float64(high)*unit, H: float64(high-low) * unit}
}

// daysChart shows how many items were published on each day; the last of counts is today.
func daysChart(name string, counts []int, now time.Time) chart {
	c := chart{Name: name, From: fmt.Sprintf("%d days ago", len(counts)-1), To: "today"}
	total := 0
	for _, n := range counts {
		total, c.Most = total+n, max(c.Most, n)
	}
	for i, n := range counts {
		if n == 0 {
			continue
		}
		b := place(i, len(counts), 0, n, c.Most)
		b.Says = fmt.Sprintf("%s: %s", now.UTC().AddDate(0, 0, i-len(counts)+1).Format("Monday 2 January"), plural(n, "item", "items"))
		c.Bars = append(c.Bars, b)
	}
	c.Says = fmt.Sprintf("%s in %d days, at most %d on one, %d today", plural(total, "item", "items"), len(counts), c.Most, counts[len(counts)-1])
	return c
}

// pollsChart shows how the last polls of each source ended: the newest of all of them at the right, the ones before
// next to it, and so on.
func pollsChart(histories []freshet.History) chart {
	const columns = 30
	outcomes := []freshet.Result{freshet.ResultOK, freshet.ResultPartial, freshet.ResultError}
	var counts [columns][3]int
	var totals [3]int
	for _, h := range histories {
		for age, p := range h.Polls() {
			for kind, result := range outcomes {
				if p.Result == result && age < columns {
					counts[columns-1-age][kind]++
					totals[kind]++
				}
			}
		}
	}
	c := chart{Name: "Polls by outcome", From: "30 polls ago", To: "the last poll"}
	c.Says = fmt.Sprintf("%s: %d read, %d read in part, %d failed", plural(totals[0]+totals[1]+totals[2], "poll", "polls"), totals[0], totals[1], totals[2])
	for _, n := range counts {
		c.Most = max(c.Most, n[0]+n[1]+n[2])
	}
	for i, n := range counts {
		low := 0
		for kind := range n {
			if n[kind] == 0 {
				continue
			}
			b := place(i, columns, low, low+n[kind], c.Most)
			b.Class = string(outcomes[kind])
			b.Says = fmt.Sprintf("%s: %d read, %d in part, %d failed", nthLast(columns-i), n[0], n[1], n[2])
			c.Bars = append(c.Bars, b)
			low += n[kind]
		}
	}
	return c
}

// nthLast names a poll by how many were after it.
func nthLast(n int) string {
	if n == 1 {
		return "The last poll of each source"
	}
	return fmt.Sprintf("%d polls ago", n-1)
}
