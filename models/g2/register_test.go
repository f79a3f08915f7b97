// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package g2

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Models that are not whole, or whose name is taken, are refused where they are made.
func TestRegisterRefuses(t *testing.T) {
	whole := Model{Name: "mine", Formula: "a", Of: "delay", Params: []Param{{Name: "a", Start: 1, Upper: 2, Prior: dist.Uniform(0, 2)}}, Mean: func(p []*ad.Node, x *ad.Node) *ad.Node { return ad.Mul(p[0], x) }}
	for want, change := range map[string]func(m *Model){
		"incomplete: set Mean":          func(m *Model) { m.Mean = nil },
		"incomplete: set Formula, Of":   func(m *Model) { m.Formula, m.Of = "", "" },
		`called "a=b,c\n": use letters`: func(m *Model) { m.Params = []Param{{Name: "a=b,c\n", Start: 1, Upper: 2, Prior: dist.Uniform(0, 2)}} },
		`called "lp__": use letters`:    func(m *Model) { m.Params = []Param{{Name: "lp__", Start: 1, Upper: 2, Prior: dist.Uniform(0, 2)}} },
		`called "a b": use letters`:     func(m *Model) { m.Params = []Param{{Name: "a b", Start: 1, Upper: 2, Prior: dist.Uniform(0, 2)}} },
		`has the Complement "zz"`:       func(m *Model) { m.Complement = "zz" },
		"has the pair [0 7]":            func(m *Model) { m.Pairs = [][2]int{{0, 7}} },
		"want delay or q":               func(m *Model) { m.Of = "time" },
		`already is a model "single"`:   func(m *Model) { m.Name = "single" },
		`parameter "a" of the model "mine" starts at 3 within 0 to 2: set Lower < Upper`:                           func(m *Model) { m.Params = []Param{{Name: "a", Start: 3, Upper: 2, Prior: dist.Uniform(0, 2)}} },
		`the parameter "a" of the model "mine" has no prior: set Prior to a distribution`:                          func(m *Model) { m.Params = []Param{{Name: "a", Start: 1, Upper: 2}} },
		`Mean of the model "mine" returned the shape [] for 3 values of x: want the shape [3], one value for each`: func(m *Model) { m.Mean = func(p []*ad.Node, x *ad.Node) *ad.Node { return p[0] } },
		`Mean of the model "mine" panics for 1 parameter and 3 values of x: runtime error: index`:                  func(m *Model) { m.Mean = func(p []*ad.Node, x *ad.Node) *ad.Node { return p[1] } },
		"has the prior uniform between 3 and 4, outside its bounds 0 to 2: change Prior":                           func(m *Model) { m.Params = []Param{{Name: "a", Start: 1, Upper: 2, Prior: dist.Uniform(3, 4)}} },
		"has the prior poisson, which is not a continuous distribution of numbers":                                 func(m *Model) { m.Params = []Param{{Name: "a", Start: 1, Upper: 2, Prior: dist.Poisson(3)}} },
		`the parameter "a" of the model "mine" has a prior that cannot be used: dist: normal has sigma = -1`: func(m *Model) {
			m.Params = []Param{{Name: "a", Start: 1, Upper: 2, Prior: dist.Normal(0, -1)}}
		},
		`has both Prior and PriorRange, of which only PriorRange would count: set one`: func(m *Model) {
			m.Params = []Param{{Name: "a", Start: 1, Upper: 2, Prior: dist.Uniform(0, 2), PriorRange: uniform}}
		},
		`the model "mine" has a parameter called "sigma", the name that posteriors give`: func(m *Model) {
			m.Params = []Param{{Name: "sigma", Start: 1, Upper: 2, Prior: dist.Uniform(0, 2)}}
		},
		"starts at +Inf within": func(m *Model) {
			m.Params = []Param{{Name: "a", Start: math.Inf(1), Upper: math.Inf(1), Prior: dist.HalfNormal(3)}}
		},
		"use letters, digits":       func(m *Model) { m.Name = "my model" },
		`two parameters called "a"`: func(m *Model) { m.Params = append(m.Params, m.Params[0]) },
	} {
		m := whole
		change(&m)
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, want) {
					t.Errorf("want %q: %s", want, r)
				}
			}()
			Register(m)
		}()
	}
}

