// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package correlate_test

import "testing"

// Of 1,200 right movies none has a stray reading.
func TestNoStrayReadingsInManyRightMovies(t *testing.T) { noStrays(t, 30) }
