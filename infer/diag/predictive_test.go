// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package diag

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// simulated returns n data of scale one, and 4 x 250 replications and their log
// likelihoods for a fixed mean 0 and the given scale.
func simulated(n int, scale float64) (y []float64, yrep, ll [][][]float64) {
	r := rand.New(rand.NewPCG(8, 8))
	for range n {
		y = append(y, r.NormFloat64())
	}
	yrep, ll = make([][][]float64, 4), make([][][]float64, 4)
	for c := range yrep {
		for range 250 {
			mu := 0.05 * r.NormFloat64()
			rep, l := make([]float64, n), make([]float64, n)
			for i := range rep {
				z := (y[i] - mu) / scale
				rep[i], l[i] = mu+scale*r.NormFloat64(), -z*z/2-math.Log(scale)
			}
			yrep[c], ll[c] = append(yrep[c], rep), append(ll[c], l)
		}
	}
	return y, yrep, ll
}

func TestPredictiveChecks(t *testing.T) {
	for _, c := range []struct {
		scale float64
		says  string
	}{{1, ""}, {0.5, "too narrow"}, {2, "too wide"}} {
		y, yrep, _ := simulated(200, c.scale)
		p, err := PredictiveChecks(y, yrep, PredictiveSettings{})
		if err != nil {
			t.Fatal(err)
		}
		d := p.Diagnose()
		if d.OK() != (c.says == "") || c.says != "" && !strings.Contains(d.String(), c.says) {
			t.Errorf("scale %v: %s\n%s", c.scale, p, d)
		}
		if !strings.Contains(p.String(), "1000 replications of 200") || !strings.Contains(p.HTML(), "median") || !strings.Contains(p.Markdown(), "| 95 % |") || strings.Count(p.CSV(), "\n") != 6 {
			t.Errorf("tables of\n%s", p)
		}
	}
	if p := PredictiveP(2, []float64{1, 2, 2, 3}); p != 0.5 {
		t.Errorf("ties give %v", p)
	}
	y, yrep, _ := simulated(5, 1)
	p, err := PredictiveChecks(y, yrep, PredictiveSettings{Statistics: []Statistic{{"broken", func([]float64) float64 { return math.NaN() }}}, Probs: []float64{0.3}})
	if err != nil || p.Diagnose().OK() || len(p.Coverage) != 1 {
		t.Errorf("%v %v", err, p)
	}
	for want, f := range map[string]func() error{
		"at least one": func() error { _, err := PredictiveChecks(nil, yrep, PredictiveSettings{}); return err },
		"there are 1":  func() error { _, err := PredictiveChecks([]float64{1}, yrep, PredictiveSettings{}); return err },
		"observation 0 ": func() error {
			_, err := PredictiveChecks([]float64{math.NaN()}, yrep, PredictiveSettings{})
			return err
		},
		"between 0 and 1": func() error {
			_, err := PredictiveChecks(y, yrep, PredictiveSettings{Probs: []float64{95}})
			return err
		},
		"chain 1 has": func() error {
			_, err := PredictiveChecks(y, [][][]float64{yrep[0], nil}, PredictiveSettings{})
			return err
		},
		"replication of": func() error {
			_, err := PredictiveChecks([]float64{1}, [][][]float64{{{math.NaN()}}}, PredictiveSettings{})
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestLOOPIT(t *testing.T) {
	for scale, uniform := range map[float64]bool{1: true, 0.5: false, 2: false} {
		y, yrep, ll := simulated(300, scale)
		p, err := LOOPIT(y, yrep, ll, LOOSettings{}, 1)
		if err != nil {
			t.Fatal(err)
		}
		u, err := p.Test()
		if err != nil || (min(u.PChi, u.PECDF) > 0.005) != uniform {
			t.Errorf("scale %v: %v %+v", scale, err, u)
		}
	}
	// With equal weights and ties the value lies between the shares below and not above.
	y, flat := []float64{2}, [][][]float64{{{-1}, {-1}, {-1}, {-1}}}
	p, err := LOOPIT(y, [][][]float64{{{1}, {2}, {2}, {3}}}, flat, LOOSettings{}, 1)
	if err != nil || p.Values[0] < 0.25 || p.Values[0] > 0.75 {
		t.Errorf("%v %v", p, err)
	}
	if _, err := LOOPIT(y, [][][]float64{{{1}}}, flat, LOOSettings{}, 1); err == nil || !strings.Contains(err.Error(), "same draws") {
		t.Error(err)
	}
}
