// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package work provides the kinds of work that package batch can run over a list of items: fits of many
// result files, posteriors of many curves, chains of one posterior, scattering of many morphologies and
// energies, replicates of a calibration, and sweeps of any command. Each kind has a file of its own and
// an entry in the list in kind.go.
//
// A configuration in YAML describes the work:
//
//	work: fit g2
//	files: results/*.hdf
//	model: single
//	seed: 1
//
// [Read] reads it, [List.Create] turns it into a manifest, and [Open] returns the task that package
// batch runs:
//
//	list, err := work.Read("fits.yaml")
//	m, err := list.Create("fits/manifest.txt")
//	task, err := work.Open(m, work.Env{})
//	progress, err := batch.Run(ctx, m, task, batch.Settings{Store: "fits/results", Shard: batch.Whole})
package work
