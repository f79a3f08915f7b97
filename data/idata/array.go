// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package idata

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/tensor"
)

// array collects the elements of nested lists.
type array struct {
	shape  []int
	rank   int
	leaves int
	mode   mode
	floats []float64
	ints   []int64 // integer values, kept as long as all numbers are integers
	bools  []bool
	words  []string
}

// mode is the type of the elements so far.
type mode int

const (
	none    mode = iota
	number       // numbers
	named        // only strings that name non-finite numbers, which may also turn out to be text
	word         // text
	boolean      // booleans
)

// names maps strings to the non-finite numbers that they stand for.
var names = map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1), "Inf": math.Inf(1), "-Inf": math.Inf(-1)}

// become changes the mode to to, which requires that the current mode is none, to or one
// of from.
func (a *array) become(p *parser, to mode, from ...mode) error {
	for _, m := range append(from, to, none) {
		if a.mode == m {
			a.mode = to
			a.leaves++
			return nil
		}
	}
	return p.fault("the variable mixes numbers, truth values and text: want one kind")
}

func (a *array) addInt(p *parser, n int64) error {
	if a.mode == none || len(a.ints) == a.leaves {
		a.ints = append(a.ints, n)
	}
	a.floats = append(a.floats, float64(n))
	return a.become(p, number, named)
}

func (a *array) addFloat(p *parser, v float64) error {
	a.ints = nil
	a.floats = append(a.floats, v)
	return a.become(p, number, named)
}

func (a *array) addBool(p *parser, v bool) error {
	a.bools = append(a.bools, v)
	return a.become(p, boolean)
}

func (a *array) addText(p *parser, s string) error {
	v, isNumber := names[s]
	switch {
	case !isNumber:
		a.words = append(a.words, s)
		return a.become(p, word, named)
	case a.mode == number:
		return a.addFloat(p, v)
	case a.mode == word:
		a.words = append(a.words, s)
		return a.become(p, word)
	}
	a.words, a.floats = append(a.words, s), append(a.floats, v)
	return a.become(p, named)
}

// variable returns the collected array as a variable.
func (a *array) variable(name string) (tensor.Variable, error) {
	v := tensor.Variable{Name: name, Shape: append(tensor.Shape{}, a.shape...)}
	switch {
	case a.mode == boolean:
		v.Data = a.bools
	case a.mode == word:
		v.Data = a.words
	case a.mode == number && len(a.ints) == a.leaves:
		v.Data = a.ints
	default:
		v.Data = append([]float64{}, a.floats...)
	}
	n := 1
	for _, k := range v.Shape {
		n *= k
	}
	if n != a.leaves || len(v.Shape) > a.rank && a.leaves > 0 {
		return v, &FormatError{Format: "idata", What: fmt.Sprintf("the lists of %s have unequal lengths: make them equal", name)}
	}
	return v, nil
}
