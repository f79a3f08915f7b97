// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Chi-square from SciPy 1.17, chisquare of the counts of [0, 2, 5, 7, 10).
func TestChiSquareOfRanks(t *testing.T) {
	ranks := []int{0, 0, 1, 2, 3, 3, 3, 7, 9, 9, 4, 5, 6, 8, 2, 1, 0, 9, 9, 9}
	u, err := TestUniform(ranks, 10, 4)
	if err != nil || !slices.Equal(u.Histogram, []int{5, 6, 2, 7}) {
		t.Fatalf("%v %+v", err, u)
	}
	if math.Abs(u.ChiSquare-1.4166666666666667) > 1e-14 || math.Abs(u.PChi-0.7016326645330284) > 1e-12 {
		t.Errorf("%+v", u)
	}
	for _, bad := range [][]int{nil, {10}, {-1}} {
		if _, err := TestUniform(bad, 10, 0); err == nil {
			t.Errorf("%v was tested", bad)
		}
	}
}

// All 256 sequences of 4 ranks of 4 classes, counted with SciPy's binomial.
func TestDistributionFunctionByCounting(t *testing.T) {
	e := newECDF(4, 4)
	for _, c := range []struct {
		ranks []int
		p     float64
	}{
		{[]int{0, 0, 0, 0}, 0.0078125}, {[]int{3, 3, 3, 0}, 0.1015625}, {[]int{0, 1, 2, 3}, 1}, {[]int{0, 0, 1, 1}, 0.1875}, {[]int{2, 2, 3, 3}, 0.1875},
	} {
		if p := e.test(c.ranks); math.Abs(p-c.p) > 1e-12 {
			t.Errorf("%v has probability %v, want %v", c.ranks, p, c.p)
		}
	}
}

