// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/batch"
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

// Six items are divided between two shards, which could run on two machines. The results can be merged
// once both shards are complete.
func Example() {
	dir, err := os.MkdirTemp("", "batch")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	m, err := batch.Create(filepath.Join(dir, "manifest.txt"), batch.Header{Command: "squares", Block: 2},
		func(add func(source string, row, count int64) error) error { return add("numbers", 0, 6) })
	if err != nil {
		log.Fatal(err)
	}

	store := batch.Store(filepath.Join(dir, "results"))
	for i := range 2 {
		shard := batch.Shard{Index: i, Count: 2}
		progress, err := batch.Run(context.Background(), m, squares{}, batch.Settings{Store: store, Shard: shard})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(shard, "has processed", progress.Done, "items.")
		_, err = store.Merge(m, func(r batch.Record) error {
			fmt.Println(r.Item, r.Numbers)
			return nil
		})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// shard-00000-of-00002 has processed 4 items.
	// 2 of 6 items have no result: 2-3; no process has started shard-00001-of-00002
	// shard-00001-of-00002 has processed 2 items.
	// 0 [0]
	// 1 [1]
	// 2 [4]
	// 3 [9]
	// 4 [16]
	// 5 [25]
}
