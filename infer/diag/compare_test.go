// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// checkStacking reports weights that are not those of the best mixture of densities, by
// the conditions of Karush, Kuhn and Tucker: the mean over the observations of the
// density of a model over that of the mixture is 1 for a model of the mixture, and at
// most 1 for another.
func checkStacking(t *testing.T, elpd [][]float64, w []float64) {
	t.Helper()
	l := densities(elpd)
	for m := range w {
		mean := 0.0
		for _, row := range l {
			mixture := 0.0
			for k, v := range row {
				mixture += w[k] * v
			}
			mean += row[m] / mixture / float64(len(l))
		}
		if mean > 1+1e-8 || w[m] > 1e-6 && mean < 1-1e-8 {
			t.Errorf("weight %v of model %d: mean ratio of densities %.12g, want 1", w[m], m, mean)
		}
	}
}

// R's stacking weights are those at which its optimiser stopped, up to 2.6e-3 from the
// optimum. TestStackingBeatsTheReference says that nothing is lost.
func TestComparisonGolden(t *testing.T) {
	_, kid := readLOO(t)
	if len(kid.Compare.Order) < 2 {
		t.Skip("the reference compares no models")
	}
	var models []ELPD
	names := slices.Sorted(slices.Values(kid.Compare.Order))
	for _, name := range names {
		e, err := LOO(kid.likelihood(name), LOOSettings{Efficiency: 1})
		if err != nil {
			t.Fatal(err)
		}
		models = append(models, e)
	}
	c, err := Compare(names, models, CompareSettings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	k := newTally(t)
	plus, elpd, weights := 0.0, [][]float64{}, []float64{}
	for i, row := range c.Rows {
		if row.Name != kid.Compare.Order[i] {
			t.Errorf("rank %d is %s, want %s", i, row.Name, kid.Compare.Order[i])
		}
		k.check("difference", row.Name, row.Diff, kid.Compare.Diff[i], 1e-8)
		k.check("its error", row.Name, row.DiffSE, kid.Compare.SE[i], 1e-8)
		k.check("pseudo-BMA", row.Name, row.PseudoBMA, kid.Compare.PseudoBMA[row.Name], 1e-8)
		var points []float64
		for _, p := range models[slices.Index(names, row.Name)].Points {
			points = append(points, p.ELPD)
		}
		elpd, weights = append(elpd, points), append(weights, row.Stacking)
		plus += row.PseudoBMAPlus
	}
	k.report()
	checkStacking(t, elpd, weights)
	if math.Abs(plus-1) > 1e-12 || c.Rows[0].PseudoBMAPlus < c.Rows[len(c.Rows)-1].PseudoBMAPlus {
		t.Errorf("bootstrap weights %+v", c.Rows)
	}
	for _, part := range []string{c.Rows[0].Name, "stacking", "ranks first"} {
		if !strings.Contains(c.String(), part) || !strings.Contains(c.HTML(), part) || !strings.Contains(c.Markdown(), part) {
			t.Errorf("no %q in\n%s", part, c)
		}
	}
	if strings.Count(c.CSV(), "\n") != 1+len(c.Rows) {
		t.Error(c.CSV())
	}
}

func TestStackingBeatsTheReference(t *testing.T) {
	_, kid := readLOO(t)
	if len(kid.Compare.Stacking) < 2 {
		t.Skip("the reference compares no models")
	}
	var elpd [][]float64
	var reference []float64
	for name, weight := range kid.Compare.Stacking {
		var row []float64
		for _, v := range kid.Models[name].R.ELPDi {
			row = append(row, float64(v))
		}
		elpd, reference = append(elpd, row), append(reference, float64(weight))
	}
	l, w := densities(elpd), Stacking(elpd)
	ours, theirs := stackingLoss(l, w), stackingLoss(l, reference)
	if !(ours <= theirs) || theirs-ours > 1e-6 {
		t.Errorf("loss per observation %.12g, the reference has %.12g", ours, theirs)
	}
	for i := range w {
		if math.Abs(w[i]-reference[i]) > 3e-3 {
			t.Errorf("weights %v, reference %v", w, reference)
		}
	}
}

// The weights satisfy the conditions of an optimum on the simplex: the mean of
// exp(elpd) over its mixture is 1 where a model has weight, and at most 1 else.
func TestStackingIsOptimal(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for trial := range 200 {
		k, n := 2+r.IntN(9), 1+r.IntN(60)
		elpd := make([][]float64, k)
		for m := range elpd {
			for range n {
				elpd[m] = append(elpd[m], -3+math.Exp(r.NormFloat64())*r.NormFloat64())
			}
		}
		switch trial % 5 {
		case 1:
			elpd[1] = elpd[0]
		case 2:
			elpd[0][0] = math.Inf(-1)
		case 3:
			for m := range elpd {
				elpd[m][n-1] = math.Inf(-1)
			}
		}
		w := Stacking(elpd)
		sum := 0.0
		for _, x := range w {
			if x < 0 || math.IsNaN(x) {
				t.Fatalf("weights %v", w)
			}
			sum += x
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Fatalf("weights %v have sum %v", w, sum)
		}
		l := densities(elpd)
		if len(l) == 0 {
			continue
		}
		grad, _ := stackingDerivatives(l, w)
		for m, g := range grad {
			if g < -1e-7 || w[m]*math.Abs(g) > 1e-7 {
				t.Errorf("trial %d: weight %v of model %d has gradient %v", trial, w[m], m, g)
			}
		}
	}
	if w := Stacking([][]float64{{-1, -2}}); len(w) != 1 || w[0] != 1 {
		t.Errorf("one model has weight %v", w)
	}
}

func TestCompareRefuses(t *testing.T) {
	one := ELPD{Method: methodWAIC, Points: make([]PointELPD, 2)}
	other := ELPD{Method: methodLOO, Points: make([]PointELPD, 2)}
	long := ELPD{Method: methodWAIC, Points: make([]PointELPD, 3)}
	for want, c := range map[string]struct {
		names  []string
		models []ELPD
	}{
		"at least 2":           {[]string{"a"}, []ELPD{one}},
		"1 names for 2 models": {[]string{"a"}, []ELPD{one, one}},
		"are called a":         {[]string{"a", "a"}, []ELPD{one, one}},
		"one method":           {[]string{"a", "b"}, []ELPD{one, other}},
		"same data":            {[]string{"a", "b"}, []ELPD{one, long}},
	} {
		if _, err := Compare(c.names, c.models, CompareSettings{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	c, err := Compare([]string{"a", "b"}, []ELPD{one, one}, CompareSettings{})
	if err != nil || c.Rows[0].Name != "a" || c.Rows[1].Diff != 0 {
		t.Errorf("equal models: %v %+v", err, c)
	}
	if (Comparison{}).Verdict() == "" {
		t.Error("no verdict without models")
	}
}
