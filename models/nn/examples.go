// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nn

import (
	"errors"
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// Source provides the examples to train on.
type Source interface {
	Len() int
	// Read writes the inputs of example k, row-major, with indices as whole numbers. It is called
	// by one goroutine.
	Read(k int, to [][]float64) error
}

// Arrays makes a Source from arrays whose first axis is the examples, one for each input of the
// network. They are kept in float64; arrays of other types are copied.
func Arrays(list ...*tensor.Tensor) (Source, error) {
	if len(list) == 0 {
		return nil, errors.New("nn: Arrays got no arrays: give one for each input of the network")
	}
	a := &arrays{}
	for i, t := range list {
		if t == nil || len(t.Shape()) == 0 {
			return nil, fmt.Errorf("nn: array %d of %d is missing or a single number, so it does not hold examples: give an array whose first axis is that of the examples", i+1, len(list))
		}
		if a.n = list[0].Shape()[0]; t.Shape()[0] != a.n {
			return nil, fmt.Errorf("nn: array %d of the examples has shape %v, with %d examples, but the first has %v, with %d: give the same number of examples in each", i+1, t.Shape(), t.Shape()[0], list[0].Shape(), a.n)
		}
		a.data, a.rows = append(a.data, t.Compact().Float64s()), append(a.rows, t.Shape()[1:].Size())
	}
	return a, nil
}

type arrays struct {
	n    int
	data [][]float64
	rows []int
}

func (a *arrays) Len() int { return a.n }

func (a *arrays) Read(k int, to [][]float64) error {
	if len(to) != len(a.data) {
		return fmt.Errorf("nn: there are %d arrays, but the network has %d inputs: give one for each", len(a.data), len(to))
	}
	for i, row := range to {
		if len(row) != a.rows[i] {
			return fmt.Errorf("nn: array %d of the examples has %d numbers for each example, but the network takes %d there: give arrays in the order and with the shapes of the inputs of the network", i+1, a.rows[i], len(row))
		}
		copy(row, a.data[i][k*a.rows[i]:])
	}
	return nil
}

// firstArrays are arrays of the first inputs only; the others are 0.
type firstArrays struct{ *arrays }

func (a firstArrays) Read(k int, to [][]float64) error { return a.arrays.Read(k, to[:len(a.data)]) }

// rowsOf is the numbers of an input in which an example is.
type rowsOf struct {
	outer, inner, batch int // an example is outer pieces of inner numbers, a batch apart
	buffer              []float64
	all                 []float64
}

// rows returns where examples are in the inputs of a batch.
func (n *Network) rows(batch int) []rowsOf {
	var out []rowsOf
	for _, x := range n.inputs {
		r := rowsOf{outer: 1, inner: tensor.Shape(x.Shape).Size(), batch: batch}
		if x.Later {
			r.outer, r.inner = x.Shape[0], tensor.Shape(x.Shape[1:]).Size()
		}
		r.buffer, r.all = make([]float64, r.outer*r.inner), make([]float64, batch*r.outer*r.inner)
		out = append(out, r)
	}
	return out
}

// fill sets the inputs of a batch to examples.
func fill(st *ad.State, data Source, examples []int, rows []rowsOf) error {
	to := make([][]float64, len(rows))
	for i := range rows {
		to[i] = rows[i].buffer
	}
	for b, k := range examples {
		if err := data.Read(k, to); err != nil {
			return fmt.Errorf("nn: example %d, counted from 0, cannot be read: %w", k, err)
		}
		for i := range rows {
			r := &rows[i]
			for o := range r.outer {
				copy(r.all[(o*r.batch+b)*r.inner:][:r.inner], r.buffer[o*r.inner:])
			}
		}
	}
	for i := range rows {
		if err := st.SetInput(i, rows[i].all); err != nil {
			return fmt.Errorf("nn: a batch of examples that begins with number %d, counted from 0, cannot be read: %w", examples[0], err)
		}
	}
	return nil
}
