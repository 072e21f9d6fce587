package freshet

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Selector is a CSS selector that chooses parts of a page (E2): names, ids, classes and attributes of
// elements, :not(), and the four ways to combine them. It asks of an element only what can be answered in
// one walk over the page, so that no page can make it slow (P4): no :has(), no :nth-child().
type Selector struct {
	text  string
	steps []step // of all alternatives, one after the other
}

// step is one compound of a selector: "p.note" in "article > p.note".
type step struct {
	combinator byte // with the step before: ' ', '>', '+', '~'; 0 at the beginning of an alternative
	last       bool // of its alternative
	tests      []test
}

// test is one condition on an element.
type test struct {
	name     string // of the attribute; "" for the element's own name
	operator string // "" when the attribute has to be there; else "=", "~=", "|=", "^=", "$=", "*="
	value    string
	not      bool
}

// maxSelector bounds a selector in bytes; its steps fit into the bits of Matches.
const (
	maxSelector = 500
	maxSteps    = 64
)

// ParseSelector reads a selector.
func ParseSelector(text string) (*Selector, error) {
	text = strings.TrimSpace(text)
	if text == "" {
		return nil, errors.New("it is empty")
	}
	if len(text) > maxSelector {
		return nil, fmt.Errorf("it is longer than %d characters", maxSelector)
	}
	p := selectorParser{rest: text}
	steps, err := p.alternatives()
	if err != nil {
		return nil, err
	}
	if len(steps) > maxSteps {
		return nil, fmt.Errorf("it has more than %d parts", maxSteps)
	}
	return &Selector{text, steps}, nil
}

// ParseIgnore reads a rule for what of a page does not count: lines that match a regular expression between
// slashes, or parts that a selector chooses.
func ParseIgnore(rule string) (line *regexp.Regexp, part *Selector, err error) {
	rule = strings.TrimSpace(rule)
	if len(rule) < 2 || rule[0] != '/' || rule[len(rule)-1] != '/' {
		part, err = ParseSelector(rule)
		return nil, part, err
	}
	if len(rule) > maxSelector {
		return nil, nil, fmt.Errorf("it is longer than %d characters", maxSelector)
	}
	line, err = regexp.Compile(rule[1 : len(rule)-1])
	return line, nil, err
}

func (s *Selector) String() string { return s.text }

// Element is what a selector asks about an element.
type Element interface {
	Name() string                    // in lower case
	Attr(name string) (string, bool) // name is in lower case
}

// Matches is a set of a selector's steps, a bit for each.
type Matches uint64

// Around is what the elements around one have matched.
type Around struct {
	Above  Matches // all those that it lies in
	Parent Matches
	Before Matches // all siblings before it
	Last   Matches // the sibling just before it
}

// Match returns the steps that an element completes, and whether it is chosen.
func (s *Selector) Match(e Element, a Around) (m Matches, chosen bool) {
	for i := range s.steps {
		step := &s.steps[i]
		before := Matches(1) << max(i-1, 0)
		var met Matches
		switch step.combinator {
		case 0:
			met = before
		case ' ':
			met = a.Above & before
		case '>':
			met = a.Parent & before
		case '+':
			met = a.Last & before
		case '~':
			met = a.Before & before
		}
		if met != 0 && step.matches(e) {
			m |= 1 << i
			chosen = chosen || step.last
		}
	}
	return m, chosen
}

func (s *step) matches(e Element) bool {
	return !slices.ContainsFunc(s.tests, func(t test) bool { return t.holds(e) == t.not })
}

func (t *test) holds(e Element) bool {
	if t.name == "" {
		return t.value == "*" || t.value == e.Name()
	}
	got, there := e.Attr(t.name)
	switch t.operator {
	case "":
		return there
	case "=":
		return there && got == t.value
	case "~=":
		return t.value != "" && hasWord(got, t.value)
	case "|=":
		return there && (got == t.value || strings.HasPrefix(got, t.value+"-"))
	case "^=":
		return t.value != "" && strings.HasPrefix(got, t.value)
	case "$=":
		return t.value != "" && strings.HasSuffix(got, t.value)
	default:
		return t.value != "" && strings.Contains(got, t.value)
	}
}

func hasWord(list, word string) bool {
	for f := range strings.FieldsSeq(list) {
		if f == word {
			return true
		}
	}
	return false
}

// selectorParser reads a selector from left to right (CSS Selectors Level 4, section 17, in part).
type selectorParser struct{ rest string }

func (p *selectorParser) alternatives() ([]step, error) {
	var steps []step
	combinator := byte(0)
	for {
		tests, err := p.compound(false)
		if err != nil {
			return nil, err
		}
		steps = append(steps, step{combinator: combinator, tests: tests})
		combinator = p.combinator()
		switch {
		case p.rest == "" && combinator <= ' ':
			steps[len(steps)-1].last = true
			return steps, nil
		case combinator == ',':
			steps[len(steps)-1].last = true
			combinator = 0
		}
	}
}

// combinator reads what stands between two compounds: ',' between alternatives, 0 for nothing.
func (p *selectorParser) combinator() byte {
	trimmed := strings.TrimLeft(p.rest, spaces)
	found := byte(0)
	if len(trimmed) < len(p.rest) {
		found = ' '
	}
	if trimmed != "" && strings.IndexByte(",>+~", trimmed[0]) >= 0 {
		found, trimmed = trimmed[0], strings.TrimLeft(trimmed[1:], spaces)
	}
	p.rest = trimmed
	return found
}

