// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package twotime_test

import "testing"

// With more movies the errors are seen to be right within a tenth.
func TestSharedErrorsOfManyMovies(t *testing.T) { sharedErrors(t, 300, 0.9, 1.12) }
