// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package compiler turns a graph of operations into a program: arrays in memory, and
// passes over them. It knows nothing of the machine that runs the program.
//
// # Passes
//
// The rewriter (graph.go, simplify.go, fold.go, reduction.go) merges equal values, folds
// constants and applies algebra as the graph is entered. layout.go decides which values
// are views of others. fusion.go and fusion_late.go group values into jobs. memory_plan.go
// gives them arrays. lower.go makes each group a loop over tiles of a few registers.
// Build runs them in this order and can show what each has made.
//
// # Jobs
//
// A program is a list of jobs. A cluster is a job of many elementwise values of
// one shape and the reductions of them: one pass over the elements, tile by
// tile, with intermediate values in tile-sized registers. A step is a job of one
// value that works on whole arrays.
//
// The stage of a value counts the passes that must end before it can start: 0
// for what needs only leaves, one more than an input that must be complete in
// memory (a reduction, a step, a value of another shape), the same as an input
// that the same cluster makes. Values of one stage and shape form one cluster,
// and one that nothing needs before a later cluster of its shape becomes part of
// that: see fusion_late.go.
package compiler
