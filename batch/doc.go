// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package batch runs one kind of work over a long list of items, on one machine or on many.
//
// A [Manifest] lists the items. It is made once: every worker reads the same file, and every result
// carries its hash. A [Shard] is one worker's part of the list: all of it on one machine, every n-th
// block of it for the i-th of n tasks of a cluster ([FromEnv]). [Run] works through a shard and leaves
// its results in a [Store], a folder in which every file appears under its name only once it is
// complete. What is there is done, so a run is resumed by starting it again. [Store.Merge] merges the
// results of all shards in the order of the items, and says what is missing.
//
//	m, err := batch.Open("run/manifest.txt")
//	shard, err := batch.FromEnv()
//	progress, err := batch.Run(ctx, m, task, batch.Settings{Store: "run/results", Shard: shard})
//
// The result of an item depends only on the item and the manifest, not on the number of shards or
// workers or on the order in which they work. Random numbers are keyed by [Seed], which combines the
// manifest's seed with the item.
package batch
