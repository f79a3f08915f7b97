// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"math"
	"reflect"
	"slices"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"
)

// contract is Tensordot: a sum over every element of the contracted axes.
func contract(op reflect.Value, in []G.Value) []float64 {
	axes := func(field string) (list []int) {
		for i := range op.FieldByName(field).Len() {
			list = append(list, int(op.FieldByName(field).Index(i).Int()))
		}
		return list
	}
	aAxes, bAxes := axes("aAxes"), axes("bAxes")
	var out []float64
	places(in[0].Shape(), without(in[0].Shape(), aAxes), func(a []int) {
		places(in[1].Shape(), without(in[1].Shape(), bAxes), func(b []int) {
			sum := 0.0
			places(in[0].Shape(), aAxes, func(k []int) {
				for i := range aAxes {
					a[aAxes[i]], b[bAxes[i]] = k[aAxes[i]], k[aAxes[i]]
				}
				sum += at(in[0], a) * at(in[1], b)
			})
			out = append(out, sum)
		})
	})
	return out
}

func without(shape gt.Shape, axes []int) (rest []int) {
	for i := range shape {
		if !slices.Contains(axes, i) {
			rest = append(rest, i)
		}
	}
	return rest
}

// places visits the coordinates along some axes of a shape, the last fastest; the
// others stay 0.
func places(shape gt.Shape, axes []int, visit func(at []int)) {
	at := make([]int, len(shape))
	var step func(k int)
	step = func(k int) {
		if k == len(axes) {
			visit(slices.Clone(at))
			return
		}
		for i := range shape[axes[k]] {
			at[axes[k]] = i
			step(k + 1)
		}
	}
	step(0)
}

func at(v G.Value, coordinates []int) float64 {
	i := 0
	for k, d := range v.Shape() {
		i = i*d + coordinates[k]
	}
	return elements(v)[i]
}

// readings is CTCLoss: the probability of every sequence of labels that reads as
// the target, added up.
func readings(op reflect.Value, in []G.Value) []float64 {
	s := in[0].Shape()
	lp, targets := elements(in[0]), in[1].Data().([]int)
	steps, lengths := in[2].Data().([]int), in[3].Data().([]int)
	loss, from := 0.0, 0
	for b := range s[1] {
		if in[1].Shape().Dims() == 2 {
			from = b * in[1].Shape()[1]
		}
		target := targets[from : from+lengths[b]]
		from += lengths[b]
		p := 0.0
		every(s[2], steps[b], func(labels []int) {
			if !slices.Equal(read(labels), target) {
				return
			}
			sum := 0.0
			for t, label := range labels {
				sum += lp[(t*s[1]+b)*s[2]+label]
			}
			p += math.Exp(sum)
		})
		if op.FieldByName("reduction").Uint() == 0 {
			loss -= math.Log(p) / float64(max(1, lengths[b])*s[1])
		} else {
			loss -= math.Log(p)
		}
	}
	return []float64{loss}
}

// every visits all sequences of n labels.
func every(labels, n int, visit func([]int)) {
	sequence := make([]int, n)
	for code := range int(math.Pow(float64(labels), float64(n))) {
		for i := range sequence {
			sequence[i] = code % labels
			code /= labels
		}
		visit(sequence)
	}
}

// read takes equal neighbours once and leaves blanks out.
func read(labels []int) (out []int) {
	for i, label := range labels {
		if label != 0 && (i == 0 || labels[i-1] != label) {
			out = append(out, label)
		}
	}
	return out
}
