// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"math"
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// Scores of a distribution's own draws are standard normal: mean and variance within five
// standard errors, for every scalar distribution with a CDF.
func TestScoresOfOwnDrawsAreNormal(t *testing.T) {
	const n = 300
	tried := 0
	for _, l := range dist.All() {
		for k, at := range l.At {
			args, p := make([]any, len(at)), make([][]float64, len(at))
			for i, v := range at {
				args[i], p[i] = v, []float64{v}
			}
			d := l.Make(args...)
			x, z := make([]float64, n), make([]float64, n)
			src, places := tensor.NewStream(1, 1, uint32(k)), tensor.NewStream(2, 2, uint32(k))
			if d.Event > 0 || math.IsNaN(d.CDF(d.Rand(&src, at), at)) || d.Fill(&src, x, []int{n}, p) != nil {
				continue
			}
			if err := d.Scores(z, x, []int{n}, p, func(int) float64 { return places.Float64() }); err != nil {
				t.Errorf("%s%v: %v", l.Name, at, err)
				continue
			}
			tried++
			mean, square := 0.0, 0.0
			for _, v := range z {
				mean += v / n
				square += v * v / n
			}
			if math.Abs(mean) > 5/math.Sqrt(n) || math.Abs(square-1) > 5*math.Sqrt(2./n) {
				t.Errorf("%s%v: scores have mean %.3f and mean square %.3f", l.Name, at, mean, square)
			}
		}
	}
	if tried < 40 {
		t.Errorf("only %d distributions tried", tried)
	}
}

func TestScoresOfVectorsAreRefused(t *testing.T) {
	d := dist.Dirichlet([]float64{1, 2})
	if err := d.Scores(nil, nil, nil, nil, nil); err == nil {
		t.Error("no error")
	}
	mean, sd := make([]float64, 2), make([]float64, 2)
	if err := dist.Normal([]float64{1, 2}, 3.).MeansAndSDs(mean, sd, []int{2}, [][]float64{{1, 2}, {3}}); err != nil || !slices.Equal(mean, []float64{1, 2}) || !slices.Equal(sd, []float64{3, 3}) {
		t.Error(err, mean, sd)
	}
}

func TestRangeOfSupports(t *testing.T) {
	for _, c := range []struct {
		d      dist.Dist
		lo, hi float64
	}{{dist.Uniform(5, 6), 5, 6}, {dist.Normal(0, 1), math.Inf(-1), math.Inf(1)}, {dist.LogNormal(0, 1), 0, math.Inf(1)}, {dist.Truncate(dist.Normal(0, 1), -1, 2), -1, 2}} {
		if lo, hi, err := dist.Range(c.d); err != nil || lo != c.lo || hi != c.hi {
			t.Errorf("%s: %g to %g, %v", c.d.Name, lo, hi, err)
		}
	}
	if _, _, err := dist.Range(dist.Dirichlet([]float64{1, 2})); err == nil {
		t.Error("vectors have no range")
	}
}
