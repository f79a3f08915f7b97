// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package batch does one kind of work on many items, on one machine or on many.
//
// A [Manifest] lists the items. It is made once; everybody who works on it reads the same file, and
// its hash is in every result. A [Shard] is one worker's part of the list: all of it on one machine,
// every n-th block of it for the i-th of n tasks of a cluster ([FromEnv]). [Run] does a shard and
// leaves its results in a [Store], a folder in which every file appears under its name only once it
// is complete: what is there is done, so that starting again is resuming. [Store.Merge] brings the
// results of all shards together in the order of the items, and says what is missing.
//
//	m, err := batch.Open("run/manifest.txt")
//	shard, err := batch.FromEnv()
//	progress, err := batch.Run(ctx, m, task, batch.Settings{Store: "run/results", Shard: shard})
//
// What an item gives depends on the item and the manifest alone: not on the number of shards or
// workers, nor on the order in which they work. Random numbers are keyed by [Seed] of the manifest's
// seed and the item.
package batch
