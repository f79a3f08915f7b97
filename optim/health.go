// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim

import (
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/internal/linalg"
)

// Health judges how well the data determine the parameters of a fit: what is wrong,
// with numbers, and what to try. Package infer/check judges the residuals.
type Health struct {
	// Condition is the condition number of the Jacobian whose columns are scaled to length 1. It is
	// +Inf if the Jacobian is rank-deficient.
	Condition  float64
	Parameters []ParameterHealth
	Findings   []Finding
}

// ParameterHealth says how well a fitted parameter is determined.
type ParameterHealth struct {
	Name string
	// Relative is SD/|value|. Inflation is the factor by which the other parameters enlarge the
	// variance; 1 means not at all.
	Relative, Inflation float64
	// Partner is the parameter with which this one is most correlated, and Correlation is their
	// correlation.
	Partner     string
	Correlation float64
	// Active is -1 or 1 if the parameter is on its lower or upper bound, and otherwise 0.
	Active int
}

// Finding describes one problem and its remedy.
type Finding struct{ What, Remedy string }

// OK reports whether nothing was found.
func (h Health) OK() bool { return len(h.Findings) == 0 }

// String lists the findings, or says that there are none.
func (h Health) String() string {
	if h.OK() {
		return fmt.Sprintf("The data determine the parameters (condition %.2g).", h.Condition)
	}
	var b strings.Builder
	for i, f := range h.Findings {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "- %s: %s", f.What, f.Remedy)
	}
	return b.String()
}

// Health judges how well the data determine the parameters.
func (r *Result) Health() Health {
	h := Health{Condition: math.NaN()}
	find := func(remedy, what string, a ...any) {
		h.Findings = append(h.Findings, Finding{fmt.Sprintf(what, a...), remedy})
	}
	if !r.Status.Converged() {
		_, remedy, _ := strings.Cut(r.Status.Message(), ": ")
		find(orText(remedy, "see Status.Message"), "the fit did not converge (%s)", r.Status)
	}
	r.judgeParameters(&h, find)
	return h
}

func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func (r *Result) judgeParameters(h *Health, find func(remedy, what string, a ...any)) {
	for _, u := range r.Undetermined {
		find("fix a parameter, tie one to another, add a prior or more data", "the data do not determine %s", u)
	}
	if len(r.SingularValues) > 0 {
		lo, hi := inf, 0.0
		for _, s := range r.SingularValues {
			lo, hi = min(lo, s), max(hi, s)
		}
		h.Condition = hi / lo
		if r.Rank < r.NFree {
			h.Condition = inf
		} else if h.Condition > 1e6 {
			find("start nearer, rescale the model's variables (subtract their means), or fix a parameter", "the Jacobian has the condition %.2g: digits are lost", h.Condition)
		}
	}
	if r.Cov == nil {
		return
	}
	n := len(r.X)
	sd, corr := r.SD(), r.Correlation()
	for i, name := range r.Names {
		if sd[i] == 0 && r.Active[i] == 0 || r.Cov[i*n+i] == 0 {
			continue // fixed
		}
		p := ParameterHealth{Name: name, Relative: sd[i] / math.Abs(r.X[i]), Active: r.Active[i]}
		p.Inflation = math.NaN()
		if r.Jacobian != nil {
			if col := linalg.Norm(r.Jacobian[i*r.M : (i+1)*r.M]); col > 0 { // 0: tied
				p.Inflation = r.Cov[i*n+i] / r.Scale * col * col
			}
		}
		for k, other := range r.Names {
			if c := corr[i*n+k]; k != i && math.Abs(c) > math.Abs(p.Correlation) {
				p.Partner, p.Correlation = other, c
			}
		}
		h.Parameters = append(h.Parameters, p)
		switch {
		case r.Active[i] != 0:
			find("widen the bound if it is not physical; quote FreeSD for the others, and a profile interval for this one", "%s is on its bound %.6g", name, r.X[i])
		case math.IsInf(sd[i], 1):
		case p.Relative > 1:
			find("the data are compatible with 0: simplify the model, or add data where it matters", "%s is %.3g +- %.2g", name, r.X[i], sd[i])
		}
		if math.Abs(p.Correlation) > 0.99 && p.Partner > name {
			find("only a combination is determined: fix one, tie them, or measure where they differ", "%s and %s are correlated by %.4f", name, p.Partner, p.Correlation)
		}
	}
}
