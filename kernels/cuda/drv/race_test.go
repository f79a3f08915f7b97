// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build race

package drv

// raceDetector is set where the race detector makes sync.Pool forget things on purpose.
const raceDetector = true
