// Command cmd prints how the feed reader scores against the reference reader, by group; with -v every
// value that does not agree, with -group those of one group.
package main

import (
	"flag"
	"fmt"
	"os"

	"freshet/internal/feed/conformance"
)

func main() {
	verbose := flag.Bool("v", false, "print every value that does not agree")
	group := flag.String("group", "", "only the misses of this group")
	flag.Parse()
	dir, ok := conformance.Dir()
	if !ok {
		fmt.Fprintln(os.Stderr, "conformance: no documents at", dir)
		os.Exit(2)
	}
	results, err := conformance.Run(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
	for _, r := range results {
		if !*verbose || *group != "" && conformance.Group(r.Category) != *group {
			continue
		}
		for _, m := range r.Misses {
			fmt.Println(m)
		}
	}
	fmt.Print(conformance.Summarize(results))
}
