// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"context"
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Separable is a model that is linear in some of its parameters:
//
//	y = offset + sum_j c_j basis_j(a)
//
// FitSeparable solves for the coefficients c at every a, so that only a needs a start and fits
// converge from farther away (variable projection; Golub & Pereyra, doi:10.1137/0710036).
type Separable struct {
	// Basis holds the basis functions of Params, each with M elements or one.
	Basis []*ad.Node
	// Params are the nonlinear parameters a.
	Params []*ad.Node
	// Offset is a part of the model without a coefficient. Nil means none.
	Offset *ad.Node
	// Y holds M data, or K times M: K data sets that share a and have coefficients of their own.
	Y []float64
	// Sigma holds the standard deviations of the data, one for each datum, or M that serve all K
	// data sets. Nil means 1.
	Sigma []float64
	// Names are the names of the coefficients. Default: c1, c2, ..; with K data sets c1.1, c2.1, ..
	Names []string
	// The start and the bounds in Start, Lower and Upper are those of the nonlinear parameters a.
	Start, Lower, Upper []float64
	// NonNegative restricts the coefficients to c >= 0.
	NonNegative bool
}

// FitSeparable minimises over a and c and returns the fit of both, a first, with their joint
// covariance. Settings act as in LeastSquares. A robust loss is an error, since it has no
// coefficients in closed form, and so are fixed or tied coefficients and priors on them; put such
// terms into Offset.
//
// The Jacobian is Kaufman's (doi:10.1007/BF01932995).
func FitSeparable(ctx context.Context, m Separable, s Settings) (_ *Result, err error) {
	defer given.Caught(&err)
	if err := given.Args("optim.FitSeparable", "ctx", ctx); err != nil {
		return nil, err
	}
	if !s.Loss.plain() {
		return nil, fmt.Errorf("optim: variable projection cannot use loss %q: fit all parameters with LeastSquares", string(s.Loss))
	}
	v, err := newProjection(m)
	if err != nil {
		return nil, err
	}
	outer := v.outer()
	inner := s
	inner.RelativeSigma, inner.Geodesic = false, false
	first, err := LeastSquares(ctx, outer, inner)
	if first == nil {
		return nil, err
	}
	full, err2 := v.full(first.X)
	if err2 != nil {
		return nil, err2
	}
	// All parameters together, from where nothing is left to gain: covariances,
	// active bounds, and the last digits.
	last := s
	last.Method, last.XScale = Auto, nil
	if last.Geodesic = false; ctx.Err() != nil {
		ctx, last.NoPolish = context.WithoutCancel(ctx), true
		last.MaxEvaluations = 1
	}
	r, err2 := LeastSquares(ctx, full, last)
	if err2 != nil {
		return nil, err2
	}
	r.NFev, r.NJev, r.Steps = r.NFev+first.NFev, r.NJev+first.NJev, r.Steps+first.Steps
	if !first.Status.Converged() {
		r.Status = first.Status
	}
	return r, err
}

// projection evaluates a separable model.
type projection struct {
	Separable
	// m, k and p are the numbers of data of a set, of sets, and of coefficients of a set.
	m, k, p int
	// weight is 1/sigma, k x m.
	weight []float64
	// basis has the offset and the basis functions as its residual, p+1 times m.
	basis *Problem
	// slope is sum_j c_j basis_j + offset as a function of a, with c as data.
	slope *Problem
	// c holds the coefficients, k x p.
	c []float64
	// at is the a of the basis values and of c.
	at     []float64
	values []float64
	// phi is the weighted basis of one set, by columns.
	phi []float64
	y   []float64
	set *linalg.ActiveSet
	// q factors the basis of each set, of its passive columns where NonNegative.
	q        []*linalg.PivotedQR
	residual []float64
}

func newProjection(m Separable) (*projection, error) {
	v := &projection{Separable: m, p: len(m.Basis)}
	if v.p == 0 {
		return nil, fmt.Errorf("optim: the separable model has no basis functions: give at least one")
	}
	for _, b := range m.Basis {
		if b.Err() != nil {
			return nil, fmt.Errorf("optim: %w", b.Err())
		}
		v.m = max(v.m, b.Size())
	}
	if len(m.Y) == 0 || len(m.Y)%v.m != 0 {
		return nil, fmt.Errorf("optim: there are %d data, but the basis functions have %d elements: want as many data, or a multiple of that number", len(m.Y), v.m)
	}
	v.k = len(m.Y) / v.m
	if !linalg.AllFinite(m.Y) {
		return nil, fmt.Errorf("optim: the data contain NaN or infinity: leave those points out")
	}
	if err := v.weigh(); err != nil {
		return nil, err
	}
	if v.Names == nil {
		for set := range v.k {
			for j := range v.p {
				name := fmt.Sprintf("c%d", j+1)
				if v.k > 1 {
					name = fmt.Sprintf("%s.%d", name, set+1)
				}
				v.Names = append(v.Names, name)
			}
		}
	}
	if len(v.Names) != v.k*v.p {
		return nil, fmt.Errorf("optim: there are %d names for %d coefficients: give one for each", len(v.Names), v.k*v.p)
	}
	return v, v.compile()
}

// weigh fills the weights.
func (v *projection) weigh() error {
	v.weight = repeated(1, v.k*v.m)
	if v.Sigma == nil {
		return nil
	}
	if len(v.Sigma) != v.m && len(v.Sigma) != v.k*v.m {
		return fmt.Errorf("optim: Sigma has %d values for %d data: give one for each datum, or one for each element of a basis function", len(v.Sigma), len(v.Y))
	}
	if err := positive("sigma", v.Sigma, len(v.Sigma)); err != nil {
		return err
	}
	for i := range v.weight {
		v.weight[i] = 1 / v.Sigma[i%len(v.Sigma)]
	}
	return nil
}

func (v *projection) compile() error {
	offset := v.Offset
	if offset == nil {
		offset = ad.Scalar(0)
	}
	wide := func(x *ad.Node) *ad.Node { return ad.Broadcast(ad.Reshape(x, x.Size()), v.m) }
	parts := []*ad.Node{wide(offset)}
	c := ad.Input("coefficients", v.p)
	sum := wide(offset)
	for j, b := range v.Basis {
		parts = append(parts, wide(b))
		sum = ad.Add(sum, ad.Mul(wide(b), ad.Index(c, 0, j)))
	}
	var err error
	if v.basis, err = FromGraph(ad.Concat(0, parts...), v.Params); err != nil {
		return err
	}
	if v.slope, err = FromGraph(sum, v.Params, Data{Node: c, Values: make([]float64, v.p)}); err != nil {
		return err
	}
	v.c, v.values = make([]float64, v.k*v.p), make([]float64, (v.p+1)*v.m)
	v.phi, v.y, v.residual = make([]float64, v.m*v.p), make([]float64, v.m), make([]float64, v.k*v.m)
	v.set = linalg.NewActiveSet(v.m, v.p)
	for range v.k {
		v.q = append(v.q, linalg.NewPivotedQR(max(v.m, v.p), v.p, new(linalg.Arena)))
	}
	return nil
}
