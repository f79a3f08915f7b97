// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/internal/hamiltonian"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/tensor"
)

// purposeWarmStart is the random stream of WarmStart.
const purposeWarmStart uint32 = 101

// WarmStart returns one unconstrained start per chain around a point fit, for
// Settings.Init: values are constrained, by name; cov is their covariance in the
// order of names, row-major. Chains start at theta + L u with u of Student's distribution of
// 4 degrees of freedom and L L^T twice the covariance. Their variance is four times that of
// the fit, for the long tails, so that starts are overdispersed and R-hat keeps its meaning.
//
// Values on a bound are moved inside by 1e-8 of the width. Where a variance is 0
// or not finite, or the value lies on a bound, the fit says nothing of the
// scale: the unconstrained variance counts as 1. Starts whose density is not
// finite are drawn again, nearer.
func (p *Posterior) WarmStart(names []string, values, cov []float64, chains int, seed uint64) ([][]float64, error) {
	n := len(names)
	if len(values) != n || len(cov) != n*n {
		return nil, fmt.Errorf("infer: the warm start has %d names, %d values and %d covariances: want %d values and %d covariances", n, len(values), len(cov), n, n*n)
	}
	f := &fitted{post: p, names: names, values: values, cov: cov}
	centre, err := f.at(-1, 0)
	if err != nil {
		return nil, err
	}
	if len(centre) != n {
		return nil, fmt.Errorf("infer: a warm start needs scalar parameters, but %d names stand for %d values: fit scalar parameters", n, len(centre))
	}
	l := f.factor()
	target := p.Clone().(*Posterior)
	out := make([][]float64, chains)
	for c := range out {
		src := tensor.NewStream(seed, purposeWarmStart, uint32(c))
		if out[c], err = target.near(&src, l, centre); err != nil {
			return nil, fmt.Errorf("infer: there was no finite start near the fit for chain %d: %w", c, err)
		}
	}
	return out, nil
}

// near draws around centre until the density is finite.
func (p *Posterior) near(src *tensor.Stream, l, centre []float64) ([]float64, error) {
	q, g := make([]float64, p.dim), make([]float64, p.dim)
	for try := range 100 {
		jitter(src, l, centre, q, math.Pow(0.7, float64(try)))
		lp, err := p.LogProbGrad(q, g)
		if err != nil && !hamiltonian.Recoverable(err) {
			return nil, err
		}
		if err == nil && linalg.Finite(lp) && linalg.AllFinite(g) {
			return q, nil
		}
	}
	return nil, errors.New(p.Explain(q))
}

// fitted is a point fit of all parameters.
type fitted struct {
	post        *Posterior
	names       []string
	values, cov []float64
}

// at returns the unconstrained fit with value i, if any, moved by h.
func (f *fitted) at(i int, h float64) ([]float64, error) {
	values := map[string][]float64{}
	for k, name := range f.names {
		v := f.values[k]
		if k == i {
			v += h
		}
		values[name] = []float64{v}
	}
	return f.post.Unconstrain(values, 1e-8)
}

// factor returns the Cholesky factor of twice the covariance in unconstrained
// space, in the order of declaration: the delta method with derivatives by
// differences.
func (f *fitted) factor() []float64 {
	n := len(f.names)
	place := make([]int, n) // of names among the parameters
	for i, name := range f.names {
		place[i] = slices.IndexFunc(f.post.model.params, func(p *param) bool { return p.name == name })
	}
	slope := make([]float64, n)
	for i := range slope {
		slope[i] = f.slope(i, place[i])
	}
	a := make([]float64, n*n)
	for i, pi := range place {
		for j, pj := range place {
			switch v := f.cov[i*n+j] * slope[i] * slope[j]; {
			case slope[i] != 0 && slope[j] != 0 && linalg.Finite(v):
				a[pi*n+pj] = 2 * v
			case i == j:
				a[pi*n+pj] = 2
			}
		}
	}
	return choleskyOrDiagonal(a, n)
}

// slope is the derivative of unconstrained parameter k with respect to value i,
// or 0 where it or the variance is not known.
func (f *fitted) slope(i, k int) float64 {
	h := 1e-2 * math.Sqrt(f.cov[i*len(f.names)+i])
	if !(h > 0) || !linalg.Finite(h) {
		return 0
	}
	lo, err0 := f.at(i, -h)
	mid, err1 := f.at(i, 0)
	hi, err2 := f.at(i, h)
	if err0 != nil || err1 != nil || err2 != nil {
		return 0
	}
	down, up := mid[k]-lo[k], hi[k]-mid[k]
	if r := down / up; !(r > 0.5 && r < 2) { // a bound is near
		return 0
	}
	return (up + down) / (2 * h)
}

// choleskyOrDiagonal falls back to the diagonal where a is not positive definite.
func choleskyOrDiagonal(a []float64, n int) []float64 {
	l := make([]float64, n*n)
	for i := range n {
		for j := 0; j <= i; j++ {
			s := a[i*n+j]
			for k := range j {
				s -= l[i*n+k] * l[j*n+k]
			}
			switch {
			case i != j:
				l[i*n+j] = s / l[j*n+j]
			case s > 1e-12*a[i*n+i]:
				l[i*n+i] = math.Sqrt(s)
			default:
				clear(l)
				for d := range n {
					l[d*n+d] = math.Sqrt(max(a[d*n+d], 1e-12))
				}
				return l
			}
		}
	}
	return l
}

// jitter sets q = centre + scale L u, u ~ t_4, at most 3 in each coordinate.
func jitter(src *tensor.Stream, l, centre, q []float64, scale float64) {
	n := len(q)
	u := make([]float64, n)
	for i := range u {
		chi := 0.0
		for range 4 {
			z := src.Normal()
			chi += z * z
		}
		u[i] = src.Normal() / math.Sqrt(chi/4)
	}
	for i := range q {
		s := 0.0
		for j := 0; j <= i; j++ {
			s += l[i*n+j] * u[j]
		}
		q[i] = centre[i] + min(max(scale*s, -3), 3)
	}
}
