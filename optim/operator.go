// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"math"

	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// operator is a Jacobian known by its products with vectors. No array of it has
// more than M or N elements, but for the elements of a sparse Jacobian.
type operator struct {
	*iterate
	// sparse is nil where the problem has JVP and VJP.
	sparse *compressed
	// err is the error of a product, kept until update or region can return it.
	err    error
	stream tensor.Stream
	lsmr   linalg.LSMR
	// vector is scratch of N numbers.
	vector []float64
	// row and row2 are scratch of M numbers.
	row, row2  []float64
	plane      [2][]float64
	planeImage [2][]float64
	planned    bool
	// rhs is a right-hand side of M+N numbers.
	rhs []float64
}

// probes is how many random vectors estimate the lengths of columns.
const probes = 8

func newOperator(w *iterate) *operator {
	o := &operator{iterate: w, stream: tensor.NewStream(0, 0x0b5, 0)}
	o.rhs = make([]float64, w.m+w.n)
	o.vector, o.row, o.row2 = make([]float64, w.n), make([]float64, w.m), make([]float64, w.m)
	if w.p.Sparsity != nil {
		o.sparse = newCompressed(w)
	}
	for i := range o.plane {
		o.plane[i], o.planeImage[i] = make([]float64, w.n), make([]float64, w.m+w.n)
	}
	return o
}

// update evaluates the gradient and, exactly or by random vectors, the lengths of
// the columns.
func (o *operator) update() error {
	if o.sparse != nil {
		if err := o.sparse.fill(); err != nil {
			return err
		}
		o.sparse.lengths(o.column, o.weights)
	} else {
		clear(o.column)
		o.stream.Seek(0) // the same vectors at every point
		for range probes {
			for i := range o.row2 {
				o.row2[i] = float64(1 - 2*int(o.stream.Uint32()>>31))
			}
			o.transposed(o.vector, o.row2)
			for k, v := range o.vector {
				o.column[k] += v * v / probes
			}
		}
		rootAll(o.column)
	}
	o.transposed(o.grad, o.fw)
	err := o.err
	o.err = nil
	return err
}

func rootAll(x []float64) {
	for i, v := range x {
		x[i] = math.Sqrt(v)
	}
}

// apply sets out to the weighted Jacobian times v.
func (o *operator) apply(out, v []float64) {
	var err error
	if o.sparse != nil {
		err = o.sparse.apply(out, v)
	} else {
		err = o.p.JVP(out, o.x, v)
	}
	o.keep(err)
	if o.weights != nil {
		for i, w := range o.weights {
			out[i] *= w
		}
	}
}

// transposed sets out to the transpose of the weighted Jacobian times u.
func (o *operator) transposed(out, u []float64) {
	if o.weights != nil {
		for i, w := range o.weights {
			o.row[i] = w * u[i]
		}
		u = o.row
	}
	if o.sparse != nil {
		o.keep(o.sparse.transposed(out, u))
		return
	}
	o.keep(o.p.VJP(out, o.x, u))
}

func (o *operator) keep(err error) {
	if o.err == nil {
		o.err = err
	}
}

func (o *operator) imageSize() int { return o.m }

// image is J d h.
func (o *operator) image(dst, h []float64) {
	for i, v := range h {
		o.vector[i] = o.d[i] * v
	}
	o.apply(dst, o.vector)
}
