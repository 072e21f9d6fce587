package store

import (
	"context"
	"errors"
	"time"

	"freshet"
)

var errPending = errors.ErrUnsupported

func (s *Store) Watch(ctx context.Context, changed func()) error { return errPending }

type Watched struct {
	Source freshet.Source
	Host   freshet.Host
}
type NewSource struct {
	Type                        freshet.Type
	URL, Title, Folder, SiteURL string
	Config                      freshet.Config
	Hidden                      bool
	AtOnce                      bool
}
type Added struct {
	Watched
	Known bool
}

func (s *Store) AddSource(ctx context.Context, n NewSource, now time.Time) (Watched, error) {
	return Watched{}, errPending
}
func (s *Store) AddSources(ctx context.Context, list []NewSource, now time.Time) ([]Added, error) {
	return nil, errPending
}
func (s *Store) Source(ctx context.Context, id freshet.ID) (Watched, error) {
	return Watched{}, errPending
}
func (s *Store) FindSource(ctx context.Context, urlOrID string) (Watched, error) {
	return Watched{}, errPending
}

type SourceFilter struct {
	Hidden, Removed bool
	IDs             []freshet.ID
}

func (s *Store) Sources(ctx context.Context, f SourceFilter) ([]Watched, error) {
	return nil, errPending
}
func (s *Store) EditSource(ctx context.Context, id freshet.ID, now time.Time, edit func(*Watched) error) (Watched, error) {
	return Watched{}, errPending
}
func (s *Store) RemoveSource(ctx context.Context, id freshet.ID, now time.Time) error {
	return errPending
}
func (s *Store) Acquire(ctx context.Context, owner string, ttl time.Duration, now time.Time) ([]int, error) {
	return nil, errPending
}
func (s *Store) AcquireFree(ctx context.Context, owner string, ttl time.Duration, now time.Time) ([]int, error) {
	return nil, errPending
}
func (s *Store) ReleaseLeases(ctx context.Context, owner string) error { return errPending }
func (s *Store) AcquireJob(ctx context.Context, job, owner string, ttl time.Duration, now time.Time) (bool, error) {
	return false, errPending
}

type ClaimRequest struct {
	Shards  []int
	Busy    []freshet.ID
	Refresh freshet.ID
	Limit   int
}

func (s *Store) Claim(ctx context.Context, r ClaimRequest, now time.Time) ([]Watched, error) {
	return nil, errPending
}
func (s *Store) NextDue(ctx context.Context, shards []int) (time.Time, error) {
	return time.Time{}, errPending
}

type Poll struct {
	Source  freshet.ID
	Seq     int64
	Outcome *freshet.Outcome
}
type Finished struct {
	Watched
	Recorded                      bool
	New, Edited, TooOld, NewItems int
	Disabled, Moved, Unhealthy    bool
}

func (s *Store) FinishPolls(ctx context.Context, polls []Poll, now time.Time) ([]Finished, error) {
	return nil, errPending
}
func (s *Store) SpreadOverdue(ctx context.Context, shards []int, now time.Time) (int, error) {
	return 0, errPending
}
func (s *Store) Forgive(ctx context.Context, ids []freshet.ID, again time.Time) error {
	return errPending
}

type Started struct {
	freshet.Refresh
	Joined bool
	PutOff []PutOff
}
type PutOff struct {
	Source freshet.Source
	Until  time.Time
}

func (s *Store) StartRefresh(ctx context.Context, kind freshet.RefreshKind, ids []freshet.ID, now time.Time) (Started, error) {
	return Started{}, errPending
}
func (s *Store) Refresh(ctx context.Context, id freshet.ID) (freshet.Refresh, error) {
	return freshet.Refresh{}, errPending
}
func (s *Store) RunningRefresh(ctx context.Context) (freshet.Refresh, bool, error) {
	return freshet.Refresh{}, false, errPending
}

type RefreshResult struct {
	Source freshet.Source
	Result freshet.Result
	New    int
	Error  string
}

func (s *Store) RefreshResults(ctx context.Context, id freshet.ID) ([]RefreshResult, error) {
	return nil, errPending
}
func (s *Store) Events(ctx context.Context, after int64, limit int) ([]freshet.Event, error) {
	return nil, errPending
}
func (s *Store) LastEvent(ctx context.Context) (int64, error)  { return 0, errPending }
func (s *Store) FirstEvent(ctx context.Context) (int64, error) { return 0, errPending }
