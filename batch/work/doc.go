// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package work has the kinds of work that a list of package batch can be of: fits of many result
// files, posteriors of many curves, chains of one posterior, scattering of many morphologies and
// energies, replicates of a calibration, and sweeps of any command. Each is in a file of its own, and in
// the list of kinds in kind.go.
//
// A configuration in YAML says what is done:
//
//	work: fit g2
//	files: results/*.hdf
//	model: single
//	seed: 1
//
// [Read] reads it, [List.Create] makes the manifest of it, and [Open] what package batch runs:
//
//	list, err := work.Read("fits.yaml")
//	m, err := list.Create("fits/manifest.txt")
//	task, err := work.Open(m, work.Env{})
//	progress, err := batch.Run(ctx, m, task, batch.Settings{Store: "fits/results", Shard: batch.Whole})
package work
