// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package special holds special functions of statistics and physics that the standard library lacks:
// in Go, and the same algorithms as C text for devices, in constants whose names begin with CUDA.
// Arguments and results are float64 numbers.
package special
