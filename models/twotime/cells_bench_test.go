// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/infer/dist"
)

var benchPriors = Priors{Motion: map[string]dist.Dist{
	"log_D0": dist.Normal(math.Log(1000), 1), "alpha": dist.Normal(0, 0.5), "D_offset": dist.HalfNormal(500),
	"log_gamma_dot_t0": dist.Normal(math.Log(1e-4), 1), "beta": dist.Normal(0, 0.5), "gamma_dot_t_offset": dist.HalfNormal(1e-4), "phi0": dist.Normal(0, 10),
}}

// BenchmarkCells times the log density of cells and its gradient, of 23 angles of 1000 frames.
func BenchmarkCells(b *testing.B) {
	d, _ := shear(b, 23, 1000, 0.02)
	p := benchPriors
	p.defaults()
	c, err := prepareCells(&d, &p, PosteriorSettings{})
	if err != nil {
		b.Fatal(err)
	}
	for k := range d.C2 {
		c.white[k] = c.rough(k)
	}
	post, err := c.posterior()
	if err != nil {
		b.Fatal(err)
	}
	q, g := make([]float64, post.Dim()), make([]float64, post.Dim())
	b.Logf("%d cells of %d nodes", len(c.blocks.cells), c.blocks.nodes)
	for b.Loop() {
		if _, err := post.LogProbGrad(q, g); err != nil {
			b.Fatal(err)
		}
	}
}