// A model on points refuses a wrong number of parameters.
func TestOnRefuses(t *testing.T) {
	m, err := ByName("single")
	if err != nil {
		t.Fatal(err)
	}
	f, err := m.On([]float64{1e-3, 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if r, want := fmt.Sprint(recover()), `the model "single" was given 1 number: want one for each of tau, baseline, contrast`; !strings.Contains(r, want) {
			t.Errorf("want %q: %s", want, r)
		}
	}()
	f([]float64{1})
}

// Functions of a model that return something else than they should are errors that name the model.
func TestPartsThatDoNotFit(t *testing.T) {
	x := []float64{1e-3, 1e-2, 0.1, 1, 10}
	c := Curve{Q: math.NaN(), X: x, Y: []float64{1.3, 1.25, 1.2, 1.1, 1}, Err: []float64{0.01, 0.01, 0.01, 0.01, 0.01}}
	whole, err := ByName("single")
	if err != nil {
		t.Fatal(err)
	}
	whole.Name = "mine"
	for want, change := range map[string]func(m *Model){
		`Mean of the model "mine" returned nil: want the model at each x, of the shape [5]`:    func(m *Model) { m.Mean = func(p []*ad.Node, x *ad.Node) *ad.Node { return nil } },
		`Mean of the model "mine" returned the shape [] for 5 values of x: want the shape [5]`: func(m *Model) { m.Mean = func(p []*ad.Node, x *ad.Node) *ad.Node { return p[0] } },
		`Mean of the model "mine" returned the shape [2]`:                                      func(m *Model) { m.Mean = func(p []*ad.Node, x *ad.Node) *ad.Node { return ad.Const([]float64{1, 2}) } },
		`Mean of the model "mine": `: func(m *Model) {
			m.Mean = func(p []*ad.Node, x *ad.Node) *ad.Node { return ad.Add(x, ad.Const([]float64{1, 2})) }
		},
		`"mine" has the pair [0 7]: want the places, from 0 to 2`:                   func(m *Model) { m.Pairs = [][2]int{{0, 7}} },
		`Starts of the model "mine" returned [1] as start 0: want 3 finite numbers`: func(m *Model) { m.Starts = func(Curve) [][]float64 { return [][]float64{{1}} } },
		`Starts of the model "mine" returned [1 +Inf 1]`:                            func(m *Model) { m.Starts = func(Curve) [][]float64 { return [][]float64{{1, math.Inf(1), 1}} } },
		`Starts of the model "mine" returned [NaN 1 1]`:                             func(m *Model) { m.Starts = func(Curve) [][]float64 { return [][]float64{{math.NaN(), 1, 1}} } },
		`of the model "mine" gives the start 5 within 10 to 1`: func(m *Model) {
			m.Params = slices.Clone(m.Params)
			m.Params[0].Range = func(Curve) (start, lower, upper float64) { return 5, 10, 1 }
		},
		`Range of the parameter tau of the model "mine" gives the start NaN within 0 to 1: want`: func(m *Model) {
			m.Params = slices.Clone(m.Params)
			m.Params[0].Range = func(c Curve) (start, lower, upper float64) { return math.NaN(), 0, 1 }
		},
		`Range of the parameter tau of the model "mine" gives the start NaN within 0 to NaN: want the lower bound below the upper one, and a finite start; Q and Phi of a curve are NaN where the data have none`: func(m *Model) {
			m.Params = slices.Clone(m.Params)
			m.Params[0].Range = func(c Curve) (start, lower, upper float64) { return 1 / c.Q, 0, 10 / c.Q }
		},
	} {
		m := whole
		change(&m)
		f, err := FitOne(context.Background(), m, c, Settings{})
		text := f.Message
		if err != nil {
			text = err.Error()
		}
		if !strings.Contains(text, want) {
			t.Errorf("want %q: %s", want, text)
		}
		if strings.HasPrefix(want, "Range") {
			if _, err := Posterior(m, c, Settings{}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("posterior: want %q: %v", want, err)
			}
		}
		if strings.HasPrefix(want, "Mean") {
			if _, err := Posterior(m, c, Settings{}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("posterior: want %q: %v", want, err)
			}
			if _, err := m.On(x); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("On: want %q: %v", want, err)
			}
		}
	}
	whole.Starts = nil // none
	if f, err := FitOne(context.Background(), whole, c, Settings{}); err != nil || !f.OK() {
		t.Errorf("without Starts: %v, %s", err, f.Message)
	}
}