// A band of 90 % holds 90 % of uniform samples, 4 standard errors of 2000 trials
// aside; p-values below 10 % are as rare.
func TestBandHolds(t *testing.T) {
	const trials, n, classes = 2000, 150, 50
	x, low, high, err := ECDFBand(n, classes, 0.9)
	if err != nil || len(x) != classes-1 {
		t.Fatal(err, len(x))
	}
	r := rand.New(rand.NewPCG(1, 9))
	e := newECDF(n, classes)
	outside, rare := 0, 0
	for range trials {
		ranks := make([]int, n)
		for i := range ranks {
			ranks[i] = r.IntN(classes)
		}
		out := false
		for j := range x {
			k := 0
			for _, v := range ranks {
				if v <= j {
					k++
				}
			}
			share := float64(k) / n
			out = out || share < low[j] || share > high[j]
		}
		outside += boolToInt(out)
		rare += boolToInt(e.test(ranks) <= 0.1)
	}
	limit := 0.1 + 4*math.Sqrt(0.09/trials)
	if s := float64(outside) / trials; s > limit || s < 0.06 {
		t.Errorf("%.3f of the samples left the band of 90 %%", s)
	}
	if s := float64(rare) / trials; s > limit || s < 0.06 {
		t.Errorf("%.3f of the p-values are below 10 %%", s)
	}
	for _, bad := range []func() error{
		func() error { _, _, _, err := ECDFBand(0, 5, 0.9); return err },
		func() error { _, _, _, err := ECDFBand(5, 1, 0.9); return err },
		func() error { _, _, _, err := ECDFBand(5, 5, 1); return err },
	} {
		if bad() == nil {
			t.Error("a senseless band was made")
		}
	}
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// calibration runs 300 fits of a normal mean whose posterior is known, widened
// and shifted by error.
func calibration(t *testing.T, scale, shift float64) SBCReport {
	t.Helper()
	s, err := NewSBC([]string{"mu", "constant"}, 99)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(2, 2))
	for range 300 {
		mu := r.NormFloat64()
		y := mu + r.NormFloat64()
		post := make([][]float64, 4)
		for c := range post {
			for range 50 {
				post[c] = append(post[c], y/2+shift+scale*math.Sqrt(0.5)*r.NormFloat64())
			}
		}
		if err := s.Add([]float64{mu, 1}, [][][]float64{post, apply(post, func(float64) float64 { return 1 })}); err != nil {
			t.Fatal(err)
		}
	}
	rep, err := s.Test(SBCSettings{})
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func TestCalibration(t *testing.T) {
	for _, c := range []struct {
		name         string
		scale, shift float64
		says         string
	}{
		{"right", 1, 0, ""},
		{"narrow", 0.6, 0, "too narrow"},
		{"wide", 1.8, 0, "too wide"},
		{"low", 1, -0.4, "lies too low"},
		{"high", 1, 0.4, "lies too high"},
	} {
		rep := calibration(t, c.scale, c.shift)
		d := rep.Diagnose()
		if d.OK() != (c.says == "") || c.says != "" && (!strings.Contains(d[0].Cause, c.says) || !d[1].OK) {
			t.Errorf("%s: %s", c.name, rep)
		}
	}
	rep := calibration(t, 1, 0)
	for _, part := range []string{"300 fits and 4 tests", "at most 0.01", "p_ecdf", "▇"} {
		if !strings.Contains(rep.String(), part) || !strings.Contains(rep.HTML(), part) || !strings.Contains(rep.Markdown(), part) {
			t.Errorf("no %q in\n%s", part, rep)
		}
	}
	if strings.Count(rep.CSV(), "\n") != 3 {
		t.Error(rep.CSV())
	}
}

// The verdict names the quantities, says what is uneven, and that failed fits alone can be why.
func TestVerdictOfCalibration(t *testing.T) {
	s, err := NewSBC([]string{"b", "k", "edge"}, 99)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 400 {
		for i := range s.Ranks {
			k := r.IntN(100)
			if i < 2 && k >= 20 && k < 25 || i < 2 && k >= 75 && k < 80 { // gaps on both sides
				k = 20 + 55*r.IntN(2) + 2
			}
			s.Ranks[i] = append(s.Ranks[i], k)
		}
	}
	for i := range 150 {
		s.Ranks[0][i], s.Ranks[1][i] = 32, 67
	}
	rep, err := s.Test(SBCSettings{})
	if err != nil {
		t.Fatal(err)
	}
	rep.Failed = 60
	d := rep.Diagnose()
	if d.Verdict() != "The ranks of b and k are not uniform." || !strings.Contains(d.String(), "60 of 460 fits gave no ranks, and ranks can be uneven for that reason alone") {
		t.Error(d)
	}
	even := Uniformity{Histogram: []int{20, 20, 60, 20}, Expected: []float64{30, 30, 30, 30}}
	if text := even.shape(); !strings.Contains(text, "60 of them lie between the quantiles 0.5 and 0.75 of the posterior, where 30 are expected") {
		t.Error(text)
	}
	if pValue(0) != "< 1e-300" || pValue(0.012) != "0.012" {
		t.Error(pValue(0))
	}
}

func TestSBCRefuses(t *testing.T) {
	if _, err := NewSBC(nil, 10); err == nil {
		t.Error("calibration of nothing")
	}
	s, _ := NewSBC([]string{"a"}, 10)
	nan := math.NaN()
	for want, f := range map[string]func() error{
		"2 prior draws":   func() error { return s.Add([]float64{1, 2}, [][][]float64{{{1}}}) },
		"2 draws, but 10": func() error { return s.Add([]float64{1}, [][][]float64{{{1, 2}}}) },
		"a draw is NaN":   func() error { return s.Add([]float64{1}, [][][]float64{{{1, 2, 3, 4, nan, 6, 7, 8, 9, 10}}}) },
		"prior draw is":   func() error { return s.Add([]float64{nan}, [][][]float64{{{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}}) },
		"add fits befor":  func() error { _, err := s.Test(SBCSettings{}); return err },
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	if len(s.Ranks[0]) != 0 {
		t.Error("a refused fit was kept")
	}
	if v, err := Thin([][]float64{{0, 1, 2, 3}, {4, 5, 6, 7}}, 4); err != nil || !slices.Equal(v, []float64{1, 3, 5, 7}) {
		t.Errorf("thinned %v, %v", v, err)
	}
}

func ExampleSBC() {
	s, _ := NewSBC([]string{"mu"}, 9)
	r := rand.New(rand.NewPCG(1, 1))
	for range 200 { // fits; here prior and posterior are the same
		_ = s.Add([]float64{r.NormFloat64()}, [][][]float64{{{r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64(),
			r.NormFloat64(), r.NormFloat64(), r.NormFloat64(), r.NormFloat64()}}})
	}
	rep, err := s.Test(SBCSettings{})
	fmt.Println(rep.Diagnose().Verdict(), err)
	// Output: The ranks do not depart from uniform ones. <nil>
}

func BenchmarkECDFTest(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	ranks := make([]int, 1000)
	for i := range ranks {
		ranks[i] = r.IntN(100)
	}
	for b.Loop() {
		newECDF(1000, 100).test(ranks)
	}
}
