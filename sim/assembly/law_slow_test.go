// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package assembly

import (
	"fmt"
	"testing"
)

// All experiments of the reference, each metric by the Kolmogorov-Smirnov distance at
// a false alarm rate of 1e-4 over as many brains as the reference has, 200 at least
// unless that takes minutes.
func TestLawOfEverything(t *testing.T) {
	settings := map[string]Settings{"lazy_exact": {Activity: Silent, Lazy: forgetful}, "cpp": {Activity: Silent, Lazy: Normal}, "py": {Lazy: Normal}, "explicit": {Activity: Silent}}
	list := experiments(t)
	for _, e := range list { // lazy areas have the law of whole ones
		if e.Engine == "explicit" {
			e.lazy = true
			list = append(list, e)
		}
	}
	for _, e := range list {
		protocol, p, a := e.area(t)
		a.Lazy = a.Lazy || e.lazy
		s := settings[e.Engine]
		s.P = p
		want := e.figures(t)
		if e.Engine == "py" && protocol == "merge" { // a defect of the reference
			continue
		}
		t.Run(fmt.Sprintf("%s/%s/lazy=%v", e.Name, e.Engine, a.Lazy), func(t *testing.T) {
			brains := 200
			if a.N > 10000 || !a.Lazy {
				brains = 60
			}
			got := collect(brains, s, func(s Settings) map[string][]float64 { return experimentOf(t, protocol, s, a, want) })
			var metrics []string
			for m := range want {
				if _, ok := got[m]; ok {
					for i, row := range got[m] {
						got[m][i] = kept(row, e.Kept[m], len(want[m][0]))
					}
					metrics = append(metrics, m)
				}
			}
			if len(metrics) == 0 {
				t.Fatalf("no metric of %v", want)
			}
			t.Log(metrics)
			got.same(t, want, metrics...)
		})
	}
}

func kept(row []float64, at []int, n int) []float64 {
	if len(at) != n || len(row) == n {
		return row[:min(n, len(row))]
	}
	out := make([]float64, n)
	for i, k := range at {
		out[i] = row[k]
	}
	return out
}

func experimentOf(t *testing.T, protocol string, s Settings, a Area, want figures) map[string][]float64 {
	switch protocol {
	case "project":
		rounds := len(want["w"][0])
		if len(want["cons"][0]) > rounds {
			rounds = len(want["cons"][0])
		}
		return projected(t, s, a, rounds)
	case "pattern":
		out := completed(t, s, a)
		for k, v := range projected(t, s, a, 25) {
			out[k] = v
		}
		return out
	case "assoc":
		return associated(t, s, a)
	case "assoc_curve":
		return associationCurve(t, s, a)
	case "merge":
		return merged(t, s, a)
	case "recip":
		return reciprocated(t, s, a)
	case "separate":
		return separated(t, s, a, 0)
	case "separate50":
		return separated(t, s, a, 50)
	}
	t.Fatalf("no protocol %s", protocol)
	return nil
}

func associationCurve(t *testing.T, s Settings, a Area) map[string][]float64 {
	b, do := twoAreas(t, s, a), must(t)
	do(b.project(1, "SA>A SB>B"))
	do(b.project(9, "SA>A SB>B A>A B>B"))
	do(b.ProjectInto("SA", "A", "C", 10))
	do(b.ProjectInto("SB", "B", "C", 10))
	var overlap []float64
	for i := range 20 {
		fibres := "SA>A SB>B A>A B>B A>C B>C"
		if i > 0 {
			fibres += " C>C"
		}
		do(b.project(1, fibres))
		if i < 9 {
			continue
		}
		x, y := b.Clone(), b.Clone()
		do(x.project(1, "SA>A"))
		do(x.project(1, "A>C"))
		do(y.project(1, "SB>B"))
		do(y.project(1, "B>C"))
		overlap = append(overlap, Overlap(winners(t, x, "C"), winners(t, y, "C"), a.K))
	}
	return map[string][]float64{"overlap": overlap}
}

func reciprocated(t *testing.T, s Settings, a Area) map[string][]float64 {
	b, do := twoAreas(t, s, a), must(t)
	do(b.Form("SA", "A", 21))
	before := winners(t, b, "A")
	out := map[string][]float64{}
	for _, step := range do(b.Reciprocal("A", "B", 21)) {
		for _, r := range step {
			if r.Area == "B" {
				out["wB"] = append(out["wB"], float64(r.Support))
			}
		}
	}
	for i := range 11 {
		fibres := "B>A A>A"
		if i == 0 {
			fibres = "B>A"
		}
		do(b.project(1, fibres))
		out["restored"] = append(out["restored"], Overlap(before, winners(t, b, "A"), a.K))
	}
	return out
}

func separated(t *testing.T, s Settings, a Area, overlap int) map[string][]float64 {
	b := New(s)
	check(t, b.AddArea(Area{Name: "EXP", N: 2 * a.K, K: a.K}))
	check(t, b.AddArea(a))
	block := func(from int) (w []int32) {
		for j := range a.K {
			w = append(w, int32(from+j))
		}
		return w
	}
	r, err := b.Separate("EXP", "A", block(0), block(a.K-overlap), 11)
	check(t, err)
	w, _ := b.Support("A")
	return map[string][]float64{"overlap_out": {Overlap(r.Trained[0], r.Trained[1], a.K)}, "w": {float64(w)},
		"restored1": {Overlap(r.Trained[0], r.Again[0], a.K)}, "restored2": {Overlap(r.Trained[1], r.Again[1], a.K)}}
}
