// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"math"
	"reflect"
	"slices"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// referees compute, plainly, what some of Gorgonia's operations should give: it
// gets sums and maxima along inner axes wrong, look-ups along inner axes, and
// Sparsemax along any axis but the last. It fails at some contractions and slices and
// at the smaller of two numbers, and CTCLoss gives a value that it cannot use.
var referees = map[string]func(op reflect.Value, in []G.Value) []float64{
	"sumOp": func(op reflect.Value, in []G.Value) []float64 {
		return fold(op, in[0], 0, func(a, b float64) float64 { return a + b })
	},
	"maxOp":       func(op reflect.Value, in []G.Value) []float64 { return fold(op, in[0], math.Inf(-1), math.Max) },
	"byIndicesOp": lookUp,
	"sliceOp":     cut,
	"sparsemaxOp": project,
	"tensordotOp": contract,
	"ctcLossOp":   readings,
	"minBetween":  func(_ reflect.Value, in []G.Value) []float64 { return each(in, math.Min) },
	"maxBetween":  func(_ reflect.Value, in []G.Value) []float64 { return each(in, math.Max) },
}

func each(in []G.Value, f func(a, b float64) float64) []float64 {
	a, b := elements(in[0]), elements(in[1])
	for i := range a {
		a[i] = f(a[i], b[i])
	}
	return a
}

// refereed returns the value of an operation on in, and whether Gorgonia's own
// is another, or none.
func refereed(n *G.Node, in []G.Value) (v G.Value, corrected bool) {
	op := reflect.Indirect(reflect.ValueOf(n.Op()))
	referee := referees[op.Type().Name()]
	if referee == nil {
		return sure(n.Op().Do(in...)), false
	}
	right := referee(op, in)
	v = bridge.MakeValue(n.Dtype(), n.Shape(), slices.Clone(right))
	theirs, err := attempt(n.Op(), in)
	return v, err != nil || !(apart(theirs, right) <= 1e-4)
}

func attempt(op G.Op, in []G.Value) (v []float64, err error) {
	defer caught(&err)
	var copies []G.Value
	for _, x := range in {
		copies = append(copies, sure(G.CloneValue(x)))
	}
	return elements(sure(op.Do(copies...))), nil
}

// rows visits the rows of x along an axis: where each starts, and the distance
// of its elements.
func rows(shape gt.Shape, axis int, visit func(start, stride int)) {
	stride := gt.Shape(shape[axis+1:]).TotalSize()
	for start := range shape.TotalSize() {
		if start/stride%shape[axis] == 0 {
			visit(start, stride)
		}
	}
}

// fold reduces along the axes of a reduction, the last first.
func fold(op reflect.Value, x G.Value, zero float64, f func(a, b float64) float64) []float64 {
	v, shape := elements(x), x.Shape().Clone()
	axes := op.FieldByName("along")
	drop := make([]bool, len(shape))
	for i := range drop {
		drop[i] = axes.Len() == 0
	}
	for i := range axes.Len() {
		drop[axes.Index(i).Int()] = true
	}
	for axis := len(shape) - 1; axis >= 0; axis-- {
		if !drop[axis] {
			continue
		}
		var out []float64
		rows(shape, axis, func(start, stride int) {
			sum := zero
			for k := range shape[axis] {
				sum = f(sum, v[start+k*stride])
			}
			out = append(out, sum)
		})
		v, shape = out, slices.Delete(shape, axis, axis+1)
	}
	return v
}

// cut takes a part of one axis, as long as Gorgonia infers it: whole steps.
func cut(op reflect.Value, in []G.Value) []float64 {
	v, shape, axis := elements(in[0]), in[0].Shape(), int(op.FieldByName("along").Int())
	from, to, step := 0, shape[axis], 1
	if s := op.Addr().Interface().(gt.Slice); !op.FieldByName("Slice").IsNil() && s.End() > s.Start() {
		from, to, step = s.Start(), min(s.End(), to), max(1, s.Step())
	}
	inner := gt.Shape(shape[axis+1:]).TotalSize()
	var out []float64
	for outer := range gt.Shape(shape[:axis]).TotalSize() {
		for i := range max(1, (to-from)/step) {
			start := (outer*shape[axis] + from + i*step) * inner
			out = append(out, v[start:start+inner]...)
		}
	}
	return out
}

// lookUp takes the elements that indices tell.
func lookUp(op reflect.Value, in []G.Value) []float64 {
	v, at, axis := elements(in[0]), in[1].Data().([]int), int(op.FieldByName("axis").Int())
	shape := in[0].Shape()
	inner := gt.Shape(shape[axis+1:]).TotalSize()
	var out []float64
	for outer := range gt.Shape(shape[:axis]).TotalSize() {
		for _, i := range at {
			start := (outer*shape[axis] + i) * inner
			out = append(out, v[start:start+inner]...)
		}
	}
	return out
}

// project is Sparsemax: it finds the threshold by halving.
func project(op reflect.Value, in []G.Value) []float64 {
	v, shape := elements(in[0]), in[0].Shape()
	axis := int(op.FieldByName("axis").Int())
	if axis < 0 {
		axis = len(shape) - 1
	}
	out := make([]float64, len(v))
	rows(shape, axis, func(start, stride int) {
		lo, hi := math.Inf(1), math.Inf(-1)
		for k := range shape[axis] {
			lo, hi = min(lo, v[start+k*stride]-1), max(hi, v[start+k*stride])
		}
		for range 200 {
			mid, sum := (lo+hi)/2, 0.0
			for k := range shape[axis] {
				sum += max(0, v[start+k*stride]-mid)
			}
			if sum > 1 {
				lo = mid
			} else {
				hi = mid
			}
		}
		for k := range shape[axis] {
			out[start+k*stride] = max(0, v[start+k*stride]-hi)
		}
	})
	return out
}
