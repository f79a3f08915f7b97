// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package autodiff_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// specialNumbers are ends of domains, kinks, poles and ties of the elementwise operations of the register.
var specialNumbers = []float64{math.Inf(-1), -2, -1, math.Copysign(0, -1), 0, 0.5, 1, 2, 3, math.Inf(1)}

// At ends of domains, kinks, ties and infinities, elementwise operations have a value and a gradient that are limits of
// those nearby: between those in all directions, or infinite where those grow without bound. NaN is allowed, which says that
// there is none.
func TestSpecialPoints(t *testing.T) {
	for _, op := range standard {
		if !op.IsElementwise() || op.Sample == nil {
			continue
		}
		t.Run(op.Name, func(t *testing.T) { compareLimits(t, op) })
	}
}

// grid returns all points of special numbers of n arguments; of fewer numbers if there are three.
func grid(n int) [][]float64 {
	numbers := specialNumbers
	if n == 3 {
		numbers = []float64{math.Inf(-1), -1, 0, 1, 2, math.Inf(1)}
	}
	points := [][]float64{{}}
	for range n {
		var more [][]float64
		for _, p := range points {
			for _, v := range numbers {
				more = append(more, append(slices.Clone(p), v))
			}
		}
		points = more
	}
	return points
}

// beside returns points in all directions from p, at a distance of 2^-exponent where p is finite.
func beside(p []float64, exponent int) [][]float64 {
	points := [][]float64{{}}
	for _, v := range p {
		step := math.Ldexp(math.Max(1, math.Abs(v)), -exponent)
		near := []float64{v - step, v, v + step}
		switch {
		case v == 0:
			near = []float64{-step, v, step}
		case math.IsInf(v, 0):
			near = []float64{v, math.Copysign(math.Ldexp(1, 20*exponent), v)}
		case exponent > 40:
			near = []float64{math.Nextafter(v, math.Inf(-1)), v, math.Nextafter(v, math.Inf(1))}
		}
		var more [][]float64
		for _, q := range points {
			for _, w := range near {
				more = append(more, append(slices.Clone(q), w))
			}
		}
		points = more
	}
	return slices.DeleteFunc(points, func(q []float64) bool { return slices.Equal(p, q) })
}

func compareLimits(t *testing.T, op *ad.Op) {
	at := grid(op.Arity)
	var all [][]float64 // each point, and then those beside it
	ends := make([][2]int, len(at))
	for i, p := range at {
		near, nearer := beside(p, 30), beside(p, 50)
		all = append(append(append(all, p), near...), nearer...)
		ends[i] = [2]int{len(near), len(nearer)}
	}
	values, in := make([][]float64, op.Arity), make([]*ad.Node, op.Arity)
	for k := range in {
		in[k] = ad.Input("x", len(all))
		for _, p := range all {
			values[k] = append(values[k], p[k])
		}
	}
	y := op.Apply(in...)
	got := results(t, way{64, "go"}, append([]*ad.Node{y}, ad.Grad(y, in...)...), in, values)
	for i, from := 0, 0; i < len(at); i++ {
		near, nearer := from+1, from+1+ends[i][0]
		next := nearer + ends[i][1]
		for k := range got {
			if fault := outsideLimits(got[k][from], got[k][near:nearer], got[k][nearer:next]); fault != "" {
				t.Errorf("%s at %v: output %d %s", op.Name, at[i], k, fault)
			}
		}
		from = next
	}
}

// outsideLimits describes how v differs from all limits that numbers near it and nearer to it have; "" if it does not.
func outsideLimits(v float64, near, nearer []float64) string {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i, w := range nearer {
		if math.IsNaN(w) {
			continue
		}
		lo, hi = min(lo, w), max(hi, w)
		if math.Abs(w) > 1.01*math.Abs(near[i])+1e-3 || math.Abs(w) > 1e100 {
			lo, hi = min(lo, w*math.Inf(1)), max(hi, w*math.Inf(1))
		}
	}
	slack := 1e-6 + 1e-6*max(math.Abs(lo), math.Abs(hi))
	switch {
	case math.IsNaN(v) || lo > hi:
		return ""
	case v < lo && !(v >= lo-slack), v > hi && !(v <= hi+slack):
		return fmt.Sprintf("is %g, but from %g to %g nearby", v, lo, hi)
	}
	return ""
}
