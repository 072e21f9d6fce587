package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// townPapers are what a made-up town reads: for pictures and for tests that look at every page.
var townPapers = []struct {
	path, name, folder string
	items              []string // "minutes ago | title | text"
}{
	{"/gazette", "The Harbour Gazette", "Town", []string{
		"12|Night ferry returns after eleven years|The first crossing leaves at a quarter past ten on Friday. Tickets are sold on board, and bicycles travel free until the end of March.",
		"95|Library opens its reading room on Sundays|Volunteers will keep the ground floor open from noon to six, with tea at four. The newspapers of the last hundred years are on the shelves to the left.",
		"410|Old rope works to become forty flats and a theatre|The council voted seven to four for the plan that keeps the long brick hall as it is.",
		"1500|A quiet storm: what the wind took on Tuesday|Two trees, one chimney, and the weathercock of St Anne’s, which has been found in the orchard behind the school.",
	}},
	{"/tide", "Tidewater Science", "Science", []string{
		"38|Seagrass meadows store more carbon than anyone counted|Cores from nineteen bays show layers that are a thousand years old and still growing. Where boats drop anchor, the record stops.",
		"260|The eel’s last mile, followed by a drone|For the first time a team has watched silver eels leave the river mouth on a moonless night and turn south-west.",
		"1720|Why some pebbles ring when they are struck|It is not the mineral. It is the shape, and a very slow kind of polishing.",
	}},
	{"/machines", "Small Machines", "Code", []string{
		"52|A parser in eighty lines that never panics|Start from the errors. What a reader does with bad input is most of what it does, so we write that part first and the happy path falls out of it.",
		"330|Timeouts are a user interface|Whoever waits wants to know for how long. Three ways to say so, and one that lies.",
		"1610|Notes on keeping one file of state|Write, sync, rename, sync the folder. Then pull the plug a few thousand times.",
	}},
	{"/sky", "Northern Sky", "Science", []string{
		"75|Two comets before breakfast|Look low in the east an hour before sunrise, from Thursday on. Binoculars help with the fainter one; patience helps with both.",
		"1480|A dark-sky lane along the old railway|Eleven street lamps were taken down, forty-one were turned. The Milky Way was back the same evening.",
	}},
	{"/kitchen", "Slow Kitchen", "Home", []string{
		"150|Bread with yesterday’s porridge|A cup of cold oats keeps the crumb soft for four days. Fold, wait, fold, and bake it darker than you dare.",
		"1560|Six things to do with the last of the quinces|Paste, syrup, pickle, a tart, a drawer full of scent, and a jam that sets by itself.",
	}},
	{"/birds", "Field Notes", "Home", []string{
		"205|Waxwings on the rowans by the station|At least sixty, and so busy that they let the 8.40 stop next to them. Ring counts are welcome.",
		"1650|How to tell a marsh tit from a willow tit, again|Listen. Then look at the bib, doubt yourself, and listen once more.",
	}},
	{"/paper", "Paper & Thread", "Home", []string{
		"290|The bookbinder’s knot, drawn from both sides|Four drawings and a mistake that I made for twenty years.",
	}},
	{"/small", "الجريدة الصغيرة", "Town", []string{
		"120|سوق السبت يعود إلى الساحة القديمة|يبدأ السوق في الثامنة صباحا، وفيه خبز وزيتون وكتب مستعملة.",
	}},
}

// townFerries is a run of one source within an hour, which the river folds.
var townFerries = []string{"06:10 on time", "06:40 on time", "07:10 five minutes late", "07:40 on time", "08:10 cancelled, fog", "08:40 on time"}

// town is a server with a river as people have one: some weeks of it, polled many times.
type town struct {
	server
	stand *newsstand
	ids   map[string]string // of sources, by name
}

// newTown fills a server with the town's papers. Their feeds are polled a number of times, so that they have a history.
func newTown(t *testing.T, polls int) town {
	t.Helper()
	w := town{reader(t, "FRESHET_DELIVER_ALLOW=127.0.0.0/8"), newNewsstand(t, "127.0.0.2"), map[string]string{}}
	now := time.Now()
	add := func(path, name, folder string, list []entry) {
		w.ids[name] = w.addAs(t, map[string]any{"url": w.stand.feed(path, name, list...), "folder": folder})
	}
	for n, p := range townPapers {
		add(p.path, p.name, p.folder, townEntries(n, now))
	}
	var ferries []entry
	for i, line := range townFerries {
		at := now.Add(-7*time.Hour - time.Duration(i*8)*time.Minute)
		ferries = append(ferries, entry{fmt.Sprint("urn:ferry:", i), "Ferry " + line, fmt.Sprint("https://ferries.example/", i), fmt.Sprint("Departure ", line, "."), at})
	}
	add("/ferries", "Ferry Times", "Town", ferries)
	add("/notices", "City Notices", "Town", townArchive("City Notices", now))
	// The Gazette carries what Tidewater Science found out.
	w.stand.feed(townPapers[0].path, townPapers[0].name, append(townEntries(0, now), townEntries(1, now)[0])...)
	for i := range polls {
		if i == polls-4 {
			w.stand.status("/notices", http.StatusBadGateway)
		}
		if i == polls-1 {
			w.stand.status("/paper", http.StatusNotFound)
		}
		w.poll(t)
	}
	return w
}

