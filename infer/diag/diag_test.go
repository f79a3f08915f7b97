// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
)

type goldenCase struct {
	Draws    [][]golden.Float
	Groups   []int `json:"superchain_ids"`
	Expected struct {
		RHat     map[string]golden.Float
		ESS      map[string]golden.Float
		MCSE     map[string]golden.Float
		HDI, ETI map[string][2]golden.Float
		Stats    struct {
			Mean, Median, MAD golden.Float
			SD                golden.Float            `json:"sd_ddof1"`
			Quantiles         map[string]golden.Float `json:"quantiles_type7"`
		}
		Autocov []golden.Float  `json:"autocov_chain0_first20"`
		KHat    json.RawMessage `json:"pareto_khat_both"`
		MinSS   json.RawMessage `json:"pareto_min_ss"`
		EBFMI   []golden.Float  `json:"bfmi_if_energy"`

		// of nested R-hat
		Rank, Folded, Split, Identity golden.Float
		ZScale                        golden.Float `json:"z_scale"`
	}
	R map[string]golden.Float `json:"expected_r_posterior"`
}

func (c *goldenCase) draws() [][]float64 {
	x := make([][]float64, len(c.Draws))
	for i, d := range c.Draws {
		for _, v := range d {
			x[i] = append(x[i], float64(v))
		}
	}
	return x
}

func readGoldens(t *testing.T) map[string]*goldenCase {
	t.Helper()
	var all map[string]*goldenCase
	golden.JSON(t, &all, "inference", "diagnostics", "diagnostics.json")
	return all
}

// rounding is the tolerance of what depends on deviations from the mean: where they
// are comparable to the rounding of the mean itself, the reference loses digits that
// we keep (see TestOffsetCostsNoDigits).
func rounding(x [][]float64) float64 {
	all := Flatten(x)
	if r := 0x1p-53 * math.Abs(Mean(all)) / SD(all); r > 1e-10 && !math.IsInf(r, 0) {
		return min(r, 0.06)
	}
	return 0
}

// constant says that all numbers are equal.
func constant(x ...[]float64) bool {
	for _, v := range Flatten(x) {
		if v != x[0][0] {
			return false
		}
	}
	return true
}

// values counts the different numbers.
func values(x [][]float64) int {
	seen := map[float64]bool{}
	for _, v := range Flatten(x) {
		seen[v] = true
	}
	return len(seen)
}

// tally remembers the worst deviation per kind of number.
type tally struct {
	t     *testing.T
	worst map[string]float64
	loose float64 // least tolerance of the present case
}

func newTally(t *testing.T) tally { return tally{t: t, worst: map[string]float64{}} }

func (k *tally) check(kind, where string, got float64, want golden.Float, tol float64) {
	k.t.Helper()
	w := float64(want)
	if got == w || math.IsNaN(got) && math.IsNaN(w) {
		return
	}
	d := math.Abs(got-w) / math.Abs(w)
	if w == 0 {
		d = math.Abs(got)
	}
	if !(d <= max(tol, k.loose)) {
		k.t.Errorf("%s %s: got %.17g, want %.17g (deviation %.2g)", where, kind, got, w, d)
		return
	}
	k.worst[kind] = max(k.worst[kind], d)
}

func (k *tally) report() {
	for kind, d := range k.worst {
		k.t.Logf("%-12s largest relative deviation %.2g", kind, d)
	}
}

var essKinds = map[string]func([][]float64) float64{
	"bulk": ArviZ.ESSBulk, "mean": ArviZ.ESSMean, "sd": ArviZ.ESSSD, "mad": ArviZ.ESSMAD,
	"z_scale": ArviZ.ESSBulk, "folded": ArviZ.ESSFolded, "identity": ArviZ.ESSIdentity,
	"median":        func(x [][]float64) float64 { return ArviZ.ESSQuantile(x, 0.5) },
	"tail_0.05":     func(x [][]float64) float64 { return ArviZ.ESSTail(x, 0.05) },
	"tail_0.89":     func(x [][]float64) float64 { return ArviZ.ESSTail(x, 0.11) },
	"quantile_0.1":  func(x [][]float64) float64 { return ArviZ.ESSQuantile(x, 0.1) },
	"quantile_0.5":  func(x [][]float64) float64 { return ArviZ.ESSQuantile(x, 0.5) },
	"quantile_0.9":  func(x [][]float64) float64 { return ArviZ.ESSQuantile(x, 0.9) },
	"local_0.1_0.3": func(x [][]float64) float64 { return ArviZ.ESSLocal(x, 0.1, 0.3) },
	"relative_bulk": func(x [][]float64) float64 { c, n := size(x); return ArviZ.ESSBulk(x) / float64(c*(n/2)*2) },
}

