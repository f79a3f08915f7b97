// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package noise

import (
	"math"
	"testing"

	"github.com/euryale-dev/euryale/sim/xpcs/transport"
	"github.com/euryale-dev/euryale/tensor"
)

// Simulated scores scatter as sums of weighted entries do over movies, also where pairs are left out; without cumulants and without the frames'
// means, variances of strong speckles are off.
func TestSimulatedScoresAreTheScatterOfMovies(t *testing.T) {
	const frames, pixels, movies, contrast, inverse = 12, 256, 1500, 0.5, 0.2
	f, err := NewFields(setup(transport.Static, frames))
	if err != nil {
		t.Fatal(err)
	}
	g, parts, err := f.At(motions[transport.Static], 0)
	if err != nil {
		t.Fatal(err)
	}
	source, err := NewSpeckles(parts, frames, contrast, 1, inverse)
	if err != nil {
		t.Fatal(err)
	}
	c, weights, ones := make([]float64, len(g)), make([]float64, len(g)), make([]float64, len(g))
	for i := range frames {
		for j := range frames {
			k := i*frames + j
			c[k], ones[k] = contrast*g[k], 1
			if i != j && i != 3 && j != 3 {
				weights[k] = 1 + 0.1*float64(i+j)
			}
		}
	}
	told := source.SimulatedScores(c, weights, [][]float64{g, ones}, 20000, tensor.NewStream(1, 0, 0))
	var mean, second [2]float64
	both, scatter := 0., 0.
	entries := make([]float64, len(g)) // means of the entries over movies
	all := make([][]float64, movies)
	for movie := range movies {
		all[movie] = source.Correlated(pixels, tensor.NewStream(2, 0, uint32(movie)))
		for k, v := range all[movie] {
			entries[k] += v / movies
		}
	}
	for _, c2 := range all {
		var score [2]float64
		for i := range frames {
			for j := i + 1; j < frames; j++ {
				k := i*frames + j
				r := c2[k] - entries[k]
				score[0], score[1] = score[0]+weights[k]*g[k]*r, score[1]+weights[k]*r
				scatter += weights[k] * r * r * pixels / movies
			}
		}
		for a, v := range score {
			mean[a], second[a] = mean[a]+v/movies, second[a]+v*v*pixels/movies
		}
		both += score[0] * score[1] * pixels / movies
	}
	for name, pair := range map[string][2]float64{"first score": {second[0], told.Q.At(0, 0)}, "second score": {second[1], told.Q.At(1, 1)}, "both scores": {both, told.Q.At(0, 1)}, "entries": {scatter, told.Scatter}} {
		if math.Abs(pair[0]/pair[1]-1) > 0.12 {
			t.Errorf("the scatter of %s over movies is %.4g, of simulated pixels %.4g", name, pair[0], pair[1])
		}
	}
}
