package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"
)

// call makes a request and reads the whole answer; anything but success is an error.
func call(ctx context.Context, method, url, contentType string, body []byte) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		req.Header.Set("Content-Type", contentType)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode >= 300 {
		err = fmt.Errorf("%s %s: %s: %.300s", method, url, resp.Status, answer)
	}
	return answer, err
}

// ask makes a request and decodes its JSON answer.
func ask(ctx context.Context, method, url string, into any) error {
	answer, err := call(ctx, method, url, "", nil)
	if err != nil {
		return err
	}
	return json.Unmarshal(answer, into)
}

// farmStats is what the farm counted since it was reset.
type farmStats struct {
	Requests        int     `json:"requests"`
	NotModified     int     `json:"not_modified"`
	Conditional     int     `json:"conditional"`
	UniqueFeeds     int     `json:"unique_feeds"`
	HostParallelMax int     `json:"host_parallel_max"`
	HostGapMin      float64 `json:"host_gap_min_ms"`
}

func (b *bench) importFeeds(ctx context.Context) error {
	list, err := call(ctx, "GET", b.farm+"/opml", "", nil)
	if err != nil {
		return err
	}
	_, err = b.phase(ctx, "import", func() error {
		_, err := call(ctx, "POST", b.api+"/api/opml", "text/x-opml", list)
		return err
	})
	return err
}

// refresh polls every feed once and holds what the farm saw.
func (b *bench) refresh(ctx context.Context, name string) (*phase, error) {
	if _, err := call(ctx, "POST", b.farm+"/control/reset", "", nil); err != nil {
		return nil, err
	}
	var progress struct {
		ID         string  `json:"id"`
		Total      int     `json:"total"`
		Failed     int     `json:"failed"`
		NewItems   int     `json:"new_items"`
		State      string  `json:"state"`
		FinishedAt *string `json:"finished_at"`
	}
	p, err := b.phase(ctx, name, func() error {
		if err := ask(ctx, "POST", b.api+"/api/refresh", &progress); err != nil {
			return err
		}
		for progress.State == "running" {
			select {
			case <-ctx.Done():
				return fmt.Errorf("refresh is not over: %+v", progress)
			case <-time.After(200 * time.Millisecond):
			}
			if err := ask(ctx, "GET", b.api+"/api/refresh/"+progress.ID, &progress); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	var seen farmStats
	if err := ask(ctx, "GET", b.farm+"/control/stats", &seen); err != nil {
		return nil, err
	}
	p.Requests, p.NotModified, p.NewItems = seen.Requests, seen.NotModified, progress.NewItems
	b.result.HostAtOnce = max(b.result.HostAtOnce, seen.HostParallelMax)
	b.result.HostGapMin = seen.HostGapMin
	b.result.expect(name+": feeds asked for", progress.Total, b.feeds)
	b.result.expect(name+": feeds asked", seen.UniqueFeeds, b.feeds)
	b.result.expect(name+": failed", progress.Failed, 0)
	b.result.expect(name+": requests to one host at once", seen.HostParallelMax, 1)
	return p, nil
}

// tick lets a tenth of the feeds gain an item and says how many did.
func (b *bench) tick(ctx context.Context) (int, error) {
	var answer struct {
		Updated int `json:"updated_feeds"`
	}
	err := ask(ctx, "POST", b.farm+"/control/tick?rate=0.1", &answer)
	return answer.Updated, err
}

// countItems pages through the whole river: every item is there once.
func (b *bench) countItems(ctx context.Context, when string, want int) error {
	seen := map[string]bool{}
	count, cursor := 0, ""
	for {
		var page struct {
			Items []struct {
				GUID string `json:"guid"`
			} `json:"items"`
			Next *string `json:"next_cursor"`
		}
		if err := ask(ctx, "GET", b.api+"/api/items?limit=1000"+cursor, &page); err != nil {
			return err
		}
		for _, item := range page.Items {
			seen[item.GUID] = true
		}
		count += len(page.Items)
		if page.Next == nil || *page.Next == "" {
			break
		}
		cursor = "&cursor=" + *page.Next
	}
	b.result.Items = count
	b.result.expect(when+": items in the river", count, want)
	b.result.expect(when+": different items in the river", len(seen), want)
	return nil
}

// read asks for a path a number of times.
func (b *bench) read(ctx context.Context, path string) error {
	var took []time.Duration
	size := 0
	for range 50 {
		began := time.Now()
		answer, err := call(ctx, "GET", b.api+path, "", nil)
		if err != nil {
			return err
		}
		took = append(took, time.Since(began))
		size = len(answer)
	}
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.result.Reads = append(b.result.Reads, read{path, ms(took[len(took)/2]), ms(took[len(took)-1]), size / 1024})
	return nil
}
