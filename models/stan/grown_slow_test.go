// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package stan_test

import "testing"

// TestManyGrownPrograms is TestGrownPrograms with more of them.
func TestManyGrownPrograms(t *testing.T) { grown(t, 25, 1000) }
