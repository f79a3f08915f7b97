package optim

import (
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/stat/distuv"
)

// Health judges a fit: what is wrong, with numbers, and what to try.
type Health struct {
	Condition   float64 // of the Jacobian with columns of length 1; +Inf if rank-deficient
	Parameters  []ParameterHealth
	Residuals   ResidualHealth
	Findings    []Finding
	ChiSquaredP float64 // probability of a larger chi-square, where the errors are known; else NaN
}

// ParameterHealth says how well a fitted parameter is determined.
type ParameterHealth struct {
	Name string
	// Relative is SD/|value|, Inflation how many times the others enlarge the
	// variance (1: not at all).
	Relative, Inflation float64
	// Partner is the parameter it is most correlated with, Correlation how much.
	Partner     string
	Correlation float64
	Active      int // -1 or 1 on its lower or upper bound
}

// ResidualHealth looks for structure in the residuals, in the order of the data.
type ResidualHealth struct {
	// Runs of one sign, how many were to be expected, and the difference in standard
	// deviations (Wald & Wolfowitz): below -3, the model misses a trend.
	Runs            int
	RunsExpected, Z float64
	Autocorrelation float64 // at lag 1
	DurbinWatson    float64 // near 2 without correlation
	Largest         float64 // in standard deviations of all
	LargestAt       int
}

// Finding is one thing that is wrong.
type Finding struct{ What, Remedy string }

// OK reports whether nothing was found.
func (h Health) OK() bool { return len(h.Findings) == 0 }

// String lists the findings, or says that there are none.
func (h Health) String() string {
	if h.OK() {
		return fmt.Sprintf("nothing found: condition %.2g, runs %+.1f sd, autocorrelation %+.2f, largest residual %.1f sd", h.Condition, h.Residuals.Z, h.Residuals.Autocorrelation, h.Residuals.Largest)
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

// Health judges the fit.
func (r *Result) Health() Health {
	h := Health{Condition: math.NaN(), ChiSquaredP: math.NaN()}
	find := func(remedy, what string, a ...any) {
		h.Findings = append(h.Findings, Finding{fmt.Sprintf(what, a...), remedy})
	}
	if !r.Status.Converged() {
		_, remedy, _ := strings.Cut(r.Status.Message(), ": ")
		find(orText(remedy, "see Status.Message"), "the fit did not converge (%s)", r.Status)
	}
	r.judgeParameters(&h, find)
	r.judgeResiduals(&h, find)
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
			if col := norm(r.Jacobian[i*r.M : (i+1)*r.M]); col > 0 { // 0: tied
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

func (r *Result) judgeResiduals(h *Health, find func(remedy, what string, a ...any)) {
	f := r.Residuals[:max(0, len(r.Residuals)-r.extra)]
	if r.Absolute && r.DoF() > 0 {
		chi := distuv.ChiSquared{K: float64(r.DoF())}
		h.ChiSquaredP = chi.Survival(r.ChiSquared())
		switch reduced := r.ReducedChiSquared(); {
		case h.ChiSquaredP < 1e-3:
			find("look at the residuals: a trend asks for another model, single points for a robust loss; or the errors are too small (RelativeSigma)", "the reduced chi-square is %.3g (p = %.1g)", reduced, h.ChiSquaredP)
		case h.ChiSquaredP > 1-1e-6:
			find("the errors are too large, or the data were smoothed: use RelativeSigma", "the reduced chi-square is only %.3g", reduced)
		}
	}
	if len(f) < 8 {
		return
	}
	h.Residuals = residualHealth(f)
	q := h.Residuals
	if q.Z < -3 || math.Abs(q.Autocorrelation) > 3/math.Sqrt(float64(len(f)))+0.1 && q.Z < -2 {
		find("the model misses a trend along the data: add a term or a parameter", "the residuals have %d runs of one sign where %.0f were expected (%.1f sd), autocorrelation %.2f", q.Runs, q.RunsExpected, q.Z, q.Autocorrelation)
	}
	if q.Z > 4 {
		find("the data were processed (differences, double counting), or the order is not that of a variable", "the residuals alternate: %d runs where %.0f were expected (%.1f sd)", q.Runs, q.RunsExpected, q.Z)
	}
	// The largest of m normal numbers exceeds this once in a thousand fits.
	if limit := distuv.UnitNormal.Quantile(1 - 5e-4/float64(len(f))); q.Largest > limit && r.loss.plain() {
		find("check the point, mask it, or use a robust loss", "residual %d is %.1f standard deviations", q.LargestAt, q.Largest)
	}
}

func residualHealth(f []float64) (q ResidualHealth) {
	m := float64(len(f))
	mean := 0.0
	for _, v := range f {
		mean += v / m
	}
	square, lag, step, above := 0.0, 0.0, 0.0, 0.0
	for i, v := range f {
		square += (v - mean) * (v - mean)
		if v > 0 {
			above++
		}
		if i > 0 {
			lag += (v - mean) * (f[i-1] - mean)
			step += (v - f[i-1]) * (v - f[i-1])
			if (v > 0) != (f[i-1] > 0) {
				q.Runs++
			}
		}
	}
	q.Runs++
	below := m - above
	q.RunsExpected = 1 + 2*above*below/m
	if variance := (q.RunsExpected - 1) * (q.RunsExpected - 2) / (m - 1); variance > 0 {
		q.Z = (float64(q.Runs) - q.RunsExpected) / math.Sqrt(variance)
	}
	if square > 0 {
		q.Autocorrelation, q.DurbinWatson = lag/square, step/dot(f, f)
	}
	sd := math.Sqrt(dot(f, f) / m)
	for i, v := range f {
		if z := math.Abs(v) / sd; z > q.Largest {
			q.Largest, q.LargestAt = z, i
		}
	}
	return q
}