// A start that Range gives beyond its bounds is moved to the bound, as those of Starts are.
func TestStartOfRangeBeyondItsBounds(t *testing.T) {
	m, err := ByName("single")
	if err != nil {
		t.Fatal(err)
	}
	m.Params, m.Starts = slices.Clone(m.Params), nil
	x := []float64{1e-3, 1e-2, 0.1, 1, 10}
	c := Curve{X: x, Y: []float64{1.3, 1.25, 1.2, 1.1, 1}, Err: []float64{0.01, 0.01, 0.01, 0.01, 0.01}}
	for _, start := range []float64{50, -3, math.Inf(1)} {
		m.Params[0].Range = func(Curve) (s, lower, upper float64) { return start, 1e-3, 10 }
		if s, _, _ := m.limits(c, Settings{}); s[0] != min(max(start, 1e-3), 10) {
			t.Errorf("start %g: %g", start, s[0])
		}
		if f, err := FitOne(context.Background(), m, c, Settings{}); err != nil || !f.OK() {
			t.Errorf("start %g: %v, %s", start, err, f.Message)
		}
	}
	m.Params[0].Range = func(Curve) (s, lower, upper float64) { return math.NaN(), 1e-3, 10 }
	for _, s := range []Settings{{Start: map[string]float64{"tau": 1}}, {Fixed: map[string]float64{"tau": 1}}, {Bounds: map[string][2]float64{"tau": {1e-3, 10}}}} {
		if f, err := FitOne(context.Background(), m, c, s); err != nil || !f.OK() {
			t.Errorf("%+v: %v, %s", s, err, f.Message)
		}
	}
}

// The points of a curve may be in any order.
func TestGuessOfUnsortedPoints(t *testing.T) {
	c := Curve{X: []float64{1, 2, 4, 8, 16, 32, 64}, Y: []float64{1.4, 1.3, 1.2, 1.1, 1.05, 1.02, 1}}
	want := c.Guess()
	c = Curve{X: []float64{64, 2, 1, 8, 32, 16, 4}, Y: []float64{1, 1.3, 1.4, 1.1, 1.02, 1.05, 1.2}}
	if got := c.Guess(); got != want || c.X[0] != 64 {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// Sigma is a name of posteriors: of data without errors, and of no parameter of a model.
func TestSigmaOfAPosterior(t *testing.T) {
	m, err := ByName("single")
	if err != nil {
		t.Fatal(err)
	}
	c := Curve{X: []float64{1e-3, 1e-2, 0.1, 1, 10}, Y: []float64{1.3, 1.25, 1.2, 1.1, 1}, Err: []float64{0.01, 0.01, 0.01, 0.01, 0.01}}
	s := Settings{Priors: map[string]dist.Dist{"sigma": dist.HalfNormal(1)}}
	const want = `the prior for "sigma" cannot be used: it is the standard deviation of data without errors, but these data have errors, so leave it out`
	if _, err := Posterior(m, c, s); err == nil || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	c.Err = nil
	if _, err := Posterior(m, c, s); err != nil {
		t.Error(err)
	}
	m.Params = slices.Clone(m.Params)
	m.Params[2].Name = "sigma"
	if _, err := Posterior(m, c, Settings{}); err == nil || !strings.Contains(err.Error(), `has a parameter called "sigma", as has the standard deviation`) {
		t.Error(err)
	}
}