func TestESSAgainstArviZ(t *testing.T) {
	k := newTally(t)
	for name, c := range readGoldens(t) {
		x := c.draws()
		k.loose = rounding(x)
		for kind, want := range c.Expected.ESS {
			if kind == "relative_bulk" && constant(x...) {
				continue // the reference gives the absolute number here
			}
			k.check("ess "+kind, name, essKinds[kind](x), want, 1e-9)
		}
	}
	k.report()
}

func TestRHatAgainstArviZ(t *testing.T) {
	kinds := map[string]func([][]float64) float64{"rank": ArviZ.RHat, "folded": ArviZ.RHatFolded, "z_scale": RHatBulk,
		"split": RHatSplit, "identity": RHatIdentity}
	k := newTally(t)
	for name, c := range readGoldens(t) {
		k.loose = rounding(c.draws())
		for kind, want := range c.Expected.RHat {
			k.check("rhat "+kind, name, kinds[kind](c.draws()), want, 1e-9)
		}
		if c.Groups != nil {
			e := c.Expected
			for kind, n := range map[string]struct {
				of   func([][]float64, []int) float64
				want golden.Float
			}{"rank": {ArviZ.RHatNested, e.Rank}, "folded": {ArviZ.RHatNestedFolded, e.Folded}, "z_scale": {RHatNestedBulk, e.ZScale}, "split": {RHatNestedSplit, e.Split}, "identity": {RHatNestedIdentity, e.Identity}} {
				k.check("rhat nested "+kind, name, n.of(c.draws(), c.Groups), n.want, 1e-9)
			}
		}
	}
	k.report()
}

func TestMCSEAgainstArviZ(t *testing.T) {
	kinds := map[string]func([][]float64) float64{"mean": ArviZ.MCSEMean, "sd": ArviZ.MCSESD,
		"median":       func(x [][]float64) float64 { return ArviZ.MCSEQuantile(x, 0.5) },
		"quantile_0.1": func(x [][]float64) float64 { return ArviZ.MCSEQuantile(x, 0.1) },
		"quantile_0.9": func(x [][]float64) float64 { return ArviZ.MCSEQuantile(x, 0.9) }}
	k := newTally(t)
	for name, c := range readGoldens(t) {
		k.loose = rounding(c.draws())
		for kind, want := range c.Expected.MCSE {
			k.check("mcse "+kind, name, kinds[kind](c.draws()), want, 1e-9)
		}
	}
	k.report()
}

// R's posterior gives NA for short, constant and non-finite draws; there only
// our own rules hold.
func TestAgainstPosterior(t *testing.T) {
	kinds := map[string]func([][]float64) float64{"rhat": RHat, "ess_bulk": ESSBulk, "ess_tail": ESSTail,
		"ess_mean": ESSMean, "ess_sd": ESSSD, "ess_median": ESSMedian, "mcse_mean": MCSEMean, "mcse_sd": MCSESD,
		"mcse_median": MCSEMedian, "mcse_q10": func(x [][]float64) float64 { return MCSEQuantile(x, 0.1) }}
	k := newTally(t)
	for name, c := range readGoldens(t) {
		x := c.draws()
		k.loose = rounding(x)
		// A difference in kind, not in digits, from R is excluded: constants but for
		// rounding, chains of a few draws, infinities.
		if k.loose == 0.06 || len(x[0]) < 6 || slices.ContainsFunc(Flatten(x), func(v float64) bool { return math.IsInf(v, 0) }) {
			continue
		}
		for kind, want := range c.R {
			if values(x) == 2 && kind == "ess_tail" || len(x) == 1 && kind == "rhat" {
				continue
			}
			k.check(kind, name, kinds[kind](x), want, 1e-9)
		}
	}
	k.report()
}