// townEntries is what a paper of the town lists; the first two have an archive, too.
func townEntries(n int, now time.Time) (list []entry) {
	p := townPapers[n]
	for i, line := range p.items {
		parts := strings.SplitN(line, "|", 3)
		ago, err := time.ParseDuration(parts[0] + "m")
		if err != nil {
			panic(err) // it is written above
		}
		address := fmt.Sprintf("https://papers.example%s/%d", p.path, i)
		list = append(list, entry{address, parts[1], address, parts[2], now.Add(-ago)})
	}
	if n < 2 {
		list = append(list, townArchive(p.name, now)...)
	}
	return list
}

// townArchive is what a paper published in the four weeks before.
func townArchive(name string, now time.Time) (list []entry) {
	subjects := []string{"The market", "A bridge", "The school orchestra", "Low water", "The lighthouse", "A very old map", "The allotments", "Winter light"}
	what := []string{"and what it costs to keep", "seen from the other bank", "in eleven photographs", "a correction", "is looking for helpers", "before and after"}
	for i := range 40 {
		at := now.Add(-time.Duration(44+i*15+len(name)+i*i%11) * time.Hour)
		title := subjects[(i*3+len(name))%len(subjects)] + ": " + what[(i*5+len(name)*2)%len(what)]
		list = append(list, entry{fmt.Sprintf("urn:%s:%d", name, i), title, fmt.Sprintf("https://papers.example/archive/%d/%d", len(name), i),
			fmt.Sprintf("%s, told by those who were there. Part %d of a series in %s.", title, i+1, name), at})
	}
	return list
}

// watch adds workflows as people have them: one that delivers, one whose receiver refuses, one that is paused, one that
// waits for a worker. It returns the ids of the first, and of a run that failed.
func (w town) watch(t *testing.T) (flow, failed string) {
	t.Helper()
	taking := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	refusing := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(taking.Close)
	t.Cleanup(refusing.Close)
	flow = w.addFlow(t, "Ferries to the notice board", "/ferries", `not (title contains "on time")`, true, taking.URL)
	bad := w.addFlow(t, "Comets to the observatory", "/sky", "", true, refusing.URL)
	w.addFlow(t, "Recipes to the printer", "/kitchen", "", false, taking.URL)
	w.addFlow(t, "Field notes for the counting script", "/birds", "", true)
	w.run(t, flow, "succeeded")
	return flow, w.run(t, bad, "retrying")
}

// addFlow adds a workflow on a feed of the stand, whose entries go to the receivers one by one.
func (w town) addFlow(t *testing.T, name, path, filter string, enabled bool, receivers ...string) (id string) {
	t.Helper()
	actions := []any{}
	for _, r := range receivers {
		actions = append(actions, map[string]any{"type": "webhook", "url": r})
	}
	body, err := json.Marshal(map[string]any{"name": name, "enabled": enabled, "batch": "item", "filter": filter, "actions": actions,
		"trigger": map[string]any{"type": "poll", "config": map[string]any{"url": w.stand.url + path, "interval_minutes": 15, "content_type": "rss"}}})
	must(t, err)
	var added struct{ ID string }
	must(t, post(w.url+"/api/workflows", "application/json", strings.NewReader(string(body)), &added))
	return added.ID
}

// run waits until a workflow has a run in a state, and returns its id.
func (w town) run(t *testing.T, flow, state string) (id string) {
	t.Helper()
	await(t, "a run to be "+state, func() (bool, error) {
		var page struct {
			Executions []struct{ ID string } `json:"executions"`
		}
		err := get(w.url+"/api/workflows/"+flow+"/executions?limit=1&state="+state, &page)
		if len(page.Executions) > 0 {
			id = page.Executions[0].ID
		}
		return id != "", err
	})
	return id
}
