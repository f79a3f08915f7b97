// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package motion_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/models/twotime/motion"
)

// Chains of the likelihood of frames start where the covariance of the frames has an inverse, which random places seldom have.
func TestStartsOfFrames(t *testing.T) {
	p := sheared(t, config(t, still), truth[:3], 0.5, 0.5, 0.5)
	p.Data.Noise = slices.Repeat([]twotime.Noise{{Speckles: 3000, InverseCount: 2}}, 3)
	priors, err := p.Priors()
	if err != nil {
		t.Fatal(err)
	}
	post, err := twotime.New(t.Context(), p.Data, priors, twotime.PosteriorSettings{Likelihood: twotime.ByFrames})
	if err != nil {
		t.Fatal(err)
	}
	starts := motion.Starts(post, 4, 1)
	if len(starts) != 4 {
		t.Fatalf("%d starts for 4 chains", len(starts))
	}
	for k, q := range starts {
		if density, err := post.LogProbGrad(q, make([]float64, len(q))); err != nil || math.IsNaN(density) || math.IsInf(density, 0) {
			t.Errorf("chain %d starts where the log density is %g, %v", k, density, err)
		}
	}
	post.Mode = &infer.Mode{Unconstrained: []float64{1}} // of which Laplace's approximation is an error
	if starts := motion.Starts(post, 4, 1); len(starts) != 4 || !slices.Equal(starts[3], post.Mode.Unconstrained) {
		t.Errorf("without an approximation about the mode: %v", starts)
	}
	n := len(p.Data.Setup.Times)
	for i := range n {
		p.Data.C2[1][i*n+i] = 1
	}
	if _, err := twotime.New(t.Context(), p.Data, priors, twotime.PosteriorSettings{Likelihood: twotime.ByFrames}); err == nil || !strings.Contains(err.Error(), "the diagonal of angle 1 is not as it was measured") {
		t.Errorf("a diagonal of ones: %v", err)
	}
}