func TestDescriptionAgainstArviZ(t *testing.T) {
	k := newTally(t)
	for name, c := range readGoldens(t) {
		if c.Groups != nil {
			continue
		}
		x, e := c.draws(), c.Expected
		all := Flatten(x)
		k.loose = rounding(x)
		k.check("mean", name, Mean(all), e.Stats.Mean, 1e-9)
		k.check("sd", name, SD(all), e.Stats.SD, 1e-9)
		k.check("median", name, Median(all), e.Stats.Median, 1e-9)
		k.check("mad", name, MAD(all), e.Stats.MAD, 1e-9)
		for p, want := range e.Stats.Quantiles {
			k.check("quantile", name+" "+p, Quantile(all, number(p)), want, 1e-9)
		}
		for p, want := range e.HDI {
			k.checkInterval("hdi", name+" "+p, HDI(all, number(p)), want)
		}
		for p, want := range e.ETI {
			k.checkInterval("eti", name+" "+p, ETI(all, number(p)), want)
		}
		for i, got := range EBFMI(x) {
			if want := e.EBFMI[i]; !constant(x[i]) || math.IsNaN(float64(want)) { // else rounding over rounding
				k.check("ebfmi", name, got, want, 1e-9)
			}
		}
		acov := Autocov(x[0])
		scale := math.Abs(float64(e.Autocov[0]))
		tol := max(1e-9, k.loose)
		for i, want := range e.Autocov {
			if d := math.Abs(acov[i]-float64(want)) / scale; d > tol {
				t.Errorf("%s: autocovariance %d is %g, want %g", name, i, acov[i], want)
			}
		}
	}
	k.report()
}

// Draws that are small integers and the same on a fine grid far from 0, which holds
// them exactly, have the same effective sample sizes.
func TestOffsetCostsNoDigits(t *testing.T) {
	last := 0.0
	z := chains(11, 200, func(_ int, r *rand.Rand) float64 {
		last = math.Round(0.4*last + 4000*r.NormFloat64())
		return last
	})
	x := make([][]float64, len(z))
	for c := range z {
		for _, v := range z[c] {
			x[c] = append(x[c], 1e6+0x1p-32*v)
		}
	}
	k := newTally(t)
	k.check("ess mean", "far from 0", ESSMean(x), golden.Float(ESSMean(z)), 1e-11)
	k.check("ess identity", "far from 0", ArviZ.ESSIdentity(x), golden.Float(ArviZ.ESSIdentity(z)), 1e-11)
	k.report()
}

func (k *tally) checkInterval(kind, where string, got Interval, want [2]golden.Float) {
	k.t.Helper()
	k.check(kind, where, got.Low, want[0], 1e-9)
	k.check(kind, where, got.High, want[1], 1e-9)
}

func number(s string) float64 {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil {
		panic(fmt.Sprint("not a probability: ", s))
	}
	return v
}

func isError(raw json.RawMessage) bool { return strings.Contains(string(raw), "error") }

// Of 4 chains of 5 draws the median of all 20 differs from that of the 16 in halves.
// R's posterior folds all draws and then splits (rhat: rhat(z_scale(split(fold(x))))),
// ArviZ splits and then folds.
func TestOddNumbersOfDrawsAreFoldedFirst(t *testing.T) {
	x := [][]float64{{1, 2, 90, 4, 5}, {2, 4, 91, 1, 3}, {7, 3, 92, 2, 9}, {8, 5, 93, 6, 1}}
	all := Median(Flatten(x))
	folded := make([][]float64, len(x))
	for i, c := range x {
		for _, v := range c {
			folded[i] = append(folded[i], math.Abs(v-all))
		}
	}
	if got, want := RHatFolded(x), RHatBulk(folded); got != want {
		t.Errorf("RHatFolded is %v, of folded draws %v", got, want)
	}
	if RHatFolded(x) == ArviZ.RHatFolded(x) {
		t.Error("the conventions agree on draws that were made to tell them apart")
	}
	even := [][]float64{{1, 2, 3, 9}, {2, 5, 1, 3}}
	if RHatFolded(even) != ArviZ.RHatFolded(even) {
		t.Error("the conventions differ for an even number of draws")
	}
}
