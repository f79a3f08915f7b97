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

// Correlations that are 0 are told from C2 - 1, which is near 0.
func TestCorrelationsThatAreZero(t *testing.T) {
	c := config(t, flow)
	for value, want := range map[float64]string{0: "at least half of all C2 is 0", 0.1: "add 1 if this is C2 - 1"} {
		p := sheared(t, c, truth, 0.5, 0.4, 0.5)
		c2 := *p.C2
		c2.C2 = nil
		for _, m := range p.C2.C2 {
			c2.C2 = append(c2.C2, slices.Repeat([]float64{value}, len(m)))
		}
		if _, err := motion.New(c, &c2, p.Data.Setup.Times); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("C2 of %g: %v", value, err)
		}
	}
}
