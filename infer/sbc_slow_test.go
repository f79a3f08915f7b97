// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package infer_test

import (
	"testing"

	"github.com/euryale-dev/euryale/infer"
)

// A thousand fits at the default settings each.
func TestSBCThousand(t *testing.T) {
	t.Run("eight schools", func(t *testing.T) { calibrated(t, schoolsPosterior(t), infer.SBCSettings{}) })
	t.Run("single exponential", func(t *testing.T) { calibrated(t, decayPosterior(t), infer.SBCSettings{}) })
	t.Run("hidden Markov chain", func(t *testing.T) { calibrated(t, switching(t), infer.SBCSettings{}) })
}
