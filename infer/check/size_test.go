// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// design is a linear model of three parameters on n points.
func design(n int) (x, j []float64, names []string) {
	x = make([]float64, n)
	j = make([]float64, 3*n)
	for i := range n {
		x[i] = float64(i) / float64(n)
		j[i], j[n+i], j[2*n+i] = 1, math.Exp(-5*x[i]), x[i]*math.Exp(-5*x[i])
	}
	return x, j, []string{"a", "b", "c"}
}

// noise is what a right model leaves: standard normal residuals.
func noise(r *rand.Rand, n int, relative bool) Data {
	x, j, names := design(n)
	z, mean, bend := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range z {
		z[i] = r.NormFloat64()
		mean[i] = 3*j[n+i] + math.Sin(9*x[i])
		bend[i] = x[i] * x[i]
	}
	return Data{Z: z, Jacobian: j, Names: names, Relative: relative, Mean: mean, Axes: []Axis{{Name: "x", Values: x}},
		Directions: []Direction{{Kind: "bend", Columns: [][]float64{bend}, Say: func(c, sd []float64) (string, string) {
			return fmt.Sprintf("the data bend by %.3g +- %.2g", c[0], sd[0]), "a quadratic term"
		}}}}
}

// Under a right model every test has a p-value below a level no more often than the
// level says, and all together flag at most 1 %. The tests that are exact are not
// conservative either.
func TestFalseAlarms(t *testing.T) {
	exact := map[string]bool{KindSize: true, KindPattern: true, KindNeighbours: true, "bend": true}
	for _, c := range []struct {
		n, runs  int
		relative bool
	}{{10, 4000, false}, {10, 4000, true}, {50, 3000, false}, {50, 3000, true}, {1000, 300, false}} {
		r := rand.New(rand.NewPCG(1, uint64(c.n)))
		below, flagged := map[string]int{}, 0
		for range c.runs {
			v, err := Judge(noise(r, c.n, c.relative), Settings{})
			if err != nil {
				t.Fatal(err)
			}
			if !v.OK {
				flagged++
			}
			seen := map[string]int{}
			for _, s := range v.Tests {
				seen[s.Kind]++
				for _, level := range []float64{0.1, 0.01} {
					if s.P < level {
						below[fmt.Sprintf("%s|%d|%g", s.Kind, seen[s.Kind], level)]++
					}
				}
			}
		}
		inside := func(count int, p float64, lower bool) bool {
			mean, sd := p*float64(c.runs), math.Sqrt(p*float64(c.runs))
			return float64(count) <= 1.3*mean+4*sd && (!lower || float64(count) >= mean-4*sd)
		}
		for key, count := range below {
			var kind string
			var nth int
			var level float64
			for i := range key {
				if key[i] == '|' {
					kind = key[:i]
					if _, err := fmt.Sscanf(key[i:], "|%d|%g", &nth, &level); err != nil {
						t.Fatal(err)
					}
					break
				}
			}
			strict := exact[kind] && (c.n > 10 || c.relative) // of few points with known errors both tests must agree
			if !inside(count, level, strict) {
				t.Errorf("n = %d, relative %v: %s (%d) below %g in %d of %d runs", c.n, c.relative, kind, nth, level, count, c.runs)
			}
		}
		if !inside(flagged, 0.01, false) {
			t.Errorf("n = %d, relative %v: %d of %d right models flagged", c.n, c.relative, flagged, c.runs)
		}
	}
}

// Columns that are nearly alike count as what they are: a polynomial far from its
// origin, and few points.
func TestFalseAlarmsOfNearlyAlikeColumns(t *testing.T) {
	for _, c := range []struct{ n, degree int }{{10, 5}, {12, 4}, {30, 5}} {
		r, flagged := rand.New(rand.NewPCG(51, uint64(c.n))), 0
		x, jacobian := make([]float64, c.n), make([]float64, 0, c.n*(c.degree+1))
		for i := range x {
			x[i] = 10 + float64(i)/float64(c.n-1)
		}
		var names []string
		for k := range c.degree + 1 {
			names = append(names, fmt.Sprint("c", k))
			for _, v := range x {
				jacobian = append(jacobian, math.Pow(v, float64(k)))
			}
		}
		const runs = 2000
		for range runs {
			z := make([]float64, c.n)
			for i := range z {
				z[i] = r.NormFloat64()
			}
			v, err := Judge(Data{Z: z, Jacobian: jacobian, Names: names, Axes: []Axis{{Name: "x", Values: x}}}, Settings{})
			if err != nil || v.DoF != c.n-c.degree-1 {
				t.Fatal(err, v.DoF)
			}
			if !v.OK {
				flagged++
			}
		}
		t.Logf("n %d, degree %d: %d of %d flagged", c.n, c.degree, flagged, runs)
		if flagged > 38 { // 20 expected, four standard deviations
			t.Errorf("n %d, degree %d: %d of %d right models flagged", c.n, c.degree, flagged, runs)
		}
	}
}

// Where all errors are too small, their size is told first, and nobody is advised to mask the points that are farthest; where errors are
// right, outliers come first.
func TestSizeBeforeOutliers(t *testing.T) {
	r, both := rand.New(rand.NewPCG(7, 7)), 0
	for range 300 {
		d := noise(r, 40, false)
		d.Directions = nil
		for i := range d.Z {
			d.Z[i] *= 2
		}
		v, err := Judge(d, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		if !v.Has(KindSize) || !v.Has(KindOutliers) {
			continue
		}
		both++
		if last := v.Flags[len(v.Flags)-1]; v.Flags[0].Kind == KindOutliers || last.Kind != KindOutliers || strings.Contains(v.String(), "mask it") || strings.Contains(v.String(), "mask them") {
			t.Errorf("errors half as large as they are: %s", v)
		}
	}
	if both == 0 {
		t.Error("no outliers beside errors that are too small")
	}
	for range 50 {
		d := noise(r, 40, false)
		d.Z[11] += 12
		if v, err := Judge(d, Settings{}); err != nil || len(v.Flags) == 0 || v.Flags[0].Kind != KindOutliers || !strings.Contains(v.Flags[0].Remedy, "mask") {
			t.Errorf("one outlier: %s, %v", v, err)
		}
	}
}
