// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
)

type looNumbers struct {
	REff  *golden.Float `json:"r_eff"`
	ELPD  golden.Float  `json:"elpd_loo"`
	SE    golden.Float
	P     golden.Float   `json:"p_loo"`
	LPPD  golden.Float   `json:"lppd"`
	GoodK golden.Float   `json:"good_k"`
	ELPDi []golden.Float `json:"elpd_i"`
	K     []golden.Float `json:"pareto_k"`
	NEff  []golden.Float `json:"n_eff"`
	Top   []golden.Float `json:"obs0_top30_smoothed_log_weights"`
	WAIC  *struct {
		ELPD golden.Float `json:"elpd_waic"`
		P    golden.Float `json:"p_waic"`
		SE   golden.Float
	}
	RWAIC   golden.Float `json:"elpd_waic"`
	RPWAIC  golden.Float `json:"p_waic"`
	RSEWAIC golden.Float `json:"se_waic"`
}

type looCase struct {
	LogLik [][][]golden.Float `json:"log_lik"`
	ArviZ  []looNumbers
	R      looNumbers `json:"r_loo_2.5.1"`
}

type kidiqCase struct {
	Score  []golden.Float `json:"kid_score"`
	IQ     []golden.Float `json:"mom_iq"`
	HS     []golden.Float `json:"mom_hs"`
	Models map[string]struct {
		Draws map[string][][]golden.Float
		ArviZ looNumbers
		R     looNumbers `json:"r_loo_2.5.1"`
	}
	Compare struct {
		Order     []string
		Diff      []golden.Float `json:"elpd_diff"`
		SE        []golden.Float `json:"se_diff"`
		Stacking  map[string]golden.Float
		PseudoBMA map[string]golden.Float
	} `json:"r_loo_2.5.1_compare"`
}

func readLOO(t *testing.T) (map[string]looCase, kidiqCase) {
	t.Helper()
	var all map[string]json.RawMessage
	golden.JSON(t, &all, "inference", "loo", "loo.json")
	plain, kid := map[string]looCase{}, kidiqCase{}
	for name, text := range all {
		var c struct {
			looCase
			kidiqCase
		}
		if err := json.Unmarshal(text, &c.kidiqCase); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if c.Models != nil { // a comparison of regressions
			kid = c.kidiqCase
		} else if err := json.Unmarshal(text, &c.looCase); err != nil {
			t.Fatalf("%s: %v", name, err)
		} else {
			plain[name] = c.looCase
		}
	}
	return plain, kid
}

func likelihoods(v [][][]golden.Float) [][][]float64 {
	out := make([][][]float64, len(v))
	for c := range v {
		for _, row := range v[c] {
			var r []float64
			for _, x := range row {
				r = append(r, float64(x))
			}
			out[c] = append(out[c], r)
		}
	}
	return out
}

// likelihood evaluates a regression of the children's scores. The golden tells its
// columns by its name, which is that of posteriordb.
func (k kidiqCase) likelihood(model string) [][][]float64 {
	d := k.Models[model].Draws
	columns := map[string][]func(i int) float64{
		"kidscore_momhs":       {k.hs},
		"kidscore_momiq":       {k.iq},
		"kidscore_momhsiq":     {k.hs, k.iq},
		"kidscore_interaction": {k.hs, k.iq, func(i int) float64 { return k.hs(i) * k.iq(i) }},
	}[model]
	names := []string{"beta[2]", "beta[3]", "beta[4]"}
	ll := make([][][]float64, len(d["sigma"]))
	for c := range ll {
		for s := range d["sigma"][c] {
			sigma := float64(d["sigma"][c][s])
			row := make([]float64, len(k.Score))
			for i := range row {
				mu := float64(d["beta[1]"][c][s])
				for j, column := range columns {
					mu += float64(d[names[j]][c][s]) * column(i)
				}
				z := (float64(k.Score[i]) - mu) / sigma
				row[i] = -z*z/2 - math.Log(sigma) - math.Log(2*math.Pi)/2
			}
			ll[c] = append(ll[c], row)
		}
	}
	return ll
}

func (k kidiqCase) hs(i int) float64 { return float64(k.HS[i]) }
func (k kidiqCase) iq(i int) float64 { return float64(k.IQ[i]) }

func (k *tally) loo(where string, ll [][][]float64, want looNumbers, c Convention) {
	k.t.Helper()
	s := LOOSettings{Convention: c, Efficiency: 1}
	if want.REff != nil {
		s.Efficiency = float64(*want.REff)
	}
	e, err := LOO(ll, s)
	if err != nil {
		k.t.Fatal(err)
	}
	k.check("elpd", where, e.ELPD, want.ELPD, 1e-8)
	k.check("se", where, e.SE, want.SE, 1e-8)
	k.check("p", where, e.P, want.P, 1e-8)
	for i, p := range e.Points {
		k.check("elpd_i", where, p.ELPD, want.ELPDi[i], 1e-8)
		k.check("pareto k", where, p.K, want.K[i], 1e-8)
		if want.NEff != nil {
			k.check("n_eff", where, p.NEff, want.NEff[i], 1e-8)
		}
	}
	w, err := WAIC(ll, c)
	if err != nil {
		k.t.Fatal(err)
	}
	if c == Posterior {
		k.check("waic", where, w.ELPD, want.RWAIC, 1e-8)
		k.check("waic p", where, w.P, want.RPWAIC, 1e-8)
		k.check("waic se", where, w.SE, want.RSEWAIC, 1e-8)
		return
	}
	k.check("waic", where, w.ELPD, want.WAIC.ELPD, 1e-8)
	k.check("waic p", where, w.P, want.WAIC.P, 1e-8)
	k.check("waic se", where, w.SE, want.WAIC.SE, 1e-8)
	k.check("lppd", where, e.LPPD, want.LPPD, 1e-8)
	k.check("good k", where, e.GoodK, want.GoodK, 1e-8)
	_, lw := looPoint(observation(ll, 0), s)
	slices.Sort(lw)
	slices.Reverse(lw)
	for i, w := range want.Top {
		k.check("log weights", where, lw[i], w, 1e-8)
	}
}

