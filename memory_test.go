package freshet

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// Whatever a feed lists and however often it changes, no entry that is still listed fires twice, and the memory does
// not grow without end.
func TestMemoryIsBounded(t *testing.T) {
	w := watchFor(nil)
	fired := map[string]int{}
	for poll := range 60 {
		var names []string
		for i := range 90 {
			names = append(names, fmt.Sprint(poll*30+i)) // two thirds are known
		}
		for _, data := range w.Observe(listed(names...), plainMeans).Fired {
			for _, e := range data.Items {
				fired[e.GUID]++
			}
		}
	}
	for guid, times := range fired {
		if times != 1 {
			t.Errorf("%s fired %d times", guid, times)
		}
	}
	if len(fired) != 59*30+90 {
		t.Errorf("%d entries fired, want %d", len(fired), 59*30+90)
	}
	if ids, marks := len(w.Memory.IDs), len(w.Memory.Window)/markSize; ids != shownIDs || marks > 90+shownIDs {
		t.Errorf("%d ids and %d marks are kept", ids, marks)
	}
}

// W4: whatever documents follow each other (reordered, cut, grown to thousands of entries, with entries twice, with entries
// that leave and come back), an entry that is known and still listed, or comes back within 500 others, never fires again,
// and nothing unseen within the first 100 stays silent. A small model of these words says what must and must not fire.
func TestMemoryOfAnyDocuments(t *testing.T) {
	for _, on := range [][]Change{{ChangeNew}, {ChangeNew, ChangeUpdated}, {ChangeUpdated}} {
		for seed := range uint64(8) {
			f := &fickle{random: rand.New(rand.NewPCG(seed, 4)), revision: map[int]int{}}
			m, model := &Memory{}, &recalled{known: map[string]string{}, left: map[string]int{}}
			for poll := range 25 {
				f.change()
				posts := f.posts()
				must, may := model.poll(posts, on)
				var fired []string
				for _, e := range m.sort(posts, on, mostEntries) {
					fired = append(fired, string(e.Change)+e.GUID)
				}
				if !slices.Equal(fired, must) && !within(fired, must, may) {
					t.Fatalf("on %v, seed %d, poll %d of %d entries: fired %d\n%.2000q\nwant %d\n%.2000q", on, seed, poll, len(posts), len(fired), fired, len(must), must)
				}
				if len(m.IDs) > shownIDs || len(m.Window)/markSize > len(posts)+shownIDs {
					t.Fatalf("%d ids and %d marks are kept of %d entries", len(m.IDs), len(m.Window)/markSize, len(posts))
				}
			}
		}
	}
}

// within says that fired has all that it must have and nothing that it must not.
func within(fired, must []string, may map[string]bool) bool {
	for _, id := range must {
		if !slices.Contains(fired, id) {
			return false
		}
	}
	for i, id := range fired {
		if !slices.Contains(must, id) && !may[id] || slices.Contains(fired[:i], id) {
			return false
		}
	}
	return true
}

// recalled is the model: what was counted, with its words, and after how many others it left.
type recalled struct {
	known map[string]string
	left  map[string]int // by id, while it is not listed: how many have left since, itself included
}

// poll returns what must fire, in the document's order, and what may: entries that came back after 500 others.
func (r *recalled) poll(posts []Post, on []Change) (must []string, may map[string]bool) {
	may = map[string]bool{}
	listed := map[string]bool{}
	for i, p := range posts {
		words, known := r.known[p.GUID]
		switch {
		case listed[p.GUID]:
			continue
		case known && r.left[p.GUID] > shownIDs:
			may[p.GUID], may[string(ChangeUpdated)+p.GUID] = i < mostEntries, i < mostEntries
			if i >= mostEntries {
				continue // it does not count, nor does it have to be known
			}
		case !known && i >= mostEntries:
			continue
		case !known && slices.Contains(on, ChangeNew):
			must = append(must, p.GUID)
		case known && words != p.Title && i < mostEntries && slices.Contains(on, ChangeUpdated):
			must = append(must, string(ChangeUpdated)+p.GUID)
		}
		listed[p.GUID] = true
		r.known[p.GUID] = p.Title
		delete(r.left, p.GUID)
	}
	gone := 0
	for id := range r.known {
		if _, ok := r.left[id]; !ok && !listed[id] {
			gone++
		}
	}
	for id := range r.known {
		if !listed[id] {
			r.left[id] += gone
		}
	}
	return must, may
}

