package freshet

import (
	"encoding/binary"
	"time"
)

// History is the last 30 polls of a source, newest first, packed into 12 bytes each, for the strip
// on the page.
type History []byte

const (
	historyEntry = 12
	historyKeep  = 30
)

// Poll is one entry of a History.
type Poll struct {
	At     time.Time // to the second
	Took   time.Duration
	Status int // HTTP status, 0 when there was no answer
	Result Result
	New    int // posts stored, at most 65,535
}

var resultCodes = []Result{ResultOK, ResultPartial, ResultError}

// Add returns the history with one more poll.
func (h History) Add(p Poll) History {
	e := make(History, 0, min(len(h)+historyEntry, historyKeep*historyEntry))
	e = binary.LittleEndian.AppendUint32(e, uint32(p.At.Unix()))
	e = binary.LittleEndian.AppendUint16(e, uint16(min(p.Took.Milliseconds(), 1<<16-1)))
	e = binary.LittleEndian.AppendUint16(e, uint16(p.Status))
	e = binary.LittleEndian.AppendUint16(e, uint16(min(p.New, 1<<16-1)))
	code := byte(0)
	for i, r := range resultCodes {
		if r == p.Result {
			code = byte(i)
		}
	}
	e = append(e, code, 0)
	return append(e, h[:min(len(h)/historyEntry, historyKeep-1)*historyEntry]...)
}

// Polls unpacks the history, newest first.
func (h History) Polls() []Poll {
	polls := make([]Poll, 0, len(h)/historyEntry)
	for ; len(h) >= historyEntry; h = h[historyEntry:] {
		polls = append(polls, Poll{
			At:     time.Unix(int64(binary.LittleEndian.Uint32(h)), 0).UTC(),
			Took:   time.Duration(binary.LittleEndian.Uint16(h[4:])) * time.Millisecond,
			Status: int(binary.LittleEndian.Uint16(h[6:])),
			New:    int(binary.LittleEndian.Uint16(h[8:])),
			Result: resultCodes[min(int(h[10]), len(resultCodes)-1)],
		})
	}
	return polls
}
