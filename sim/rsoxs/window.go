// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import "math"

// window multiplies the fields of a volume by a window; a nil window leaves them unchanged.
type window[T float] struct {
	z  []float64
	yx []T
}

func newWindow[T float](w Window, l *layout) *window[T] {
	if w == NoWindow {
		return nil
	}
	z, y, x := w.weights(l.n[0]), w.weights(l.n[1]), w.weights(l.n[2])
	if l.n[0] == 1 {
		z = make([]float64, l.depth)
		for i := range z {
			z[i] = 1
		}
	}
	p := &window[T]{z: z}
	for _, a := range y {
		for _, b := range x {
			p.yx = append(p.yx, T(a*b))
		}
	}
	return p
}

// weights returns the window of n points.
func (w Window) weights(n int) []float64 {
	v, period := make([]float64, n), float64(n)
	if w == SymmetricHann {
		period--
	}
	for j := range v {
		v[j] = 1
		if period > 0 {
			v[j] = 0.5 * (1 - math.Cos(2*math.Pi*float64(j)/period))
		}
	}
	return v
}

// apply multiplies slice z.
func (p *window[T]) apply(v []T, z int) {
	if p == nil {
		return
	}
	f := T(p.z[z])
	for i, w := range p.yx {
		v[i] *= f * w
	}
}