const spaces = " \t\r\n\f"

// compound reads the conditions on one element.
func (p *selectorParser) compound(not bool) ([]test, error) {
	var tests []test
	for {
		t, ok, err := p.simple(len(tests) == 0)
		if err != nil {
			return nil, err
		}
		if ok {
			t.not = not
			tests = append(tests, t)
			continue
		}
		if strings.HasPrefix(p.rest, ":") {
			if not || !strings.HasPrefix(p.rest, ":not(") {
				return nil, fmt.Errorf("%q cannot be used here: of all that begins with a colon only :not() can, with one condition in it", cutAt(p.rest, spaces+",>"))
			}
			p.rest = strings.TrimLeft(p.rest[len(":not("):], spaces)
			inner, err := p.compound(true)
			if err != nil {
				return nil, err
			}
			p.rest = strings.TrimLeft(p.rest, spaces)
			if len(inner) != 1 || !strings.HasPrefix(p.rest, ")") {
				return nil, errors.New(":not() takes one condition, such as :not(.ad)")
			}
			p.rest = p.rest[1:]
			tests = append(tests, inner[0])
			continue
		}
		if len(tests) == 0 {
			if p.rest == "" {
				return nil, errors.New("it ends where an element was expected")
			}
			return nil, fmt.Errorf("it cannot be read from %q on", p.rest)
		}
		return tests, nil
	}
}

// simple reads one condition; ok is false when there is none.
func (p *selectorParser) simple(first bool) (t test, ok bool, err error) {
	if p.rest == "" {
		return t, false, nil
	}
	switch c := p.rest[0]; {
	case c == '*' && first:
		p.rest = p.rest[1:]
		return test{value: "*"}, true, nil
	case c == '#' || c == '.':
		p.rest = p.rest[1:]
		name := p.name()
		if name == "" {
			return t, false, fmt.Errorf("a name has to follow %q", string(c))
		}
		if c == '#' {
			return test{name: "id", operator: "=", value: name}, true, nil
		}
		return test{name: "class", operator: "~=", value: name}, true, nil
	case c == '[':
		t, err = p.attribute()
		return t, err == nil, err
	case first:
		name := p.name()
		return test{value: strings.ToLower(name)}, name != "", nil
	}
	return t, false, nil
}

// attribute reads "[name]" or "[name=value]".
func (p *selectorParser) attribute() (test, error) {
	inside, ok := p.brackets()
	if !ok {
		return test{}, errors.New("a bracket is not closed")
	}
	q := selectorParser{rest: strings.Trim(inside, spaces)}
	t := test{name: strings.ToLower(q.name())}
	if t.name == "" {
		return t, errors.New("a bracket holds no name of an attribute")
	}
	q.rest = strings.TrimLeft(q.rest, spaces)
	if q.rest == "" {
		return t, nil
	}
	for _, operator := range []string{"=", "~=", "|=", "^=", "$=", "*="} {
		if value, ok := strings.CutPrefix(q.rest, operator); ok {
			t.operator, t.value = operator, unquoted(strings.Trim(value, spaces))
			return t, nil
		}
	}
	return t, fmt.Errorf("%q is no way to compare an attribute", q.rest)
}

// brackets takes "[...]" off; a bracket in quotes does not close it.
func (p *selectorParser) brackets() (inside string, ok bool) {
	quote := byte(0)
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == quote:
			quote = 0
		case quote != 0:
		case c == '"' || c == '\'':
			quote = c
		case c == ']':
			inside, p.rest = p.rest[1:i], p.rest[i+1:]
			return inside, true
		}
	}
	return "", false
}

func unquoted(s string) string {
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}

// name reads a name. A backslash takes the character after it as it is, or one by its number.
func (p *selectorParser) name() string {
	var b strings.Builder
	for p.rest != "" {
		switch c := p.rest[0]; {
		case c == '\\' && len(p.rest) > 1:
			b.WriteString(p.escaped())
		case c >= 0x80, c == '-', c == '_', isAlphanumeric(c):
			b.WriteByte(c)
			p.rest = p.rest[1:]
		default:
			return b.String()
		}
	}
	return b.String()
}

// escaped reads a backslash and what belongs to it (CSS Syntax Level 3, 4.3.7).
func (p *selectorParser) escaped() string {
	digits := 0
	for digits < 6 && digits+1 < len(p.rest) && strings.IndexByte("0123456789abcdefABCDEF", p.rest[digits+1]) >= 0 {
		digits++
	}
	if digits == 0 {
		_, size := utf8.DecodeRuneInString(p.rest[1:])
		char := p.rest[1 : 1+size]
		p.rest = p.rest[1+size:]
		return char
	}
	number, _ := strconv.ParseUint(p.rest[1:1+digits], 16, 32) // six digits fit
	p.rest = p.rest[1+digits:]
	if p.rest != "" && strings.IndexByte(spaces, p.rest[0]) >= 0 {
		p.rest = p.rest[1:]
	}
	return string(rune(number))
}

func isAlphanumeric(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'z'
}

// cutAt is what of s comes before any of the characters.
func cutAt(s, chars string) string {
	if i := strings.IndexAny(s, chars); i > 0 {
		return s[:i]
	}
	return s
}
