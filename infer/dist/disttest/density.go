// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package disttest

import (
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/tensor"
)

// Arrays checks that LogProb of an array of values has the shape of the array, and that each element is the log density
// of that value alone. A LogProbOf that sums over the array would count every observation many times.
func Arrays(t *testing.T, l dist.Family) {
	t.Helper()
	arrays(t, l)
}

// arrays is Arrays, and reports whether the shapes are right.
func arrays(t *testing.T, l dist.Family) bool {
	t.Helper()
	for _, p := range l.At {
		x := several(t, l, p)
		all := slices.Concat(x, reversed(x))
		if !compare(t, l, p, l.New(p...), ad.Const(all, 2, len(x)), all) {
			return false
		}
	}
	return true
}

// broadcasts checks the same for a column of each parameter and a row of values.
func broadcasts(t *testing.T, l dist.Family) {
	t.Helper()
	for _, p := range l.At {
		x := several(t, l, p)
		for i, v := range p {
			args := make([]any, len(p))
			for k, v := range p {
				args[k] = v
			}
			args[i] = ad.Const([]float64{v, v}, 2, 1)
			compare(t, l, p, l.Make(args...), ad.Const(x), slices.Concat(x, x))
		}
	}
}

// compare compares LogProb of an array, whose shape is to have two rows, with LogProb of each number. It reports whether
// there are numbers to compare.
func compare(t *testing.T, l dist.Family, p []float64, d dist.Dist, x *ad.Node, each []float64) bool {
	t.Helper()
	lp, want := d.LogProb(x), tensor.Shape{2, len(each) / 2}
	if err := lp.Err(); err != nil {
		text := err.Error()
		if _, after, found := strings.Cut(text, "dist: "); found { // the place before it is in this package
			text = after
		}
		t.Errorf("%s%v: LogProb of an array of the shape %v: %s", l.Name, p, x.Shape(), text)
		return false
	}
	if !lp.Shape().Equal(want) {
		t.Errorf("%s%v: LogProb of an array of the shape %v has the shape %v: want %v, one number for each value", l.Name, p, x.Shape(), lp.Shape(), want)
		return false
	}
	outputs := []*ad.Node{ad.Reshape(lp, len(each))}
	for _, v := range each {
		outputs = append(outputs, l.New(p...).LogProb(ad.Scalar(v)))
	}
	values, err := ad.Numbers(outputs...)
	if err != nil {
		t.Errorf("%s%v: LogProb: %v", l.Name, p, err)
		return false
	}
	got := values[0]
	for i, v := range each {
		alone := values[1+i][0]
		if len(outputs[1+i].Shape()) != 0 {
			t.Errorf("%s%v: LogProb of one number has the shape %v: want a scalar", l.Name, p, outputs[1+i].Shape())
			return false
		}
		if !Near(got[i], alone, 1e-9) {
			t.Errorf("%s%v: LogProb at %g is %.12g as an element of an array, and %.12g alone", l.Name, p, v, got[i], alone)
		}
	}
	return true
}

// Gradients checks that the derivatives of LogProb with respect to the value and to each parameter are those by
// differences. Whole numbers have none.
func Gradients(t *testing.T, l dist.Family) {
	t.Helper()
	f := Evaluator(t, l, logProb)
	bad := &reports{t: t, name: l.Name}
	defer func() { t.Helper(); bad.done() }()
	for _, p := range l.At {
		d := l.New(p...)
		x := points(d, p, func(x float64) float64 { return f(x, p)[0] })
		lo, hi, err := dist.Range(d)
		if err != nil { // a parameter has several values
			lo, hi = math.Inf(-1), math.Inf(1)
		}
		width := slices.Max(x) - slices.Min(x)
		if width == 0 {
			width = 1
		}
		for _, x := range x {
			at := append([]float64{x}, p...)
			got := slices.Clone(f(x, p))
			near := 1e-4 * min(width, x-lo, hi-x)
			for i, v := range at {
				if d.Discrete && (i == 0 || v == math.Floor(v)) {
					continue
				}
				h, name := near, "the value"
				if i > 0 {
					h, name = 2e-5*math.Max(1e-2, math.Abs(v)), l.Params[i-1]
					if !d.Discrete {
						h = min(h, 30*near)
					}
				}
				largest := math.Abs(got[0])
				value := func(step float64) float64 {
					q := slices.Clone(at)
					q[i] += step
					y := f(q[0], q[1:])[0]
					largest = max(largest, math.Abs(y))
					return y
				}
				slope := (8*(value(h)-value(-h)) - (value(2*h) - value(-2*h))) / (12 * h)
				if !Near(got[1+i], slope, 1e-6) && !(math.Abs(got[1+i]-slope) <= 1e-7+1e-14*(1+largest)*(1+math.Abs(v))/h) {
					bad.errorf("%s%v: the derivative of LogProb at %g with respect to %s is %.10g, by differences %.10g", l.Name, p, x, name, got[1+i], slope)
				}
			}
		}
	}
}

// several returns at least two values that have a density.
func several(t *testing.T, l dist.Family, p []float64) []float64 {
	t.Helper()
	f := Evaluator(t, l, logProb)
	x := points(l.New(p...), p, func(x float64) float64 { return f(x, p)[0] })
	return append(x, x[0])
}

func reversed(x []float64) []float64 {
	y := slices.Clone(x)
	slices.Reverse(y)
	return y
}

// quantileSlopes checks QuantileOf without CDFOf: its slope is the inverse of the density.
func quantileSlopes(l dist.Family, d dist.Dist, p []float64, f func(x float64, p []float64) []float64, bad *reports) {
	bad.t.Helper()
	for u := 0.017; u < 1; u += 0.06 {
		h := 1e-4 * min(u, 1-u)
		q := func(step float64) float64 { return d.Quantile(u+step, p) }
		slope := (8*(q(h)-q(-h)) - (q(2*h) - q(-2*h))) / (12 * h)
		if pdf := math.Exp(f(q(0), p)[0]); !(math.Abs(pdf*slope-1) <= 1e-5) {
			bad.errorf("%s%v at %g: density %g, by the slope of Quantile(%g) %g", l.Name, p, q(0), pdf, u, 1/slope)
		}
	}
}
