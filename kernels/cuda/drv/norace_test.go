// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !race

package drv

// raceDetector is not set: sync.Pool keeps things, and tests may count allocations.
const raceDetector = false
