// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/linalg"
)

// Prior is a Gaussian prior on parameters. It adds the residuals L^-1 (p - Mean), with the Cholesky
// factor L of its covariance, to those of the data.
type Prior struct {
	Names []string
	Mean  []float64
	// Cov is the covariance of the parameters, row-major.
	Cov []float64
	// Log says that Mean and Cov are those of the natural logarithms of the parameters, which must then stay above 0.
	Log bool
}

// Gaussian returns the prior of one parameter, with its mean and standard deviation.
func Gaussian(name string, mean, sd float64) Prior {
	return Prior{Names: []string{name}, Mean: []float64{mean}, Cov: []float64{sd * sd}}
}

// LogGaussian returns the prior of one positive parameter, with the mean and standard deviation of its logarithm.
func LogGaussian(name string, mean, sd float64) Prior {
	return Prior{Names: []string{name}, Mean: []float64{mean}, Cov: []float64{sd * sd}, Log: true}
}

// priorRows are the residuals of a prior: its own rows times p or log p, less a constant.
type priorRows struct {
	log bool
	// at are the numbers of the parameters.
	at []int
	// rows is L^-1, row-major.
	rows []float64
	// shift is L^-1 Mean.
	shift []float64
}

func (r Prior) rows(p *Problem) (priorRows, error) {
	k := len(r.Names)
	if len(r.Mean) != k {
		return priorRows{}, fmt.Errorf("optim: the prior has %s, but %s: give one for each", errtext.Count(k, "parameter"), errtext.Count(len(r.Mean), "mean"))
	}
	if !linalg.AllFinite(r.Mean) {
		return priorRows{}, fmt.Errorf("optim: the prior of %v has the mean %v: want finite numbers", r.Names, r.Mean)
	}
	l, err := choleskyOf(r.Cov, k)
	if err != nil {
		return priorRows{}, fmt.Errorf("optim: the prior of %v: %w", r.Names, err)
	}
	out := priorRows{log: r.Log, rows: make([]float64, k*k), shift: make([]float64, k)}
	for _, name := range r.Names {
		i, err := p.index(name)
		if err != nil {
			return priorRows{}, err
		}
		out.at = append(out.at, i)
	}
	for c := range k { // column c of the inverse
		for i := c; i < k; i++ {
			s := 0.0
			if i == c {
				s = 1
			}
			for j := c; j < i; j++ {
				s -= l[i*k+j] * out.rows[j*k+c]
			}
			out.rows[i*k+c] = s / l[i*k+i]
		}
	}
	for i := range k {
		out.shift[i] = linalg.Dot(out.rows[i*k:(i+1)*k], r.Mean)
	}
	return out, nil
}

// residuals sets out to the residuals at x.
func (r priorRows) residuals(out, x []float64) {
	k := len(r.at)
	for i := range k {
		s := -r.shift[i]
		for j, at := range r.at {
			v := x[at]
			if r.log {
				v = math.Log(v)
			}
			s += r.rows[i*k+j] * v
		}
		out[i] = s
	}
}

// slope is the derivative of residual i at x with respect to the prior's parameter j.
func (r priorRows) slope(x []float64, i, j int) float64 {
	d := r.rows[i*len(r.at)+j]
	if r.log {
		d /= x[r.at[j]]
	}
	return d
}

// along sets out to the derivatives at x along v and, if asked, to the second ones, which only logarithms have.
func (r priorRows) along(out, x, v []float64, second bool) {
	for i := range r.at {
		s := 0.0
		for j, at := range r.at {
			d := r.slope(x, i, j) * v[at]
			switch {
			case second && r.log:
				d *= -v[at] / x[at]
			case second:
				d = 0
			}
			s += d
		}
		out[i] = s
	}
}

// withPriors returns the problem with a residual more for each prior parameter.
func (p *Problem) withPriors(priors []Prior) (*Problem, error) {
	if len(priors) == 0 {
		return p, nil
	}
	var all []priorRows
	m := p.M
	q := *p
	for _, r := range priors {
		rows, err := r.rows(p)
		if err != nil {
			return nil, err
		}
		all = append(all, rows)
		q.M += len(rows.at)
	}
	q.extra = p.extra + q.M - m
	q.Residual = func(r, x []float64) error {
		at := m
		for _, a := range all {
			a.residuals(r[at:], x)
			at += len(a.at)
		}
		return p.Residual(r[:m], x)
	}
	if p.Jacobian != nil {
		q.Jacobian = p.jacobianWithPriors(q.M, all)
	}
	q.productsWithPriors(p, all)
	return &q, nil
}

// jacobianWithPriors puts the rows of priors under the Jacobian, rows in all.
func (p *Problem) jacobianWithPriors(rows int, all []priorRows) func(j, x []float64) error {
	var data []float64
	return func(j, x []float64) error {
		if data == nil {
			data = make([]float64, p.M*p.N)
		}
		if err := p.Jacobian(data, x); err != nil {
			return err
		}
		clear(j)
		for k := range p.N {
			copy(j[k*rows:], data[k*p.M:(k+1)*p.M])
		}
		at := p.M
		for _, a := range all {
			for i := range a.at {
				for c, k := range a.at {
					j[k*rows+at+i] = a.slope(x, i, c)
				}
			}
			at += len(a.at)
		}
		return nil
	}
}

// productsWithPriors extends the products with the Jacobian and the sparsity.
func (q *Problem) productsWithPriors(p *Problem, all []priorRows) {
	m := p.M
	if p.JVP != nil && p.VJP != nil {
		q.JVP = func(out, x, v []float64) error {
			at := m
			for _, a := range all {
				a.along(out[at:], x, v, false)
				at += len(a.at)
			}
			return p.JVP(out[:m], x, v)
		}
		q.VJP = func(out, x, u []float64) error {
			if err := p.VJP(out, x, u[:m]); err != nil {
				return err
			}
			at := m
			for _, a := range all {
				k := len(a.at)
				for i := range k {
					for c, to := range a.at {
						out[to] += a.slope(x, i, c) * u[at+i]
					}
				}
				at += k
			}
			return nil
		}
	}
	if p.Second != nil {
		q.Second = func(out, x, v []float64) error {
			at := m
			for _, a := range all {
				a.along(out[at:], x, v, true)
				at += len(a.at)
			}
			return p.Second(out[:m], x, v)
		}
	}
	if p.Sparsity != nil {
		q.sparsityWithPriors(p, all)
	}
}

// sparsityWithPriors adds the rows of priors to a sparse Jacobian.
func (q *Problem) sparsityWithPriors(p *Problem, all []priorRows) {
	s := &Sparsity{Row: append([]int{}, p.Sparsity.Row...), Column: append([]int{}, p.Sparsity.Column...)}
	var slopes []func(x []float64) float64
	for _, a := range all {
		order := sortedOrder(a.at)
		for i := range a.at {
			for _, c := range order {
				s.Column = append(s.Column, a.at[c])
				slopes = append(slopes, func(x []float64) float64 { return a.slope(x, i, c) })
			}
			s.Row = append(s.Row, len(s.Column))
		}
	}
	q.Sparsity = s
	if p.SparseJacobian != nil {
		n := len(p.Sparsity.Column)
		q.SparseJacobian = func(values, x []float64) error {
			for i, slope := range slopes {
				values[n+i] = slope(x)
			}
			return p.SparseJacobian(values[:n], x)
		}
	}
}
