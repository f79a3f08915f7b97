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
		`parameter "a" of the model "mine" starts at 3 within 0 to 2: set Lower < Upper`: func(m *Model) { m.Params = []Param{{Name: "a", Start: 3, Upper: 2, Prior: dist.Uniform(0, 2)}} },
		"no prior that can be used": func(m *Model) { m.Params = []Param{{Name: "a", Start: 1, Upper: 2}} },
		`Mean of the model "mine" returned the shape [] for 3 values of x: want the shape [3], one value for each`: func(m *Model) { m.Mean = func(p []*ad.Node, x *ad.Node) *ad.Node { return p[0] } },
		`Mean of the model "mine" panics for 1 parameter and 3 values of x: runtime error: index`:                  func(m *Model) { m.Mean = func(p []*ad.Node, x *ad.Node) *ad.Node { return p[1] } },
		"has the prior uniform between 3 and 4, outside its bounds 0 to 2: change Prior":                           func(m *Model) { m.Params = []Param{{Name: "a", Start: 1, Upper: 2, Prior: dist.Uniform(3, 4)}} },
		"has the prior poisson, which is not a continuous distribution of numbers":                                 func(m *Model) { m.Params = []Param{{Name: "a", Start: 1, Upper: 2, Prior: dist.Poisson(3)}} },
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
		if r, want := fmt.Sprint(recover()), `the model "single" was given 1 number: want one for each of [`; !strings.Contains(r, want) {
			t.Errorf("want %q: %s", want, r)
		}
	}()
	f([]float64{1})
}

// Functions of a model that return something else than they should are errors that name the model.
func TestPartsThatDoNotFit(t *testing.T) {
	x := []float64{1e-3, 1e-2, 0.1, 1, 10}
	c := Curve{X: x, Y: []float64{1.3, 1.25, 1.2, 1.1, 1}, Err: []float64{0.01, 0.01, 0.01, 0.01, 0.01}}
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
