// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/internal/linalg"
	"github.com/euryale-dev/euryale/optim"
)

// shared is an error that rows have in common: all of them, or those with the same label.
type shared struct {
	sd     float64
	labels []string // nil for one of all rows
	code   []int    // of the rows
}

// sharedBy reads "0.02", "2%" or "2% over run".
func (p *Problem) sharedBy(field, text string, rows int) (shared, error) {
	number, over, grouped := strings.Cut(text, " over ")
	share, percent := strings.CutSuffix(strings.TrimSpace(number), "%")
	sd, err := strconv.ParseFloat(share, 64)
	if percent {
		sd /= 100
	}
	if err != nil || !(sd > 0) || math.IsInf(sd, 0) || percent && field == "offset_error" {
		return shared{}, fmt.Errorf("%s: %q: want a number above 0, such as %s, or one for each label of a column, such as %q", field, text, map[bool]string{true: "2%", false: "0.1"}[field == "scale_error"], "0.1 over run")
	}
	s := shared{sd: sd, code: make([]int, rows)}
	if grouped {
		over = strings.TrimSpace(over)
		c, ok := p.Data[over]
		if !ok {
			return s, fmt.Errorf("%s: %q: there is no column %s%s", field, text, over, meant(over, sortedKeys(p.Data)))
		}
		s.labels, s.code = c.levels()
	}
	return s, nil
}

// nuisances are parameters with normal priors about 0 that stand for shared errors.
type nuisances struct {
	inputs []*ad.Node
	priors []optim.Prior
}

// add returns a nuisance parameter for each row.
func (n *nuisances) add(name string, s shared) *ad.Node {
	var all []*ad.Node
	for k := range max(1, len(s.labels)) {
		own := name
		if s.labels != nil {
			own += "[" + s.labels[k] + "]"
		}
		in := ad.Input(own)
		all = append(all, in)
		n.priors = append(n.priors, optim.Gaussian(own, 0, s.sd))
	}
	n.inputs = append(n.inputs, all...)
	if s.labels == nil {
		return all[0]
	}
	return ad.Gather(ad.Stack(0, all...), ad.Ints(s.code), 0)
}

// withShared returns the model with the shared errors of scale and offset as nuisance parameters: f (1 + scale) + offset.
func (p *Problem) withShared(m *ad.Node, rows int) (*ad.Node, nuisances, error) {
	var n nuisances
	if p.ScaleError != "" {
		s, err := p.sharedBy("scale_error", p.ScaleError, rows)
		if err != nil {
			return m, n, err
		}
		m = ad.Mul(m, ad.Shift(n.add("scale_error", s), 1))
	}
	if p.OffsetError != "" {
		s, err := p.sharedBy("offset_error", p.OffsetError, rows)
		if err != nil {
			return m, n, err
		}
		m = ad.Add(m, n.add("offset_error", s))
	}
	return m, n, nil
}

// mostCorrelated is the largest number of rows with a covariance: 130 MB.
const mostCorrelated = 4000

// whitened makes residuals independent where errors of rows are correlated.
func (p *Problem) whitened(r *ad.Node, rows int) (*ad.Node, error) {
	switch {
	case p.Cov != nil && p.AR1 != "":
		return nil, fmt.Errorf("cov and ar1 are both given: give one of them")
	case p.Cov != nil && p.Sigma != "":
		return nil, fmt.Errorf("cov and sigma are both given: the covariance has the variances on its diagonal; leave sigma out")
	case p.Cov != nil:
		return p.byCovariance(r, rows)
	case p.AR1 != "":
		a, err := p.autoregression(rows)
		if err != nil {
			return nil, err
		}
		return a.whiten(r), nil
	}
	return r, nil
}

// byCovariance multiplies residuals by the inverse of the Cholesky factor of the covariance.
func (p *Problem) byCovariance(r *ad.Node, rows int) (*ad.Node, error) {
	if rows > mostCorrelated {
		return nil, fmt.Errorf("cov: a covariance of %d rows is too large: want at most %d; declare its structure, or fit blocks with --by", rows, mostCorrelated)
	}
	if len(p.Cov) != rows {
		return nil, fmt.Errorf("cov: the covariance has %d rows, but the data have %d: want one for each", len(p.Cov), rows)
	}
	l := make([]float64, 0, rows*rows)
	for i, row := range p.Cov {
		if len(row) != rows {
			return nil, fmt.Errorf("cov: row %d has %d numbers: want %d, a square matrix", i+1, len(row), rows)
		}
		for k, v := range row {
			if w := p.Cov[k][i]; !linalg.Finite(v) || math.Abs(v-w) > 1e-8*(math.Abs(v)+math.Abs(w)) {
				return nil, fmt.Errorf("cov: the elements (%d, %d) and (%d, %d), counted from 1, are %g and %g: want finite numbers, and a symmetric matrix", i+1, k+1, k+1, i+1, v, w)
			}
		}
		l = append(l, row...)
	}
	if row, _ := linalg.Cholesky(l, rows); row >= 0 {
		return nil, fmt.Errorf("cov: the covariance is not positive definite at row %d: add a small number to its diagonal, or leave the row out", row+1)
	}
	return ad.Reshape(ad.SolveTriangular(ad.Const(l, rows, rows), r, true, false), rows), nil
}

// autoregressive is a correlation phi of neighbouring rows, of all or of those with the same label.
type autoregressive struct {
	phi    float64
	before []int // row before each in its group; -1 for the first
}