// fickle is a feed that does to its list whatever feeds do.
type fickle struct {
	random   *rand.Rand
	list     []int // entries, as listed
	gone     []int
	revision map[int]int
	last     int
}

func (f *fickle) change() {
	for range 1 + f.random.IntN(3) {
		switch f.random.IntN(8) {
		case 0: // grows
			f.add(f.random.IntN(1500))
		case 1:
			f.random.Shuffle(len(f.list), func(i, j int) { f.list[i], f.list[j] = f.list[j], f.list[i] })
		case 2: // is cut
			keep := f.random.IntN(len(f.list) + 1)
			f.gone, f.list = append(f.gone, f.list[keep:]...), f.list[:keep:keep]
		case 3: // comes back
			n := min(len(f.gone), f.random.IntN(200))
			f.list, f.gone = slices.Concat(f.gone[len(f.gone)-n:], f.list), f.gone[:len(f.gone)-n]
		case 4: // loses some in the middle
			kept := f.list[:0:0]
			for _, e := range f.list {
				if f.random.IntN(10) == 0 {
					f.gone = append(f.gone, e)
				} else {
					kept = append(kept, e)
				}
			}
			f.list = kept
		case 5: // edits
			for range min(len(f.list), 5) {
				f.revision[f.list[f.random.IntN(len(f.list))]]++
			}
		default:
			f.add(f.random.IntN(30))
		}
	}
}

// add puts new entries in front.
func (f *fickle) add(n int) {
	fresh := make([]int, n)
	for i := range fresh {
		f.last++
		fresh[n-1-i] = f.last
	}
	f.list = append(fresh, f.list...)
	if n := min(len(f.list), 3000); n < len(f.list) {
		f.gone, f.list = append(f.gone, f.list[n:]...), f.list[:n:n]
	}
}

// posts is the document, with some entries twice.
func (f *fickle) posts() (posts []Post) {
	for _, e := range f.list {
		p := Post{GUID: fmt.Sprintf("urn:%d", e), URL: fmt.Sprintf("https://a.example/%d", e), Title: fmt.Sprintf("%d, revision %d", e, f.revision[e])}
		if e%2 == 0 {
			p.Published = noon
		}
		posts = append(posts, p)
		if f.random.IntN(50) == 0 {
			posts = append(posts, p)
		}
	}
	return posts
}

// The id of an entry is made of guid and link where its document gives one guid to several links. It stays known when that
// begins and when it ends.
func TestMemoryOfOneGUIDForSeveral(t *testing.T) {
	one, two, three := Post{GUID: "x", URL: "https://a.example/1", Title: "One"}, Post{GUID: "x", URL: "https://a.example/2", Title: "Two"}, Post{GUID: "x", URL: "https://a.example/3", Title: "Three"}
	for name, documents := range map[string][][]Post{
		"it begins":          {{one}, {two, one}},
		"it ends":            {{two, one}, {two}},
		"it comes and goes":  {{one}, {two, one}, {two}, {three, two, one}, {one}},
		"the same in rounds": {{two, one}, {one}, {two, one}, {two}, {one, two}},
	} {
		var m Memory
		fired := map[string]int{}
		for _, posts := range documents {
			for _, e := range m.sort(posts, []Change{ChangeNew}, mostEntries) {
				fired[e.Title]++
			}
		}
		for title, n := range fired {
			if n != 1 {
				t.Errorf("%s: %s fired %d times", name, title, n)
			}
		}
		if len(fired) < 2 {
			t.Errorf("%s: fired %v", name, fired)
		}
	}
}

// A workflow that begins with what comes next takes all that is there for known, beyond the first 100, too.
func TestBaselineKnowsAll(t *testing.T) {
	w := watchFor(func(d *Definition) { d.Trigger.Config.FirstPoll = FirstBaseline })
	names := make([]string, 300)
	for i := range names {
		names[i] = fmt.Sprint("e", i)
	}
	for _, document := range [][]string{names, names[150:], append([]string{"new"}, names[250:]...)} {
		fired := firing(w.Observe(listed(document...), plainMeans).Fired)
		if want := map[bool]string{true: "new"}[document[0] == "new"]; fired != want {
			t.Errorf("a document that begins with %s fired %q, want %q", document[0], fired, want)
		}
	}
}
