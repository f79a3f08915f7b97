// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package twotime_test

import (
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// Posteriors that are sampled with a GPU are those of long runs of another sampler, and of a quadrature.
func TestPosteriorGoldensOnDevice(t *testing.T) {
	pretend.Shared(t)
	posteriorGoldens(t, ad.CUDA{}, 1500)
}

// Long runs show smaller differences.
func TestPosteriorGoldensOfLongRuns(t *testing.T) { posteriorGoldens(t, nil, 1500) }
