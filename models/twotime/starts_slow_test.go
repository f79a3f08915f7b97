// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package twotime

import "testing"

// The search is as good with the data of a measurement of usual size.
func TestSeveralStartsOfManyFrames(t *testing.T) {
	severalStarts(t, 120, 0.02, -70, -30, 0, 25, 60, 100, 140)
}

// A fit of very many angles ends soon.
func TestHundredsOfAngles(t *testing.T) { manyAngles(t, 500) }
