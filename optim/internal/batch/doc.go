// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package batch fits many rows of data by the Levenberg-Marquardt method in lock step. A
// Worker runs one compiled program whose lanes hold a row each (worker.go, rows.go); after
// every run each lane judges its own step (iteration.go, polish.go) and solves its own small
// normal equations (normal_equations.go, trust_region_step.go, orthogonal.go). A lane whose
// fit has ended takes the next row. The numbers of a row depend on no other row.
package batch
