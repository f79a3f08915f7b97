// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package twotime_test

import "testing"

// With more movies the intervals are seen to hold what they say; where the model bends, standard deviations are those of lopsided intervals and so
// somewhat larger than the scatter.
func TestSharedErrorsOfManyMovies(t *testing.T) { sharedErrors(t, 300, 0.78, 1.12) }
