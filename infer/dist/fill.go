// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor"
)

// Fill draws an array of the given shape, batch axes followed by the axes of one value,
// into dst in row-major order. p[i] holds the elements of Params[i] in the shape of that
// Node; its batch axes broadcast against those of the array.
//
// The draws depend only on src, and not on how the array is divided into axes.
func (d Dist) Fill(src Source, dst []float64, shape []int, p [][]float64) error {
	if d.fill != nil {
		return d.fill(src, dst, shape, p)
	}
	s := tensor.Shape(shape)
	if len(dst) != s.Size() {
		return fmt.Errorf("dist: %s: there are %d elements for shape %v: want %d", d.Name, len(dst), shape, s.Size())
	}
	if len(shape) < d.Event {
		return fmt.Errorf("dist: %s: the shape is %v, but one value has %d axes: add them at the end", d.Name, shape, d.Event)
	}
	if d.RandOf == nil && d.DrawOf == nil {
		return fmt.Errorf("dist: %s has a density only and cannot be drawn from: set its %s, or use another distribution", d.Name, d.drawer())
	}
	batch, size := s[:len(s)-d.Event], s[len(s)-d.Event:].Size()
	return d.each(batch, p, func(b int, theta []float64) error {
		if d.DrawOf == nil {
			dst[b] = d.RandOf(src, theta)
		} else if err := d.DrawOf(src, dst[b*size:(b+1)*size], theta); err != nil {
			return fmt.Errorf("dist: %s: value %d: %w", d.Name, b, err)
		}
		return nil
	})
}

// CanDraw reports whether Fill can draw from the distribution. Distributions of package dist can be drawn from; one of
// your own can if it has RandOf, or DrawOf for vectors and matrices.
func (d Dist) CanDraw() bool { return d.fill != nil || d.RandOf != nil || d.DrawOf != nil }

// drawer is the name of the function that draws one value.
func (d Dist) drawer() string {
	if d.Event > 0 {
		return "DrawOf"
	}
	return "RandOf"
}

// Outside returns the index of the first value of x that is NaN, or beyond the ends of the support of a scalar
// distribution, or not whole if it is discrete; -1 if there is none. The ends themselves are not outside, since draws
// may round to them. Shapes and p are those of Fill.
func (d Dist) Outside(x []float64, shape []int, p [][]float64) (int, error) {
	first := -1
	err := d.each(shape, p, func(i int, theta []float64) error {
		lo, hi := d.ends(theta)
		v := x[i]
		if first < 0 && (math.IsNaN(v) || v < lo || v > hi || d.Discrete && v != math.Floor(v)) {
			first = i
		}
		return nil
	})
	return first, err
}

// each calls f with the index of every value in a batch and the parameters of that value.
func (d Dist) each(batch tensor.Shape, p [][]float64, f func(b int, theta []float64) error) error {
	gather, total, err := d.gatherers(batch, p)
	if err != nil {
		return err
	}
	theta := make([]float64, total)
	for b := range batch.Size() {
		for _, g := range gather {
			g(b, theta)
		}
		if err := f(b, theta); err != nil {
			return err
		}
	}
	return nil
}

// gatherers returns, for each parameter, a function that copies its value for batch index
// b into theta, and the total length of theta.
func (d Dist) gatherers(batch tensor.Shape, p [][]float64) (all []func(b int, theta []float64), total int, err error) {
	if len(p) != len(d.Params) {
		return nil, 0, fmt.Errorf("dist: %s: there are values of %d parameters: want %d", d.Name, len(p), len(d.Params))
	}
	for i, node := range d.Params {
		own := d.paramBatch(i)
		if own == nil {
			return nil, 0, fmt.Errorf("dist: %s: parameter %d has shape %v: want at least %d axes", d.Name, i, node.Shape(), d.ParamEvent[i])
		}
		if len(p[i]) != node.Size() {
			return nil, 0, fmt.Errorf("dist: %s: parameter %d has %s: want %d for shape %v", d.Name, i, errtext.Count(len(p[i]), "value"), node.Size(), node.Shape())
		}
		if s, ok := tensor.Broadcast(own, batch); !ok || !s.Equal(batch) {
			return nil, 0, fmt.Errorf("dist: %s: parameter %d has shape %v, which does not broadcast to the batch axes %v: make them match", d.Name, i, node.Shape(), batch)
		}
		n := node.Shape()[len(own):].Size()
		values, at := p[i], total
		all = append(all, func(b int, theta []float64) {
			k := broadcastIndex(b, batch, own)
			copy(theta[at:at+n], values[k*n:(k+1)*n])
		})
		total += n
	}
	return all, total, nil
}

// broadcastIndex returns the row-major index, in an array of shape own, of the element
// that broadcasts to index b of shape all.
func broadcastIndex(b int, all, own tensor.Shape) int {
	k, step := 0, 1
	for i := len(all) - 1; i >= 0; i-- {
		at := b % all[i]
		b /= all[i]
		if j := i - (len(all) - len(own)); j >= 0 {
			if own[j] != 1 {
				k += at * step
			}
			step *= own[j]
		}
	}
	return k
}
