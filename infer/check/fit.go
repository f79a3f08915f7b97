// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/optim"
)

// Unconverged returns the flag of a fit that did not converge, with what to try, or nil if it
// converged.
func Unconverged(s optim.Status) []Flag {
	if s.Converged() {
		return nil
	}
	why, remedy, _ := strings.Cut(s.Message(), ": ")
	return []Flag{{Kind: KindUnconverged, Text: "the fit did not converge: " + why, Remedy: remedy}}
}

// FromFit returns the data of a least-squares fit: residuals, Jacobian, bounds, Gaussian priors,
// combinations that the data do not determine, and a finding if it did not converge. Add axes,
// directions, alterations and findings, then call Judge.
func FromFit(r *optim.Result) Data {
	n := max(0, len(r.Residuals)-r.PriorResiduals)
	d := Data{Relative: !r.Absolute, Robust: r.Robust(), AtPoint: !onlyRounding(r), Unknown: r.Undetermined, Findings: Unconverged(r.Status), Z: make([]float64, n)}
	for i, v := range r.Residuals[:n] {
		d.Z[i] = -v
	}
	d.Names, d.Jacobian = make([]string, 0, len(r.Names)), make([]float64, 0, n*len(r.Names))
	sd := r.SD()
	// What the data do not determine is held: along it the model is far from linear within its error, and how far the data would take another parameter if
	// it followed means nothing. A parameter on a bound that they do not determine is told as that.
	free := make([]bool, len(r.Names))
	for k, name := range r.Names {
		free[k] = !slices.Contains(r.Undetermined, name)
	}
	for k, name := range r.Names {
		if r.Jacobian != nil && r.Active[k] == 0 { // a parameter on a bound did not adapt to the data
			column := r.Jacobian[k*r.M : k*r.M+n]
			if norm(column) > 0 { // 0: fixed, tied, or without influence
				d.Names, d.Jacobian = append(d.Names, name), append(d.Jacobian, column...)
			}
		}
		d.OnBounds += int(truth(r.Active[k] != 0))
		if r.Active[k] != 0 && sd[k] > 0 && !math.IsInf(sd[k], 1) && free[k] {
			d.Bounds = append(d.Bounds, Bound{Name: name, Value: r.X[k], Limit: r.X[k], Pull: r.BeyondBound(k, freed(r.Jacobian, r.M, func(j int) bool { return r.Active[j] == 0 && free[j] }, k))})
		}
	}
	d.Priors = priorsOf(r)
	return d
}

// onlyRounding reports whether the residuals are no more than what rounding leaves of the terms of the model.
func onlyRounding(r *optim.Result) bool {
	reach := 0.0
	for k, x := range r.X {
		if r.Jacobian != nil {
			reach = max(reach, norm(r.Jacobian[k*r.M:(k+1)*r.M])*math.Abs(x))
		}
	}
	return norm(r.Residuals) <= 1e-11*reach
}

// freed returns the length of the Jacobian's column k outside those of the parameters that may
// follow: the data's information on parameter k if it were released.
func freed(jacobian []float64, m int, follows func(j int) bool, k int) float64 {
	s := span{mem: new(arena[float64])}
	for j := range len(jacobian) / max(m, 1) {
		if follows(j) {
			s.addBeyond(jacobian[j*m:(j+1)*m], leastOwn)
		}
	}
	if len(jacobian) == 0 {
		return math.Inf(1)
	}
	c := slices.Clone(jacobian[k*m : (k+1)*m])
	s.outside(c)
	if length := norm(c); length > leastOwn*norm(jacobian[k*m:(k+1)*m]) {
		return length
	}
	return math.Inf(1)
}

// priorsOf judges the residuals of Gaussian priors: what the other residuals leave of them is their
// conflict with the data.
func priorsOf(r *optim.Result) (out []Prior) {
	if r.PriorResiduals == 0 || r.Jacobian == nil {
		return nil
	}
	all := Data{Z: make([]float64, r.M), Names: r.Names, Jacobian: r.Jacobian}
	for i, v := range r.Residuals {
		all.Z[i] = -v
	}
	w := new(Workspace).residuals(&all)
	z := w.studentised
	for i := r.M - r.PriorResiduals; i < r.M; i++ {
		if math.IsNaN(z[i]) {
			continue
		}
		g := w.try(unit(r.M, []int{i}))
		w.solve(&g)
		name, shift := g.moved(r.Names)
		value := math.NaN()
		if name != "" {
			value = r.Value(name)
		}
		out = append(out, Prior{Name: name, Distribution: "(Gaussian)", Value: value, P: min(1, 2*normalTail(math.Abs(z[i]))), Shift: shift})
	}
	return out
}
