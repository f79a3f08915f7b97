// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func TestFolds(t *testing.T) {
	group := make([]int, 103)
	class := make([]int, 103)
	for i := range group {
		group[i], class[i] = i/7*31, i%3
	}
	for name, make := range map[string]func(seed uint64) ([][]int, error){
		"plain":      func(s uint64) ([][]int, error) { return KFold(103, 10, s) },
		"grouped":    func(s uint64) ([][]int, error) { return KFoldGroups(group, 5, s) },
		"stratified": func(s uint64) ([][]int, error) { return KFoldStratified(class, 10, s) },
	} {
		folds, err := make(1)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := make(1)
		other, _ := make(2)
		if !slices.EqualFunc(folds, again, slices.Equal) || slices.EqualFunc(folds, other, slices.Equal) {
			t.Errorf("%s: the seed does not decide", name)
		}
		all := slices.Concat(folds...)
		slices.Sort(all)
		least, most := 103, 0
		for i := range all {
			if all[i] != i {
				t.Fatalf("%s: not a division: %v", name, folds)
			}
		}
		for _, f := range folds {
			least, most = min(least, len(f)), max(most, len(f))
			if name == "grouped" {
				for _, i := range f {
					first := i / 7 * 7
					if !slices.Contains(f, first) {
						t.Errorf("the group of %d is torn apart", i)
					}
				}
			}
			var count [3]int
			for _, i := range f {
				count[class[i]]++
			}
			if name == "stratified" && slices.Max(count[:])-slices.Min(count[:]) > 2 {
				t.Errorf("classes %v in fold %v", count, f)
			}
		}
		if most-least > 7 || name != "grouped" && most-least > 1 {
			t.Errorf("%s: sizes from %d to %d", name, least, most)
		}
	}
	for _, f := range []func() error{
		func() error { _, err := KFold(3, 4, 0); return err },
		func() error { _, err := KFold(3, 1, 0); return err },
		func() error { _, err := KFoldGroups([]int{1, 1, 1}, 2, 0); return err },
		func() error { _, err := KFoldStratified(nil, 2, 0); return err },
	} {
		if f() == nil {
			t.Error("impossible folds were made")
		}
	}
}

func TestKFoldELPD(t *testing.T) {
	folds := [][]int{{0, 2}, {1}}
	held := [][][][]float64{{{{-1, -3}, {-1, -3}}}, {{{math.Log(0.2)}, {math.Log(0.4)}}}}
	all := [][][]float64{{{-0.5, -1, -2}, {-0.5, -1, -2}}}
	e, err := KFoldELPD(folds, held, all, Posterior)
	if err != nil {
		t.Fatal(err)
	}
	want := -1 + math.Log(0.3) - 3
	if math.Abs(e.ELPD-want) > 1e-14 || math.Abs(e.P-(-3.5-want)) > 1e-14 || e.Points[2].ELPD != -3 {
		t.Errorf("%+v, want %v", e, want)
	}
	if e, err = KFoldELPD(folds, held, nil, ArviZ); err != nil || !math.IsNaN(e.P) || !strings.Contains(e.String(), "elpd_kfold") || !e.Diagnose().OK() {
		t.Errorf("%v %v", err, e)
	}
	for want, f := range map[string]func() error{
		"one for each fold": func() error { _, err := KFoldELPD(folds, held[:1], nil, Posterior); return err },
		"each of 0":         func() error { _, err := KFoldELPD([][]int{{0, 0}, {1}}, held, nil, Posterior); return err },
		"its likelihoo":     func() error { _, err := KFoldELPD([][]int{{0}, {1}}, held, nil, Posterior); return err },
		"(fold 0)":          func() error { _, err := KFoldELPD([][]int{{0}}, [][][][]float64{nil}, nil, Posterior); return err },
		"but the likeli":    func() error { _, err := KFoldELPD(folds, held, [][][]float64{{{1}}}, Posterior); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestReloo(t *testing.T) {
	e, err := LOO(withOutlier(), LOOSettings{})
	if err != nil {
		t.Fatal(err)
	}
	bad := e.Bad()
	refit := [][][]float64{{{-30, -31, -30.5, -32}, {-29, -31, -33, -30}}}
	exact, err := e.Reloo(bad, refit, Posterior)
	if err != nil || len(bad) != 1 || len(exact.Bad()) != 0 || !exact.Diagnose().OK() || math.IsNaN(exact.MCSE) {
		t.Fatalf("%v: %v", err, exact)
	}
	if d := exact.ELPD - e.ELPD - (exact.Points[bad[0]].ELPD - e.Points[bad[0]].ELPD); math.Abs(d) > 1e-12 || e.Points[bad[0]].K < 1 {
		t.Errorf("the sum is off by %v, or the first estimate was changed", d)
	}
	for _, f := range []func() error{
		func() error { _, err := e.Reloo([]int{99}, refit, Posterior); return err },
		func() error { _, err := e.Reloo([]int{1, 2}, refit, Posterior); return err },
		func() error { _, err := e.Reloo([]int{1}, [][][]float64{{{math.NaN()}}}, Posterior); return err },
		func() error { _, err := e.Reloo([]int{1}, [][][]float64{nil}, Posterior); return err },
	} {
		if f() == nil {
			t.Error("a senseless refit was accepted")
		}
	}
}
