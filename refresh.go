package freshet

import "time"

// Refresh is a poll that a person or a script asked for (S5, S10). It is a row that whoever holds
// the sources carries out, so that it survives a restart and works with many instances.
type Refresh struct {
	ID          ID
	Kind        RefreshKind
	RequestedAt time.Time
	FinishedAt  time.Time // zero while it runs
	Total       int       // sources that it asked for and could ask
	Done        int       // polls that ended, failed ones included
	Failed      int
	PutOff      int // sources whose server asked for a pause meanwhile; counted in Done too
	NewItems    int
}

// RefreshKind tells what asked for the refresh.
type RefreshKind string

const (
	ByHand   RefreshKind = "refresh"
	ByIngest RefreshKind = "ingest"
)

// Running says that polls of the refresh are still to come.
func (r Refresh) Running() bool { return r.FinishedAt.IsZero() }

// Event is one line of the log that pages follow (server-sent events): numbered without gaps in the
// order of commits, kept for a day.
type Event struct {
	Seq  int64
	At   time.Time
	Kind EventKind
	Data []byte // JSON
}

// EventKind names what happened.
type EventKind string

const (
	EventItems   EventKind = "items"   // {"count": 3, "item_ids": ["..."], "feed_ids": ["..."]}
	EventFeed    EventKind = "feed"    // a feed's health changed, or it was added or removed: {"feed_id": "...", "status": "..."}
	EventTexts   EventKind = "texts"   // words of items that came before can be searched for now: {"count": 3}
	EventRefresh EventKind = "refresh" // progress: the refresh as the API shows it
)
