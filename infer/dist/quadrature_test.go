// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"testing"

	"github.com/euryale-dev/euryale/infer/dist/disttest"
)

// The densities of every continuous distribution integrate to 1, and its mean and variance are integrals of its
// density.
func TestDensitiesIntegrate(t *testing.T) {
	for _, l := range inTurn() {
		if !l.New(l.At[0]...).Discrete {
			disttest.Integrates(t, l)
		}
	}
}
