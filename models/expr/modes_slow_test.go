// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package expr_test

import "testing"

// No run passes whose draws lack more than 5 % of the posterior.
func TestNoPassWithoutModes(t *testing.T) {
	for _, c := range posteriorsOfSeveralModes() {
		c.check(t, 10)
	}
}

// Of 10 runs of each posterior with one hard mode none is said to miss another.
func TestHardModeIsOne(t *testing.T) {
	for name, text := range posteriorsOfOneMode {
		oneMode(t, name, text, 10)
	}
}
