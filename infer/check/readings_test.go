// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// powerLaw fits a*x^b to readings y, by Gauss and Newton's method with the logarithm of
// a as its parameter, and returns what a caller of Judge would make of it.
func powerLaw(x, y, sigma []float64) Data {
	n, p := len(x), [2]float64{0, 1.5}
	d := Data{Z: make([]float64, n), Mean: make([]float64, n), Sigma: sigma, Jacobian: make([]float64, 2*n), Names: []string{"log a", "b"}, Axes: []Axis{{Name: "x", Values: x}}}
	eval := func(p [2]float64) (cost float64) {
		for i := range x {
			m := math.Exp(p[0] + p[1]*math.Log(x[i]))
			d.Mean[i], d.Z[i] = m, (y[i]-m)/sigma[i]
			d.Jacobian[i], d.Jacobian[n+i] = m/sigma[i], m*math.Log(x[i])/sigma[i]
			cost += d.Z[i] * d.Z[i]
		}
		return cost
	}
	cost := eval(p)
	for range 60 {
		step := new(Workspace).residuals(&d).estimate(d.Z)
		next := p
		for f := 1.0; f > 1e-6; f /= 2 {
			next = [2]float64{p[0] + f*step[0], p[1] + f*step[1]}
			if eval(next) <= cost {
				break
			}
		}
		after := eval(next)
		if after > cost {
			break
		}
		done := cost-after < 1e-12*cost
		if p, cost = next, after; done {
			break
		}
	}
	eval(p)
	return d
}

// Right models are flagged no more often than the level says, whether their errors are in proportion to true
// values, predictions or readings, or to the roots of these; and the verdict tells readings from
// the others.
func TestErrorsInProportion(t *testing.T) {
	const n, each = 20, 100
	for _, of := range []string{"truth", "prediction", "reading"} {
		flagged, noted, runs := 0, 0, 0
		r := rand.New(rand.NewPCG(31, 32))
		for _, root := range []bool{false, true} {
			for _, rel := range []float64{0.003, 0.03, 0.1, 0.3} {
				for _, decades := range []float64{0.3, 1, 2, 4} {
					for range each {
						v, err := Judge(inProportion(r, n, of, root, rel, decades), Settings{})
						if err != nil {
							t.Fatal(err)
						}
						runs++
						flagged += int(truth(!v.OK))
						noted += int(truth(slices.ContainsFunc(v.Notes, func(f Flag) bool { return f.Kind == KindReadings })))
					}
				}
			}
		}
		t.Logf("%s: %d of %d flagged, %d noted", of, flagged, runs, noted)
		if flagged > runs*14/1000 {
			t.Errorf("errors in proportion to the %s: %d of %d right models flagged", of, flagged, runs)
		}
		if want := int(truth(of == "reading")) * runs; noted != want {
			t.Errorf("errors in proportion to the %s: noted in %d of %d, want %d", of, noted, runs, want)
		}
	}
}

// inProportion draws readings of a power law with errors in proportion to a value or to its root.
func inProportion(r *rand.Rand, n int, of string, root bool, rel, decades float64) Data {
	size := func(m float64) float64 {
		if root {
			return rel * math.Sqrt(math.Abs(m))
		}
		return rel * math.Abs(m)
	}
	x, y, s := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = math.Pow(10, decades/1.5*float64(i)/float64(n-1))
		m := math.Pow(x[i], 1.5)
		s[i] = size(m)
		y[i] = m + s[i]*r.NormFloat64()
		if of == "reading" {
			s[i] = size(y[i])
		}
	}
	d := powerLaw(x, y, s)
	if of == "prediction" {
		for range 5 {
			for i, m := range d.Mean {
				s[i] = size(m)
			}
			d = powerLaw(x, y, s)
		}
	}
	return d
}

// A wrong model lies farther from the truth than readings do, but errors in proportion to the truth do not
// follow the readings all the same; nor do fitted errors, or those of fits, which scatter.
func TestErrorsThatFollowNoReadings(t *testing.T) {
	r := rand.New(rand.NewPCG(33, 34))
	for name, change := range map[string]func(d *Data){
		"wrong model": func(d *Data) {
			for i, x := range d.Axes[0].Values {
				y := d.Mean[i] + d.Z[i]*d.Sigma[i]
				d.Mean[i] *= 1 + 0.3*math.Sin(3*math.Log(x))
				d.Z[i] = (y - d.Mean[i]) / d.Sigma[i]
			}
		},
		"fitted errors": func(d *Data) {
			for i, z := range d.Z {
				d.Sigma[i] = 0.03 * (d.Mean[i] + z*d.Sigma[i])
			}
			d.SigmaFitted = true
		},
		"errors of fits": func(d *Data) {
			for i, z := range d.Z {
				d.Sigma[i] = 0.03 * (d.Mean[i] + z*d.Sigma[i]) * (1 + 0.05*r.NormFloat64())
			}
		},
	} {
		for range 100 {
			d := inProportion(r, 20, "truth", false, 0.03, 2)
			change(&d)
			v, err := Judge(d, Settings{})
			if err != nil || strings.Contains(v.String(), "observed values") {
				t.Errorf("%s: %v %v", name, err, v)
				break
			}
		}
	}
}

// The note says by how much errors of the readings moved the fit, and of what the chi-square is.
func TestErrorsOfReadingsMoveTheFit(t *testing.T) {
	d := inProportion(rand.New(rand.NewPCG(35, 36)), 100, "reading", false, 0.1, 1)
	v, err := Judge(d, Settings{})
	if text := v.String(); err != nil || !v.OK || !strings.Contains(text, "log a would move by about +") || !strings.Contains(text, "reduced chi-square with the errors at the predicted values") {
		t.Errorf("%v %v", err, v)
	}
}

// Roots of counts are known also where counts of 0 have the error 1, and the summary says how far they have drawn a constant.
func TestRootsOfCounts(t *testing.T) {
	y := []float64{3, 0, 2, 5, 1, 2, 4, 0, 1, 3, 2, 2, 1, 4, 0, 3, 6, 1, 2, 3}
	d := Data{Names: []string{"c"}}
	weights, sum := 0.0, 0.0
	for _, n := range y {
		d.Sigma = append(d.Sigma, math.Sqrt(max(n, 1)))
		weights, sum = weights+1/max(n, 1), sum+n/max(n, 1)
	}
	for i, n := range y {
		d.Mean, d.Z, d.Jacobian = append(d.Mean, sum/weights), append(d.Z, (n-sum/weights)/d.Sigma[i]), append(d.Jacobian, 1/d.Sigma[i])
	}
	v, err := Judge(d, Settings{})
	if err != nil || !v.OK || !strings.Contains(v.Summary(), "but with errors at the predicted values, c would move by about +") {
		t.Errorf("%v %v", err, v)
	}
}
