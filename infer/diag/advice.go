// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// Evidence is what a sampler observed besides the draws.
type Evidence struct {
	Draws       int       // kept draws of all chains together
	DepthHits   int       // number of kept draws whose trajectory stopped at MaxDepth
	MaxDepth    int       // largest tree depth allowed
	Divergences int       // number of kept draws whose trajectory diverged: its energy error exploded
	EBFMI       []float64 // energy fraction of missing information of each chain
	// mean of each chain's acceptance statistic, which step-size adaptation drives to TargetAccept
	Acceptance   []float64
	TargetAccept float64   // target acceptance rate of step-size adaptation
	Runaways     []Runaway // parameters that ran away towards a bound or infinity
}

// Check is the name of what an Advice is about.
type Check string

// The checks, in the order in which problems should be solved.
const (
	CheckDepth      Check = "tree depth"
	CheckDivergence Check = "divergences"
	CheckEnergy     Check = "E-BFMI"
	CheckESS        Check = "effective sample size"
	CheckRHat       Check = "R-hat"
	CheckStuck      Check = "stuck chains"
	CheckAcceptance Check = "acceptance rate"
)

// Advice is the result of one check.
type Advice struct {
	Check  Check
	OK     bool
	Cause  string // description of the finding, with numbers
	Remedy string // remedy to try; empty if OK
}

// String returns the finding and the remedy in one line.
func (a Advice) String() string {
	if a.OK {
		return fmt.Sprintf("%s: %s", a.Check, a.Cause)
	}
	return fmt.Sprintf("%s: %s. Try: %s", a.Check, a.Cause, a.Remedy)
}

// Report is the result of all checks.
type Report []Advice

// OK reports whether every check passed.
func (r Report) OK() bool { return len(r.Problems()) == 0 }

// Problems returns the checks that failed.
func (r Report) Problems() []Advice {
	var out []Advice
	for _, a := range r {
		if !a.OK {
			out = append(out, a)
		}
	}
	return out
}

// String returns one line per check and a verdict.
func (r Report) String() string {
	var b strings.Builder
	for _, a := range r {
		b.WriteString(a.String() + "\n")
	}
	return b.String() + r.Verdict()
}

// Verdict returns one sentence.
func (r Report) Verdict() string {
	switch n := len(r.Problems()); n {
	case 0:
		return "All checks of the draws passed."
	case 1:
		return fmt.Sprintf("One check of the draws failed: %s.", r.Problems()[0].Check)
	default:
		var names []string
		for _, a := range r.Problems() {
			names = append(names, string(a.Check))
		}
		return fmt.Sprintf("%d checks of the draws failed: %s.", n, strings.Join(names, ", "))
	}
}

// Markdown returns the report as a list.
func (r Report) Markdown() string {
	var b strings.Builder
	for _, a := range r {
		b.WriteString("- " + a.String() + "\n")
	}
	return b.String() + "\n**" + r.Verdict() + "**\n"
}

// HTML returns the report as a list.
func (r Report) HTML() string {
	var b strings.Builder
	b.WriteString("<ul>\n")
	for _, a := range r {
		b.WriteString("<li>" + html.EscapeString(a.String()) + "</li>\n")
	}
	return b.String() + "</ul>\n<p><b>" + r.Verdict() + "</b></p>\n"
}

// SimpleRender returns the report for the notebook gophernotes.
func (r Report) SimpleRender() map[string]interface{} {
	return map[string]interface{}{"text/html": r.HTML(), "text/plain": r.String()}
}

// Diagnose judges draws by their summary and by what the sampler observed.
func Diagnose(s Summary, e Evidence) Report {
	var r Report
	for _, away := range e.Runaways {
		r = append(r, adviseRunaway(away))
	}
	return append(r, adviseDepth(e), adviseDivergence(e), adviseEnergy(e), adviseESS(s), adviseRHat(s), adviseStuck(s), adviseAcceptance(e))
}

func adviseDepth(e Evidence) Advice {
	if e.DepthHits == 0 {
		return pass(CheckDepth, "no trajectory was cut short")
	}
	return fail(CheckDepth, fmt.Sprintf("%d of %d trajectories (%.1f%%) stopped at the largest allowed tree depth, %d, so the draws are right but costly", e.DepthHits, e.Draws, percent(e.DepthHits, e.Draws), e.MaxDepth),
		"rescale or reparametrise strongly correlated parameters, or raise MaxTreeDepth")
}

func adviseDivergence(e Evidence) Advice {
	if e.Divergences == 0 {
		return pass(CheckDivergence, "no trajectory diverged")
	}
	return fail(CheckDivergence, fmt.Sprintf("%d of %d trajectories (%.2f%%) diverged, so the chains may have missed a region of high curvature", e.Divergences, e.Draws, percent(e.Divergences, e.Draws)),
		"raise TargetAccept towards 0.99; if trajectories still diverge, use a non-centred parametrisation, or tighter priors where the divergences cluster")
}

