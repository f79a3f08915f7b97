// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package correlate_test

import "testing"

// Over 400 movies of each kind, g2 departs from 1 by its error within 15 %, and at each delay within 30 %.
func TestErrorsOfFewPhotonsAtLength(t *testing.T) { errorsOfFewPhotons(t, 400, 0.3, 0.15) }
