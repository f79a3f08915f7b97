// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// The coordinate of a parameter near a bound goes there and back, its rate and log Jacobian are its derivatives, and it stays within both bounds.
func TestCoordinatesNearBounds(t *testing.T) {
	inf := math.Inf(1)
	for _, ends := range [][2]float64{{0.5, 1}, {-inf, 1}, {0, inf}, {0, 2}} {
		for _, above := range []bool{true, false} {
			if above && math.IsInf(ends[1], 1) || !above && math.IsInf(ends[0], -1) {
				continue
			}
			c := cut{1. / 16, above}
			tr := c.transform(ends[0], ends[1])
			for _, x := range []float64{-20, -1, 0, 3, 7} {
				y := func(x float64) float64 {
					n, _ := tr.Apply(ad.Scalar(x))
					v, err := ad.Eval(n)
					if err != nil {
						t.Fatal(err)
					}
					return v[0].Float64s()[0]
				}
				_, j := tr.Apply(ad.Scalar(x))
				v, err := ad.Eval(j)
				if err != nil {
					t.Fatal(err)
				}
				const h = 1e-5
				slope := math.Abs(y(x+h)-y(x-h)) / (2 * h)
				if at := y(x); !(at >= ends[0] && at <= ends[1]) || x > -20 && (math.Abs(c.coordinate(at, ends[0], ends[1])-x) > 1e-8 || math.Abs(c.rate(at, ends[0], ends[1])*slope-1) > 1e-5 || math.Abs(v[0].Float64s()[0]-math.Log(slope)) > 1e-5) {
					t.Errorf("%v, above %v: %g is at %g, with the slope %g: coordinate %g, rate %g, log Jacobian %g", ends, above, x, at, slope, c.coordinate(at, ends[0], ends[1]), c.rate(at, ends[0], ends[1]), v[0].Float64s()[0])
				}
			}
		}
	}
}

// Draws of a normal distribution that a bound cuts have the moments of a truncated one, and others follow by their correlation, also where its
// maximum lies far beyond the bound.
func TestDrawsOfCutNormals(t *testing.T) {
	const sd, correlation = 0.02, 0.8
	for _, beyond := range []float64{-2, -0.5, 0, 1, 8, 40} { // of the maximum, in standard deviations
		k := &Task{Params: []Param{{Name: "other"}, {Name: "purity", Bounds: []float64{0.5, 1}}}}
		c := &cutNormal{mean: []float64{3, 1 + beyond*sd}, cov: []float64{1, correlation * sd, correlation * sd, sd * sd}, felt: []int{1}}
		rows := c.draws(k, draws)
		hazard := distuv.UnitNormal.Prob(beyond) / distuv.UnitNormal.CDF(-beyond) // of the distance below the bound
		if beyond > 10 {
			hazard = beyond + 1/beyond - 2/(beyond*beyond*beyond)
		}
		mean, variance := beyond-hazard, 1+beyond*hazard-hazard*hazard // of (x - bound)/sd, about
		if beyond > 10 {
			variance = 1/(beyond*beyond) - 6/math.Pow(beyond, 4)
		}
		got, of := stat.MeanStdDev(mat.Col(nil, 1, rows), nil)
		if off := (got - 1) / sd; math.Abs(off-mean) > 0.05*math.Sqrt(variance) || math.Abs(of/sd/math.Sqrt(variance)-1) > 0.05 {
			t.Errorf("beyond %g: mean %g and deviation %g, want %g and %g", beyond, off, of/sd, mean, math.Sqrt(variance))
		}
		if other, want := stat.Mean(mat.Col(nil, 0, rows), nil), 3+correlation*(mean-beyond); math.Abs(other-want) > 0.05 {
			t.Errorf("beyond %g: the other has the mean %g, want %g", beyond, other, want)
		}
	}
}
