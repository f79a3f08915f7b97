// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"encoding/csv"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func chains(seed uint64, n int, f func(chain int, r *rand.Rand) float64) [][]float64 {
	x := make([][]float64, 4)
	for c := range x {
		r := rand.New(rand.NewPCG(seed, uint64(c)))
		for range n {
			x[c] = append(x[c], f(c, r))
		}
	}
	return x
}

func TestRounding(t *testing.T) {
	for _, c := range []struct {
		v, mcse float64
		want    string
	}{
		{0.012345, 7.2e-6, "0.01235"},
		{0.412345, 0.00022, "0.4123"},
		{123.456, 3, "123"},
		{123.456, 6, "120"},
		{-4.41, 0.11, "-4.4"},
		{1234567, 300, "1234600"},
		{1.5e-12, 1e-14, "1.50e-12"},
		{2.5e15, 1e13, "2.50e+15"},
		{math.NaN(), 1, "NaN"},
		{2.5, 0, "2.5"},
		{2.5, math.NaN(), "2.5"},
		{0, 0.01, "0.00"},
	} {
		if got := rounded(c.v, c.mcse); got != c.want {
			t.Errorf("%g with error %g is written %s, want %s", c.v, c.mcse, got, c.want)
		}
	}
}

func TestSummaryTable(t *testing.T) {
	x := chains(1, 500, func(_ int, r *rand.Rand) float64 { return 3 + r.NormFloat64() })
	fixed := chains(1, 500, func(int, *rand.Rand) float64 { return 7 })
	s := Summarize([]string{"tau (s)", "one|two"}, [][][]float64{x, fixed}, Settings{})
	s.Note = "4 chains x 500 draws"
	text := strings.Split(s.String(), "\n")
	if len(text) != 4 || len(text[0]) != len(text[1]) || len(text[1]) != len(text[2]) || text[3] != s.Note {
		t.Errorf("columns are not aligned:\n%s", s)
	}
	for _, word := range []string{"mean", "eti89_lb", "ess_tail", "r_hat", "mcse_mean"} {
		if !strings.Contains(text[0], word) {
			t.Errorf("no column %s in %q", word, text[0])
		}
	}
	lines, err := csv.NewReader(strings.NewReader(s.CSV())).ReadAll()
	if err != nil || len(lines) != 3 || len(lines[0]) != len(s.Columns())+1 || lines[2][0] != "one|two" {
		t.Errorf("CSV %v has lines %q", err, lines)
	}
	if !strings.Contains(s.Markdown(), `one\|two`) || !strings.Contains(s.HTML(), "<th>r_hat</th>") {
		t.Error("Markdown or HTML is malformed")
	}
	if r := s.Row("one|two"); !r.Constant || r.SD != 0 || !math.IsNaN(r.RHat) {
		t.Errorf("constant row is %+v", *r)
	}
	if s.Row("three") != nil || !(s.MaxRHat() < 1.01) || !(s.MinESS() > 1000) {
		t.Errorf("largest R-hat %v, smallest ESS %v", s.MaxRHat(), s.MinESS())
	}
}

