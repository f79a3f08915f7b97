// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package twotime

import (
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// linear is the number of coefficients of contrast and offset together.
func (f *fitter) linear() int {
	if f.basis == nil {
		return 0
	}
	return 2 * len(f.basis[0])
}

// scales returns contrast and offset-1 of an angle from their coefficients.
func (f *fitter) scales(angle int, l []float64) (contrast, offset float64) {
	if f.basis == nil {
		return f.s.Contrast[angle], f.s.Offset[angle] - 1
	}
	row := f.basis[angle]
	for i, b := range row {
		contrast += b * l[i]
		offset += b * l[len(row)+i]
	}
	return contrast, offset
}

// best returns the coefficients of contrast and offset-1 with the least sum of squares at the sums.
func (f *fitter) best() ([]float64, error) {
	n := f.linear()
	if n == 0 {
		return nil, nil
	}
	if f.s.Scaling == Individual {
		return f.bestOfEach()
	}
	k, half := f.size(), n/2
	a, b := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for angle, g := range f.gram {
		column := func(i int) (at int, weight float64) { // of the sums, of coefficient i
			if i < half {
				return 1, f.basis[angle][i]
			}
			return 0, f.basis[angle][i-half]
		}
		for i := range n {
			at, u := column(i)
			b.SetVec(i, b.AtVec(i)+u*g[at*k+k-1])
			for j := i; j < n; j++ {
				other, v := column(j)
				a.SetSym(i, j, a.At(i, j)+u*v*g[at*k+other])
			}
		}
	}
	return solved(a, b)
}

// solved solves normal equations for coefficients of contrasts and offsets, which it scales to a diagonal of ones.
func solved(a *mat.SymDense, b *mat.VecDense) ([]float64, error) {
	n := b.Len()
	size := make([]float64, n)
	for i := range n {
		if size[i] = math.Sqrt(a.At(i, i)); size[i] == 0 {
			size[i] = 1
		}
	}
	for i := range n {
		b.SetVec(i, b.AtVec(i)/size[i])
		for j := i; j < n; j++ {
			a.SetSym(i, j, a.At(i, j)/(size[i]*size[j]))
		}
	}
	var c mat.Cholesky
	if !c.Factorize(a) {
		return nil, &transport.DomainError{Parameter: "contrast", What: "contrast and offset cannot be told apart, because the model is the same for all pairs: start elsewhere, or give both"}
	}
	var x mat.VecDense
	if err := c.SolveVecTo(&x, b); err != nil {
		return nil, &transport.DomainError{Parameter: "contrast", What: "contrast and offset can hardly be told apart, because the model is nearly the same for all pairs: start elsewhere, or give both"}
	}
	out := make([]float64, n)
	for i := range n {
		out[i] = x.AtVec(i) / size[i]
	}
	return out, nil
}

// joint returns the sums of products of the derivatives by all free parameters (coefficients first, then the motion) and of the
// residuals, at contrasts and offsets; row-major.
func (f *fitter) joint(l []float64) *mat.SymDense {
	n, k := f.linear(), f.size()
	half, size := n/2, n+len(f.free)+1
	out := mat.NewSymDense(size, nil)
	for angle, g := range f.gram {
		contrast, offset := f.scales(angle, l)
		f.terms = f.terms[:0]
		add := func(column, at int, weight float64) {
			if weight != 0 {
				f.terms = append(f.terms, term{column, at, weight})
			}
		}
		for i := range half {
			add(i, 1, f.basis[angle][i])
			add(half+i, 0, f.basis[angle][i])
		}
		for i, parameter := range f.free {
			add(n+i, 2+parameter, contrast)
		}
		add(size-1, 0, offset)
		add(size-1, 1, contrast)
		add(size-1, k-1, -1)
		for _, u := range f.terms {
			for _, v := range f.terms {
				if u.column <= v.column {
					out.SetSym(u.column, v.column, out.At(u.column, v.column)+u.weight*v.weight*g[u.at*k+v.at])
				}
			}
		}
	}
	return out
}

// term is a part of a column of joint at an angle: one of the sums' columns, times a weight.
type term struct {
	column, at int
	weight     float64
}

// scaled returns the first n rows and columns of products of derivatives, scaled to a diagonal of ones, and the scales.
func scaled(a *mat.SymDense, n int) (*mat.SymDense, []float64) {
	scale := make([]float64, n)
	for i := range n {
		if scale[i] = math.Sqrt(a.At(i, i)); scale[i] == 0 {
			scale[i] = 1
		}
	}
	out := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			out.SetSym(i, j, a.At(i, j)/(scale[i]*scale[j]))
		}
	}
	return out, scale
}

// newtonStep returns the Gauss-Newton step of all parameters.
func newtonStep(a *mat.SymDense) ([]float64, bool) {
	n := a.SymmetricDim() - 1
	s, scale := scaled(a, n)
	var c mat.Cholesky
	if !c.Factorize(s) {
		return nil, false
	}
	b := mat.NewVecDense(n, nil)
	for i := range n {
		b.SetVec(i, -a.At(i, n)/scale[i])
	}
	var x mat.VecDense
	if c.SolveVecTo(&x, b) != nil {
		return nil, false
	}
	out := make([]float64, n)
	for i := range n {
		out[i] = x.AtVec(i) / scale[i]
	}
	return out, true
}

// inverted returns the inverse of the first n rows and columns of products of derivatives.
func inverted(a *mat.SymDense, n int) (*mat.SymDense, bool) {
	s, scale := scaled(a, n)
	var c mat.Cholesky
	if !c.Factorize(s) {
		return nil, false
	}
	var inverse mat.SymDense
	if c.InverseTo(&inverse) != nil {
		return nil, false
	}
	for i := range scale {
		for j := i; j < len(scale); j++ {
			inverse.SetSym(i, j, inverse.At(i, j)/(scale[i]*scale[j]))
		}
	}
	return &inverse, true
}
