// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import "math"

// jacobian fills j at x, by columns.
func (w *iterate) jacobian(j []float64) error {
	switch {
	case w.p.Jacobian != nil:
		return w.p.Jacobian(j, w.x)
	case w.p.Sparsity != nil:
		c := newCompressed(w)
		if err := c.fill(); err != nil {
			return err
		}
		c.dense(j)
		return nil
	case w.p.JVP != nil:
		return w.byProducts(j)
	}
	up, down := make([]float64, w.m), make([]float64, w.m)
	for k := range w.n {
		err := w.difference(j[k*w.m:(k+1)*w.m], up, down, []int{k})
		if err != nil {
			return err
		}
	}
	return nil
}

// byProducts fills j from products with unit vectors.
func (w *iterate) byProducts(j []float64) error {
	e := make([]float64, w.n)
	for k := range w.n {
		e[k] = 1
		if err := w.p.JVP(j[k*w.m:(k+1)*w.m], w.x, e); err != nil {
			return err
		}
		e[k] = 0
	}
	return nil
}

// difference sets out to the change of the residual over the steps of the
// parameters given; of one parameter, to its derivative.
func (w *iterate) difference(out, up, down []float64, params []int) error {
	copy(w.xNew, w.x)
	for _, k := range params {
		w.xNew[k], _ = w.steps2(k)
	}
	if err := w.residual(up, w.xNew); err != nil {
		return err
	}
	for _, k := range params {
		_, w.xNew[k] = w.steps2(k)
	}
	if err := w.residual(down, w.xNew); err != nil {
		return err
	}
	hi, lo := w.steps2(params[0])
	for i := range out {
		out[i] = up[i] - down[i]
		if len(params) == 1 {
			out[i] /= hi - lo
		}
	}
	return nil
}

// unitOf returns the size of a parameter near 0: that of its start, at most 1.
func unitOf(start []float64, k int) float64 {
	if k < len(start) && start[k] != 0 {
		return min(1, math.Abs(start[k]))
	}
	return 1
}

// steps2 returns the two values of parameter k for its central difference,
// within the bounds.
func (w *iterate) steps2(k int) (hi, lo float64) {
	x := w.x[k]
	h := 6e-6 * max(math.Abs(x), 1e-3*unitOf(w.p.Start, k))
	return min(x+h, w.p.Upper[k]), max(x-h, w.p.Lower[k])
}