// autoregression reads "0.6" or "0.6 over run".
func (p *Problem) autoregression(rows int) (a autoregressive, err error) {
	number, over, grouped := strings.Cut(p.AR1, " over ")
	if strings.TrimSpace(number) != "auto" {
		if a.phi, err = strconv.ParseFloat(strings.TrimSpace(number), 64); err != nil || !(math.Abs(a.phi) < 1) {
			return a, fmt.Errorf("ar1: %q: want the correlation of neighbouring rows between -1 and 1, such as 0.6, or auto, and for rows that follow each other by label, 0.6 over run", p.AR1)
		}
	}
	code := make([]int, rows)
	if grouped {
		over = strings.TrimSpace(over)
		c, ok := p.Data[over]
		if !ok {
			return a, fmt.Errorf("ar1: %q: there is no column %s%s", p.AR1, over, meant(over, sortedKeys(p.Data)))
		}
		_, code = c.levels()
	}
	last := map[int]int{}
	for i, k := range code {
		before, seen := last[k]
		if !seen {
			before = -1
		}
		a.before = append(a.before, before)
		last[k] = i
	}
	return a, nil
}

// whiten returns (r_i - phi r_before)/sqrt(1 - phi^2), and r_i for the first rows.
func (a autoregressive) whiten(r *ad.Node) *ad.Node {
	n := len(a.before)
	from, weight, scale := make([]int, n), make([]float64, n), make([]float64, n)
	for i, b := range a.before {
		from[i], scale[i] = max(b, 0), 1
		if b >= 0 {
			weight[i], scale[i] = a.phi, 1/math.Sqrt(1-a.phi*a.phi)
		}
	}
	return ad.Mul(ad.Const(scale), ad.Sub(r, ad.Mul(ad.Const(weight), ad.Gather(r, ad.Ints(from), 0))))
}

// EstimateAR1 finds the correlation of neighbouring rows from the residuals of fits, each with the correlation of the one before, if AR1 is auto, and puts it in its place. Few
// rows, and formulas with many parameters, draw it towards 0.
//
// Reference: Cochrane & Orcutt, J. Am. Stat. Assoc. 44, 32 (1949), doi:10.1080/01621459.1949.10483290.
func (p *Problem) EstimateAR1(ctx context.Context) (phi float64, err error) {
	number, over, grouped := strings.Cut(p.AR1, " over ")
	if strings.TrimSpace(number) != "auto" {
		return 0, nil
	}
	write := func(phi float64) {
		p.AR1 = strconv.FormatFloat(phi, 'g', 6, 64)
		if grouped {
			p.AR1 += " over " + over
		}
	}
	for range 50 {
		least, s, err := p.LeastSquares()
		if err != nil {
			return 0, err
		}
		r, err := optim.LeastSquares(ctx, least, s)
		if err != nil {
			return 0, err
		}
		next, err := p.neighbours(r)
		if err != nil {
			return 0, err
		}
		done := math.Abs(next-phi) < 1e-6
		phi = next
		if write(phi); done {
			break
		}
	}
	return phi, nil
}

// neighbours is the correlation of the residuals of neighbouring rows, which are not whitened.
func (p *Problem) neighbours(r *optim.Result) (float64, error) {
	plain := *p
	plain.AR1 = ""
	least, _, err := plain.LeastSquares()
	if err != nil {
		return 0, err
	}
	z := make([]float64, least.M)
	if err := least.Residual(z, r.X); err != nil {
		return 0, err
	}
	a, err := p.autoregression(len(z))
	if err != nil {
		return 0, err
	}
	num, den := 0.0, 0.0
	for i, b := range a.before {
		if b >= 0 {
			num, den = num+z[i]*z[b], den+(z[i]*z[i]+z[b]*z[b])/2
		}
	}
	if den == 0 {
		return 0, nil
	}
	return min(max(num/den, -0.99), 0.99), nil
}

// penalties are the priors of a fit: normal ones of parameters, or of their logarithms.
func (p *Problem) penalties(names []string, vectors map[string]vector) (out []optim.Prior, err error) {
	for _, name := range sortedKeys(p.Priors) {
		if !slices.Contains(names, name) {
			return nil, ofPrior(name, fmt.Errorf("priors: %s is no parameter of the formula%s", name, meant(name, slices.Clone(names))))
		}
		c, err := formula.ParseCall(p.Priors[name])
		if err != nil {
			return nil, ofPrior(name, fmt.Errorf("prior of %s: %w", name, err))
		}
		if c.Name != "normal" && c.Name != "lognormal" || len(c.Args) != 2 || len(c.Names()) > 0 {
			return nil, ofPrior(name, fmt.Errorf("prior of %s: least squares takes normal(mean, sd) and lognormal(mean, sd) with numbers, and not %s: sample for others", name, p.Priors[name]))
		}
		var v [2]float64
		for i, f := range c.Args {
			n, err := f.Node(nil)
			if err != nil {
				return nil, ofPrior(name, fmt.Errorf("prior of %s: %w", name, err))
			}
			if n, err = folded(n); err != nil {
				return nil, ofPrior(name, fmt.Errorf("prior of %s: %w", name, err))
			}
			value, err := ad.Numbers(n)
			if err != nil {
				return nil, ofPrior(name, fmt.Errorf("prior of %s: %w", name, err))
			}
			v[i] = value[0][0]
		}
		if !linalg.Finite(v[0]) || !(v[1] > 0) || math.IsInf(v[1], 0) {
			return nil, ofPrior(name, fmt.Errorf("prior of %s: %s: want a finite mean and a standard deviation above 0", name, p.Priors[name]))
		}
		for _, e := range vectors[name].elements(name) {
			if c.Name == "normal" {
				out = append(out, optim.Gaussian(e, v[0], v[1]))
			} else {
				out = append(out, optim.LogGaussian(e, v[0], v[1]))
			}
		}
	}
	return out, nil
}