func TestAdvice(t *testing.T) {
	good := chains(2, 1000, func(_ int, r *rand.Rand) float64 { return r.NormFloat64() })
	apart := chains(2, 1000, func(c int, r *rand.Rand) float64 { return r.NormFloat64() + float64(c) })
	stuck := chains(2, 1000, func(c int, r *rand.Rand) float64 {
		if c == 2 {
			return 0.3
		}
		return r.NormFloat64()
	})
	calm := Evidence{Draws: 4000, MaxDepth: 10, EBFMI: []float64{1, 1, 1, 1}, Acceptance: []float64{0.8}, TargetAccept: 0.8}
	away := calm
	away.Runaways = []Runaway{{Name: "s", Value: 1e-300, Chain: 1}, {Name: "tau", Value: 1e-200, Flat: true}}
	if r := Diagnose(Summarize([]string{"x"}, [][][]float64{good}, Settings{}), away); r.Verdict() != "2 checks of the draws failed: bounded density of s, bounded density of tau." ||
		!strings.Contains(r[0].String(), "s has run to 1e-300 in chain 2 and the log density keeps rising") ||
		!strings.Contains(r[1].String(), "tau has run to 1e-200 in chain 1 and the log density does not fall") || !strings.Contains(r[1].Remedy, "give tau a prior") {
		t.Errorf("parameters that have run away give %v", r)
	}
	troubled := Evidence{Draws: 4000, MaxDepth: 10, DepthHits: 40, Divergences: 3, EBFMI: []float64{1, 0.1}, Acceptance: []float64{0.5}, TargetAccept: 0.8}
	for _, c := range []struct {
		name string
		x    [][]float64
		e    Evidence
		want []Check
	}{
		{"good", good, calm, nil},
		{"one chain", good[:1], calm, []Check{CheckRHat}},
		{"apart", apart, calm, []Check{CheckESS, CheckRHat}},
		{"stuck", stuck, calm, []Check{CheckRHat, CheckStuck}},
		{"troubled", good, troubled, []Check{CheckDepth, CheckDivergence, CheckEnergy, CheckAcceptance}},
		{"far below", good, acceptance(0.007, 0.8), []Check{CheckAcceptance}},
		{"above", good, acceptance(0.93, 0.8), nil},
		{"costly", good, acceptance(0.996, 0.8), []Check{CheckAcceptance}},
		{"unknown target", good, acceptance(0.3, 0), nil},
		{"nothing accepted", good, acceptance(0.02, 0), []Check{CheckAcceptance}},
		{"three draws", chains(2, 3, func(_ int, r *rand.Rand) float64 { return r.Float64() }), calm, []Check{CheckESS, CheckRHat}},
	} {
		s := Summarize([]string{"x"}, [][][]float64{c.x}, Settings{})
		r := Diagnose(s, c.e)
		var got []Check
		for _, a := range r.Problems() {
			got = append(got, a.Check)
			if a.Cause == "" || a.Remedy == "" {
				t.Errorf("%s: %s has no cause or no remedy", c.name, a.Check)
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: problems %v, want %v\n%s", c.name, got, c.want, r)
		}
		right := c.e.Divergences == 0 && (len(c.want) == 0 || c.want[0] == CheckAcceptance)
		if accepts := (Criteria{}).Accepts(s, c.e.Divergences); accepts != right {
			t.Errorf("%s: accepted is %v", c.name, accepts)
		}
	}
}

func TestEmptyInput(t *testing.T) {
	for _, x := range [][][]float64{nil, {}, {{}}, {{}, {}}, {{1}}, {{1, 2}, {3}}} {
		s := Summarize([]string{"x"}, [][][]float64{x}, Settings{HDI: true})
		if r := s.Rows[0]; !math.IsNaN(r.RHat) || !math.IsNaN(r.ESSBulk) {
			t.Errorf("%v: %+v", x, r)
		}
		if (Criteria{}).Accepts(s, 0) {
			t.Errorf("%v: accepted", x)
		}
		EBFMI(x)
		ParetoK(x)
	}
	if (Criteria{}).Accepts(Summary{}, 0) {
		t.Error("an empty summary was accepted")
	}
}

func ExampleSummarize() {
	x := chains(1, 1000, func(_ int, r *rand.Rand) float64 { return 0.5 + 0.01*r.NormFloat64() })
	s := Summarize([]string{"contrast"}, [][][]float64{x}, Settings{})
	fmt.Println(Diagnose(s, Evidence{Draws: 4000, EBFMI: []float64{1.1, 0.9}, Acceptance: []float64{0.82, 0.85}, TargetAccept: 0.8}).Verdict())
	// Output: All checks of the draws passed.
}

func BenchmarkSummarize(b *testing.B) {
	x := chains(1, 1000, func(_ int, r *rand.Rand) float64 { return r.NormFloat64() })
	for b.Loop() {
		Summarize([]string{"x"}, [][][]float64{x}, Settings{})
	}
}

// A chain that is given twice is no second chain.
func TestRepeatedChains(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	x := make([][]float64, 4)
	for c := range x {
		x[c] = make([]float64, 400)
		for i := range x[c] {
			x[c][i] = r.NormFloat64()
		}
	}
	advice := func(x [][]float64) string {
		return Diagnose(Summarize([]string{"a"}, [][][]float64{x}, Settings{}), Evidence{}).String()
	}
	if text := advice(x); strings.Contains(text, "repeats") {
		t.Error(text)
	}
	x[2] = slices.Clone(x[0])
	if text := advice(x); !strings.Contains(text, "chain 3 repeats an earlier one draw by draw") {
		t.Error(text)
	}
}

// acceptance is evidence of chains that are right apart, perhaps, from their acceptance rates.
func acceptance(rate, target float64) Evidence {
	return Evidence{Draws: 4000, MaxDepth: 10, EBFMI: []float64{1}, Acceptance: []float64{rate}, TargetAccept: target}
}

// Checks that the draws do not record are not said to have passed.
func TestUnrecordedChecks(t *testing.T) {
	x := chains(2, 1000, func(_ int, r *rand.Rand) float64 { return r.NormFloat64() })
	s := Summarize([]string{"mu"}, [][][]float64{x}, Settings{})
	r := Diagnose(s, Evidence{Draws: 4000, Unrecorded: []Check{CheckDepth, CheckDivergence}})
	for _, c := range []Check{CheckDepth, CheckDivergence, CheckEnergy, CheckAcceptance} {
		if !strings.Contains(r.String(), string(c)+": not checked: the draws do not record it") {
			t.Errorf("%s: %v", c, r)
		}
	}
	if want := "All checks of the draws passed, except for 4 that could not be made: tree depth, divergences, E-BFMI, acceptance rate."; r.Verdict() != want || !r.OK() {
		t.Errorf("%s, want %s", r.Verdict(), want)
	}
	if none := Diagnose(s, Evidence{Unrecorded: []Check{CheckDepth, CheckDivergence, CheckESS, CheckRHat, CheckStuck}}); !strings.HasPrefix(none.Verdict(), "None of the checks of the draws could be made") {
		t.Error(none.Verdict())
	}
	if text := Diagnose(s, acceptance(0.3, 0)).String(); !strings.Contains(text, "it is 0.30 in every chain; its target is not known") {
		t.Error(text)
	}
}

// Pointwise log likelihoods do not stand for the parameters, and a value is written with the digits that show
// what is wrong with it.
func TestHeadlines(t *testing.T) {
	good := chains(2, 1000, func(_ int, r *rand.Rand) float64 { return r.NormFloat64() })
	apart := chains(2, 1000, func(c int, r *rand.Rand) float64 { return r.NormFloat64() + float64(c) })
	s := Summarize([]string{"mu", "log_lik.4", "log_likelihood[2]"}, [][][]float64{good, apart, apart}, Settings{})
	if r := Diagnose(s, acceptance(0.8, 0.8)); !r.OK() || strings.Contains(r.String(), "log_lik") || !(Criteria{}).Accepts(s, 0) || s.MaxRHat() > 1.01 {
		t.Errorf("%v, largest R-hat %g", r, s.MaxRHat())
	}
	s = Summary{Rows: []Row{{Name: "b", RHat: 1.0104, ESSBulk: 900, ESSTail: 900}}, Chains: 4, Draws: 1000}
	if text := Diagnose(s, acceptance(0.8, 0.8)).String(); !strings.Contains(text, "b has the largest, 1.0104, which is above 1.01") {
		t.Error(text)
	}
	twice := [][]float64{good[0], good[1], good[0]}
	if text := Diagnose(Summarize([]string{"b"}, [][][]float64{twice}, Settings{}), acceptance(0.8, 0.8)).Verdict(); !strings.Contains(text, "R-hat (chain 3 repeats an earlier one)") {
		t.Error(text)
	}
}

// A state that is the same in a whole chain is no sign of a chain that does not move.
func TestIntegersAreNotStuck(t *testing.T) {
	x := [][][]float64{{nil, nil}}
	for i := range 100 {
		x[0][0] = append(x[0][0], 1)
		x[0][1] = append(x[0][1], 1+float64(i%50/49))
	}
	if r := Summarize([]string{"state"}, x, Settings{}).Row("state"); len(r.Stuck) > 0 {
		t.Errorf("stuck: %v", r.Stuck)
	}
}
