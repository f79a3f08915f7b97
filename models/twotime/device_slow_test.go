// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package twotime

import "testing"

// Posteriors of the other likelihoods, whose graphs run on the GPU as a whole.
func TestPosteriorsOnDevice(t *testing.T) { posteriorsOnDevice(t, ByCells, ByPairs, ByFrames) }