func TestLOOGoldens(t *testing.T) {
	plain, kid := readLOO(t)
	k := newTally(t)
	for name, c := range plain {
		ll := likelihoods(c.LogLik)
		for _, want := range c.ArviZ {
			k.loo(name, ll, want, ArviZ)
		}
		k.loo(name+" R", ll, c.R, Posterior)
	}
	for name, m := range kid.Models {
		k.loo(name, kid.likelihood(name), m.ArviZ, ArviZ)
		k.loo(name+" R", kid.likelihood(name), m.R, Posterior)
	}
	k.report()
}

// withOutlier is the log likelihood of 15 observations of unit deviation at 1000 draws
// of their mean; the last is far from what the others let expect.
func withOutlier() [][][]float64 {
	ll := make([][][]float64, 4)
	for c, means := range chains(3, 250, func(_ int, r *rand.Rand) float64 { return 0.3 * r.NormFloat64() }) {
		for _, mean := range means {
			row := make([]float64, 15)
			for i := range row {
				y := math.Sin(float64(i))
				if i == 14 {
					y = 20
				}
				row[i] = -(y-mean)*(y-mean)/2 - math.Log(2*math.Pi)/2
			}
			ll[c] = append(ll[c], row)
		}
	}
	return ll
}

func TestLOOTables(t *testing.T) {
	e, err := LOO(withOutlier(), LOOSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if bad := e.Bad(); !slices.Equal(bad, []int{14}) || e.Diagnose().OK() || !math.IsNaN(e.MCSE) {
		t.Errorf("bad observations %v, error %v", bad, e.MCSE)
	}
	for _, part := range []string{"PSIS-LOO", "elpd_loo", "p_loo", "looic", "(0.67, 1.00]", "very bad", "1000 draws, 15 observations", "One check of the draws failed: Pareto k.", "without each of these observations"} {
		if !strings.Contains(e.String(), part) || part != "looic" && part[0] != '(' && !strings.Contains(e.HTML(), part) {
			t.Errorf("no %q in\n%s", part, e)
		}
	}
	if lines := strings.Count(e.CSV(), "\n"); lines != 16 || !strings.Contains(e.Markdown(), "| elpd_loo |") {
		t.Errorf("CSV of %d lines", lines)
	}
}

func TestLOOEdges(t *testing.T) {
	good := [][][]float64{{{-1, -2}, {-1, -3}, {-1, -2.5}}, {{-1, -2}, {-1, -2}, {-1, -4}}}
	e, err := LOO(good, LOOSettings{})
	if err != nil || !math.IsInf(e.Points[0].K, -1) || e.Points[0].ELPD != -1 || !math.IsInf(e.Points[1].K, 1) {
		t.Errorf("%v %+v", err, e)
	}
	if s := e.String(); !strings.Contains(s, "observation 1 has the largest, +Inf") {
		t.Error(s)
	}
	impossible := [][][]float64{{{-1, math.Inf(-1)}, {-1.5, -3}}}
	if e, err := LOO(impossible, LOOSettings{}); err != nil || !math.IsInf(e.ELPD, -1) || !math.IsInf(e.Points[1].K, 1) {
		t.Errorf("%v %+v", err, e)
	}
	if e, err := WAIC(impossible, ArviZ); err != nil || !math.IsInf(e.ELPD, -1) || e.Diagnose().OK() {
		t.Errorf("%v %+v", err, e)
	}
	for want, ll := range map[string][][][]float64{
		"no log likelihoods":               nil,
		"at least one":                     {{}},
		"chain 1 has 1 draws":              {{{1}, {2}}, {{1}}},
		"draw 1 of chain 0 has 2":          {{{1}, {2, 3}}},
		"observation 1 in draw 0":          {{{1, math.NaN()}}},
		"is +Inf: mask missing":            {{{1, math.Inf(1)}}},
		"chain 1 has 0 draws, but chain 0": {{{1}}, {}},
	} {
		if _, err := LOO(ll, LOOSettings{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", ll, err, want)
		}
		if _, err := WAIC(ll, Posterior); err == nil {
			t.Errorf("WAIC of %v", ll)
		}
	}
	if lw, k := PSIS(nil, 5); len(lw) != 0 || !math.IsNaN(k) {
		t.Error("PSIS of nothing")
	}
}

// The default relative efficiency is that of the likelihood, 1 for one that does
// not vary.
func TestEfficiency(t *testing.T) {
	x := chains(5, 500, func(_ int, r *rand.Rand) float64 { return r.NormFloat64() })
	if e := Efficiency([][][]float64{x}); math.Abs(e-1) > 0.15 {
		t.Errorf("independent draws have efficiency %v", e)
	}
	if e := Efficiency([][][]float64{{{1, 1, 1, 1, 1, 1}}}); e != 1 {
		t.Errorf("constant draws have efficiency %v", e)
	}
}
