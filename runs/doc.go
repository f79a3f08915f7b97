// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package runs manages the folders that hold the results of runs.
//
// A [Folder] holds the settings of a run, its checkpoint while it runs, its draws and the
// data for its report. A [Writer] makes such folders and locks them, so that no two
// processes write to the same one, and refuses folders that hold foreign files.
//
//	w := &runs.Writer{Command: "my study", Program: "study 1.0"}
//	defer w.Release()
//	dir, err := w.Create("run4", false)
//	err = dir.Begin(settings) // from here on the run can be resumed
//	fit, err := infer.Sample(ctx, post, infer.Settings{Checkpoint: infer.Checkpoint{Path: dir.Path(runs.CheckpointFile)}})
//	err = dir.SaveDraws(fit, nil)
//
// Another day:
//
//	dir := runs.Folder("run4")
//	err := w.Lock("run4")
//	err = dir.Resume("my study", &settings)
//	cfg.Resume = dir.Checkpoint()
//
// The folder has these files. Each appears under its name only once it is complete:
//
//	.euryale         says that the folder is one of ours
//	.lock            the process that writes here, while it runs
//	config.json      command, version, resolved settings, data, starts
//	inputs.json      size, time and hash of the files that resuming reads again
//	checkpoint       state of all chains, replaced as a whole while sampling
//	chain-N.csv      draws, as CmdStan writes them
//	draws.zarr       the same with statistics, log-likelihoods, data and predicted data,
//	                 as ArviZ takes them
//	fit.json         a point fit, such as the one that chains started from
//	summary.json     the results as a document
//	diagnose.txt     the checks in words
//	plots/, report.html
package runs
