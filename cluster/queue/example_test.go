// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package queue_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/cluster/queue"
)

// squares is a task that squares the number of each item.
type squares struct{}

func (squares) Columns() []batch.Column {
	return []batch.Column{{Name: "square", Kind: batch.Integer}}
}

func (squares) Do(ctx context.Context, items batch.Range, put func(batch.Record)) error {
	for item := items.Item; item < items.Item+items.Count; item++ {
		put(batch.Record{Item: item, Numbers: []float64{float64(item * item)}})
	}
	return nil
}

// A leader distributes five items to a worker. Usually they are processes on different machines that share a folder;
// here both run in one program.
func Example() {
	dir, err := os.MkdirTemp("", "queue")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	manifest, store := filepath.Join(dir, "manifest.txt"), batch.Store(filepath.Join(dir, "results"))
	m, err := batch.Create(manifest, batch.Header{Command: "squares"},
		func(add func(source string, row, count int64) error) error { return add("numbers", 0, 5) })
	if err != nil {
		log.Fatal(err)
	}

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	work := func(a queue.Access) {
		_, err := queue.Work(ctx, a, queue.WorkSettings{
			Open: func(*batch.Manifest) (batch.Task, error) { return squares{}, nil },
			// Items that crash their process are processed by processes of their own, to find the one that does.
			Alone: func(ctx context.Context, manifest string, store batch.Store, items []batch.Span) *exec.Cmd {
				return exec.CommandContext(ctx, "squares", "alone", manifest, string(store), fmt.Sprint(items))
			},
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	status, err := queue.Lead(ctx, manifest, queue.LeadSettings{Store: store, Ready: func(a queue.Access) { go work(a) }})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(status.Done, "of", status.Items, "items are done.")
	if _, err := store.Merge(m, func(r batch.Record) error {
		fmt.Println(r.Item, r.Numbers)
		return nil
	}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// 5 of 5 items are done.
	// 0 [0]
	// 1 [1]
	// 2 [4]
	// 3 [9]
	// 4 [16]
}