func adviseEnergy(e Evidence) Advice {
	worst, at := math.Inf(1), 0
	for c, b := range e.EBFMI {
		if b < worst {
			worst, at = b, c
		}
	}
	if !(worst < 0.3) {
		if math.IsInf(worst, 1) {
			return pass(CheckEnergy, "it is not defined for these draws")
		}
		return pass(CheckEnergy, fmt.Sprintf("it is at least %.2f in every chain", worst))
	}
	return fail(CheckEnergy, fmt.Sprintf("it is %.2f in chain %d, which is below 0.3: the chains move slowly between regions of different probability", worst, at+1),
		"run longer chains, or reparametrise heavy tails and funnels, for instance by non-centred scales")
}

func adviseESS(s Summary) Advice {
	total := float64(s.Chains * s.Draws)
	need := 100 * float64(s.Chains)
	name, least := "", math.Inf(1)
	for i := range s.Rows {
		r := &s.Rows[i]
		if ess := math.Min(r.ESSBulk, r.ESSTail); !r.Constant && (ess < least || math.IsNaN(ess)) {
			name, least = r.Name, ess
			if math.IsNaN(ess) {
				break
			}
		}
	}
	switch {
	case name == "":
		return pass(CheckESS, "every quantity is constant, so there is nothing to estimate")
	case math.IsNaN(least):
		return fail(CheckESS, fmt.Sprintf("it cannot be computed for %s", name), "draw at least 4 finite values in each chain")
	case least < need || least < 0.001*total:
		return fail(CheckESS, fmt.Sprintf("%s has the smallest, %.0f of %.0f draws, but at least %.0f are needed", name, math.Floor(least), total, math.Max(need, 0.001*total)),
			"run longer chains; if the effective sample size stays below a hundredth of the draws, reparametrise")
	}
	return pass(CheckESS, fmt.Sprintf("%s has the smallest, %.0f of %.0f draws", name, math.Floor(least), total))
}

func adviseRHat(s Summary) Advice {
	if s.Chains < 2 {
		return fail(CheckRHat, "it is not defined for fewer than 2 chains, so convergence was not checked", "run 4 chains from different starting points")
	}
	if c := repeated(s); c >= 0 {
		return fail(CheckRHat, fmt.Sprintf("chain %d repeats an earlier one draw by draw, so neither R-hat nor the effective sample sizes mean anything", c+1), "pass each chain only once, and give every chain a seed or a number of its own")
	}
	name, worst := "", math.Inf(-1)
	for i := range s.Rows {
		if r := &s.Rows[i]; !r.Constant && (r.RHat > worst || math.IsNaN(r.RHat)) {
			name, worst = r.Name, r.RHat
			if math.IsNaN(worst) {
				break
			}
		}
	}
	switch {
	case name == "":
		return pass(CheckRHat, "every quantity is constant, so there is nothing to estimate")
	case math.IsNaN(worst):
		return fail(CheckRHat, fmt.Sprintf("it cannot be computed for %s", name), "draw at least 4 finite values in each chain")
	case worst > 1.01:
		return fail(CheckRHat, fmt.Sprintf("%s has the largest, %.2f, which is above 1.01: the chains disagree", name, worst),
			"run longer chains; if they still disagree, look for several modes, an unidentified parameter or a stuck chain")
	}
	return pass(CheckRHat, fmt.Sprintf("%s has the largest, %.3f", name, worst))
}

// repeated returns the first chain that equals an earlier one in everything that varies, or -1.
func repeated(s Summary) int {
	times := map[int]int{}
	varying := 0
	for i := range s.Rows {
		if r := &s.Rows[i]; !r.Constant {
			varying++
			for _, c := range r.Copies {
				times[c]++
			}
		}
	}
	for c := range s.Chains {
		if varying > 0 && times[c] == varying {
			return c
		}
	}
	return -1
}

func adviseStuck(s Summary) Advice {
	for i := range s.Rows {
		if r := &s.Rows[i]; len(r.Stuck) > 0 {
			return fail(CheckStuck, fmt.Sprintf("%s never changed in chain %d", r.Name, r.Stuck[0]+1),
				"discard this chain and start it elsewhere; it may lie in a region that is too narrow for the step size of the other chains")
		}
	}
	return pass(CheckStuck, "every chain moved")
}

func adviseAcceptance(e Evidence) Advice {
	for c, a := range e.Acceptance {
		if math.Abs(a-e.TargetAccept) > 0.1 {
			return fail(CheckAcceptance, fmt.Sprintf("it is %.2f in chain %d, but the target is %.2f, so the step size does not suit this chain", a, c+1, e.TargetAccept),
				"warm up longer; a rate below the target means that sampling met sharper curvature than the warm-up did")
		}
	}
	return pass(CheckAcceptance, "it is near its target in every chain")
}

func pass(c Check, cause string) Advice { return Advice{Check: c, OK: true, Cause: cause} }

func fail(c Check, cause, remedy string) Advice {
	return Advice{Check: c, Cause: cause, Remedy: remedy}
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }
