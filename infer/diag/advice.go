// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"
)

// Evidence is what a sampler observed besides the draws.
type Evidence struct {
	Draws       int       // kept draws of all chains together
	DepthHits   int       // number of kept draws whose trajectory stopped at MaxDepth
	MaxDepth    int       // largest tree depth allowed
	Divergences int       // number of kept draws whose trajectory diverged: its energy error exploded
	EBFMI       []float64 // energy fraction of missing information of each chain
	// Acceptance holds the mean acceptance rate of the kept draws of each chain, which is the mean of
	// Stan's accept_stat__.
	Acceptance   []float64
	TargetAccept float64      // target acceptance rate of step-size adaptation; 0 if it is not known
	Runaways     []Runaway    // parameters that ran away towards a bound or infinity
	Missed       []MissedMode // modes that no chain visited
	// Unrecorded lists the checks whose statistics the draws do not record. CheckEnergy and
	// CheckAcceptance need no mention: their statistics are missing if EBFMI or Acceptance is empty.
	Unrecorded []Check
}

// records reports whether the statistics of a check are known.
func (e Evidence) records(c Check) bool {
	switch {
	case slices.Contains(e.Unrecorded, c):
		return false
	case c == CheckEnergy:
		return len(e.EBFMI) > 0
	case c == CheckAcceptance:
		return len(e.Acceptance) > 0
	}
	return true
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
	Of     string // quantity that the check is about; empty for a check of all quantities
	OK     bool
	Cause  string // description of the finding, with numbers
	Remedy string // remedy to try; empty if OK
	// Unchecked reports whether the check was not made, because the draws do not record what it
	// needs. OK is then true.
	Unchecked bool

	reason string // reason in a few words, if it must be part of the verdict
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
	var failed, ranks, unchecked []string
	calibrations := 0
	for _, a := range r {
		if a.Check == CheckCalibration {
			calibrations++
		}
		switch name := string(a.Check); {
		case a.Unchecked:
			unchecked = append(unchecked, name)
		case a.OK:
		default:
			if a.Check == CheckCalibration {
				ranks = append(ranks, a.Of)
			}
			if a.Of != "" {
				name += " of " + a.Of
			}
			if a.reason != "" {
				name += " (" + a.reason + ")"
			}
			failed = append(failed, name)
		}
	}
	switch n := len(failed); {
	case len(r) > 0 && len(unchecked) == len(r):
		return fmt.Sprintf("None of the checks of the draws could be made, so nothing is known about their quality: not checked were %s.", strings.Join(unchecked, ", "))
	case n == 0 && len(unchecked) > 0:
		return fmt.Sprintf("All checks of the draws passed, except for %d that could not be made: %s.", len(unchecked), strings.Join(unchecked, ", "))
	case n == 0 && calibrations > 0 && calibrations == len(r):
		return "The ranks do not depart from uniform ones."
	case n == 0:
		return "All checks of the draws passed."
	case n == len(ranks):
		return fmt.Sprintf("The ranks of %s are not uniform.", listed(ranks))
	case n == 1:
		return fmt.Sprintf("One check of the draws failed: %s.", failed[0])
	default:
		return fmt.Sprintf("%d checks of the draws failed: %s.", n, strings.Join(failed, ", "))
	}
}

// verb returns the form of a verb that goes with a number of things.
func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// mostListed is the largest number of names in a sentence.
const mostListed = 8

// listed joins names in a sentence.
func listed(names []string) string {
	last := len(names) - 1
	switch {
	case last == 0:
		return names[0]
	case len(names) > mostListed:
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostListed-1], ", "), len(names)-mostListed+1)
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
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
	for _, m := range e.Missed {
		r = append(r, adviseMode(m))
	}
	others := Report{adviseDivergence(e), adviseEnergy(e), adviseESS(s), adviseRHat(s), adviseStuck(s), adviseAcceptance(e)}
	r = append(append(r, adviseDepth(e, r.OK() && others.OK())), others...)
	r = append(r, adviseTails(s)...)
	for i, a := range r {
		if !e.records(a.Check) {
			r[i] = Advice{Check: a.Check, OK: true, Unchecked: true, Cause: "not checked: the draws do not record it"}
		}
	}
	return r
}

// judged returns the rows by which convergence is judged: all but those of pointwise log likelihoods,
// which are computed from the parameters, unless there are no others.
func (s Summary) judged() []*Row {
	var all, own []*Row
	for i := range s.Rows {
		r := &s.Rows[i]
		all = append(all, r)
		if !strings.HasPrefix(r.Name, "log_lik") {
			own = append(own, r)
		}
	}
	if len(own) == 0 {
		return all
	}
	return own
}

// adviseDepth judges trajectories that were cut short. Their draws are right, and only cost more, so they fail the check where
// another one fails too.
func adviseDepth(e Evidence, sound bool) Advice {
	if e.DepthHits == 0 {
		return pass(CheckDepth, "no trajectory was cut short")
	}
	cause := fmt.Sprintf("%d of %d trajectories (%.3g %%) stopped at the largest allowed tree depth, %d, so the draws are right but costly", e.DepthHits, e.Draws, percent(e.DepthHits, e.Draws), e.MaxDepth)
	if sound {
		return pass(CheckDepth, cause)
	}
	return fail(CheckDepth, cause,
		"rescale or reparametrise strongly correlated parameters, or raise the largest allowed tree depth")
}

func adviseDivergence(e Evidence) Advice {
	if e.Divergences == 0 {
		return pass(CheckDivergence, "no trajectory diverged")
	}
	return fail(CheckDivergence, fmt.Sprintf("%d of %d trajectories (%.3g %%) diverged, so the chains may have missed a region of high curvature", e.Divergences, e.Draws, percent(e.Divergences, e.Draws)),
		"raise the target acceptance rate towards 0.99; if trajectories still diverge, use a non-centred parametrisation, or tighter priors where the divergences cluster")
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
	return fail(CheckEnergy, fmt.Sprintf("it is %.3g in chain %d, which is below 0.3: the chains move slowly between regions of different probability", worst, at+1),
		"run longer chains, or reparametrise heavy tails and funnels, for instance by non-centred scales")
}

func adviseESS(s Summary) Advice {
	total := float64(s.Chains * s.Draws)
	need := 100 * float64(s.Chains)
	name, least := "", math.Inf(1)
	for _, r := range s.judged() {
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
		return fail(CheckESS, fmt.Sprintf("it cannot be computed for %s", name), "look for draws that are NaN or infinite, and draw at least 4 values in each chain")
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
		a := fail(CheckRHat, fmt.Sprintf("chain %d repeats an earlier one draw by draw, so neither R-hat nor the effective sample sizes mean anything", c+1), "pass each chain only once, and give every chain a seed or a number of its own")
		a.reason = fmt.Sprintf("chain %d repeats an earlier one", c+1)
		return a
	}
	name, worst := "", math.Inf(-1)
	for _, r := range s.judged() {
		if !r.Constant && (r.RHat > worst || math.IsNaN(r.RHat)) {
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
		return fail(CheckRHat, fmt.Sprintf("it cannot be computed for %s", name), "look for draws that are NaN or infinite, and draw at least 4 values in each chain")
	case worst > 1.01:
		return fail(CheckRHat, fmt.Sprintf("%s has the largest, %s, which is above 1.01: the chains disagree", name, above(worst, 1.01)),
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
	for _, r := range s.judged() {
		if len(r.Stuck) > 0 {
			return fail(CheckStuck, fmt.Sprintf("%s never changed in chain %d", r.Name, r.Stuck[0]+1),
				"discard this chain and start it elsewhere; it may lie in a region that is too narrow for the step size of the other chains")
		}
	}
	if len(s.Rows) > 0 && s.Draws > 1 && !slices.ContainsFunc(s.Rows, func(r Row) bool { return !r.Constant }) {
		return fail(CheckStuck, "no quantity ever changed in any chain", "check that the file holds draws; if it does, start the chains elsewhere or use smaller steps")
	}
	return pass(CheckStuck, "every chain moved")
}

// Acceptance rates that are judged when the target is known, and when it is not.
const (
	farBelow = 0.1  // distance below the target from which the step size was too large
	costly   = 0.99 // rate from which the steps are far smaller than a lower target asked for
	hardly   = 0.1  // rate below which hardly any proposal was accepted, whatever the target
)

func adviseAcceptance(e Evidence) Advice {
	least, most := math.Inf(1), math.Inf(-1)
	for c, a := range e.Acceptance {
		target := e.TargetAccept
		least, most = min(least, a), max(most, a)
		switch {
		case math.IsNaN(a):
			return fail(CheckAcceptance, fmt.Sprintf("it cannot be computed for chain %d", c+1), "look for draws that are not finite")
		case target > 0 && a < target-farBelow:
			return fail(CheckAcceptance, fmt.Sprintf("it is %s in chain %d, but the target is %.2f, so the step size is too large for this chain", rate(a), c+1, target),
				"warm up longer; a rate below the target means that sampling met sharper curvature than the warm-up did")
		case target > 0 && a > target+farBelow && a > costly:
			return fail(CheckAcceptance, fmt.Sprintf("it is %.3f in chain %d, but the target is %.2f, so the steps are smaller than necessary and the draws are right but costly", a, c+1, target),
				"warm up longer, so that the step size can grow")
		case target == 0 && a < hardly:
			return fail(CheckAcceptance, fmt.Sprintf("it is %s in chain %d, so hardly any proposal was accepted", rate(a), c+1), "warm up longer, or use a smaller step size")
		}
	}
	span := rate(least) + " in every chain"
	if rate(least) != rate(most) {
		span = "between " + rate(least) + " and " + rate(most) + " in all chains"
	}
	if e.TargetAccept == 0 {
		return pass(CheckAcceptance, "it is "+span+"; its target is not known")
	}
	return pass(CheckAcceptance, fmt.Sprintf("it is %s, and the target is %.2f", span, e.TargetAccept))
}

// rate writes an acceptance rate with two decimals, or with one digit where these are 0.
func rate(a float64) string {
	if a > 0 && a < 0.01 {
		return short(a, 1)
	}
	return fixed(a, 2)
}

// above writes v with as many decimals as show that it is above a limit of two.
func above(v, limit float64) string {
	for decimals := 2; decimals < 12; decimals++ {
		if text := fixed(v, decimals); text > fixed(limit, decimals) || v >= 2 {
			return text
		}
	}
	return short(v, 17)
}

func pass(c Check, cause string) Advice { return Advice{Check: c, OK: true, Cause: cause} }

func fail(c Check, cause, remedy string) Advice {
	return Advice{Check: c, Cause: cause, Remedy: remedy}
}

func percent(part, whole int) float64 { return 100 * float64(part) / float64(max(whole, 1)) }
