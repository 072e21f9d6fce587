package syndicate

import (
	"bytes"
	"strings"
	"testing"

	"freshet"
)

func markdownOf(t *testing.T, title string, articles ...freshet.Article) string {
	t.Helper()
	var b bytes.Buffer
	if err := WriteArticles(&b, title, articles); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWriteArticles(t *testing.T) {
	got := markdownOf(t, "Morning news",
		freshet.Article{Title: "Fish & chips", URL: "https://example.org/1?a=1&b=2", Author: "Ada", SourceName: "The Source", Text: "One line.\nAnother.", PublishedAt: noon},
		freshet.Article{Title: "Posts from @golang — Feb 16, 2026", Text: "First.\n\n---\n\nSecond.", PublishedAt: noon},
		freshet.Article{PublishedAt: noon})
	const want = `# Morning news

## [Fish \& chips](<https://example.org/1?a=1&b=2>)

Ada · The Source · Feb 17, 2026 12:00 UTC

One line.

Another.

## Posts from @golang — Feb 16, 2026

Feb 17, 2026 12:00 UTC

First.

---

Second.

## (no title)

Feb 17, 2026 12:00 UTC
`
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// P2: what a source wrote is text. Each line is one that would be markup, and what is left of it.
func TestMarkdownStaysText(t *testing.T) {
	for line, want := range map[string]string{
		"<script>alert(1)</script>": `\<script\>alert(1)\</script\>`,
		"# heading":                 `\# heading`,
		"- item":                    `\- item`,
		"+ item":                    `\+ item`,
		"* item":                    `\* item`,
		"===":                       `\===`,
		"--":                        `\--`,
		"> quote":                   `\> quote`,
		"1. item":                   `1\. item`,
		"12) item":                  `12\) item`,
		"    code":                  "code",
		"\tcode":                    "code",
		"```":                       "\\`\\`\\`",
		"~~~":                       `\~\~\~`,
		"![x](https://t.example/)":  `!\[x\](https://t.example/)`,
		"[a]: https://t.example/":   `\[a\]: https://t.example/`,
		"&lt;b&gt;":                 `\&lt;b\&gt;`,
		`\<b>`:                      `\\\<b\>`,
		"_a_ **b**":                 `\_a\_ \*\*b\*\*`,
		"| a | b |":                 `\| a \| b \|`,
		":--|--:":                   `\:--\|--:`,
		"2026":                      "2026",
		"a\x1b[31mred\x00\u009b":    `a\[31mred`,
	} {
		got := markdownOf(t, "T", freshet.Article{Title: "T", Text: line, PublishedAt: noon})
		_, text, _ := strings.Cut(got, "UTC\n\n")
		if text != want+"\n" {
			t.Errorf("%q becomes %q, want %q", line, text, want)
		}
	}
	got := markdownOf(t, "a\nb", freshet.Article{Title: "x](https://t.example/)\n# y", URL: "https://e.example/<a> b\\c", Author: "A\n# B", PublishedAt: noon})
	for _, want := range []string{"# a b\n", "](<https://e.example/", "## [x\\](https://t.example/) # y](<", "\nA # B · Feb"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	if strings.Contains(got, "<a>") || strings.Contains(markdownOf(t, "T", freshet.Article{URL: "javascript:alert(1)", PublishedAt: noon}), "javascript") {
		t.Error("an address breaks out of its link")
	}
}
