// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package check

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// Estimates have two digits, and an exponent only where the number is far from 1.
func TestRough(t *testing.T) {
	for v, want := range map[float64]string{-360.4: "-360", 0.4123: "+0.41", -12345: "-12000", 3e-7: "+3e-07", 0: "+0", 2: "+2", 99.6: "+100", 1.04: "+1", -0.0312: "-0.031"} {
		if got := Rough(v); got != want {
			t.Errorf("%g is written %s, want %s", v, got, want)
		}
	}
}

// A verdict names parameters instead of counting flags, a bound as what may be the cause, and one point as one.
func TestWordsOfVerdicts(t *testing.T) {
	r := rand.New(rand.NewPCG(61, 62))
	for name, c := range map[string]struct {
		make func(d *Data)
		want []string
	}{
		"priors": {func(d *Data) {
			for _, p := range []string{"b", "a"} {
				d.Priors = append(d.Priors, Prior{Name: p, Distribution: "normal(0, 1)", Value: 50, Shift: 3})
			}
		}, []string{"in 2 ways: conflict of prior and data (a and b).", "tail probability below 1e-15"}},
		"bound": {func(d *Data) {
			addTo(d, d.Directions[0].Columns[0], 30)
			d.Bounds = []Bound{{"a", 1, 1, 4}}
		}, []string{"a lies on its bound, which can be the cause by itself"}},
		"one point": {func(d *Data) { d.Z[40] += 9 }, []string{"1 point lies farther from the model than a normal distribution allows", "check this point and mask it"}},
		"gamma":     {func(d *Data) { d.Z[40] += 9; d.Quantiles = true }, []string{"farther from the model than the likelihood allows"}},
	} {
		d := noise(r, 100, false)
		c.make(&d)
		v, err := Judge(d, Settings{})
		for _, want := range c.want {
			if err != nil || !strings.Contains(v.String(), want) {
				t.Errorf("%s: %v %v, want %q", name, err, v, want)
			}
		}
	}
}

// No two rows of the table of tests have the same name.
func TestTestsHaveNames(t *testing.T) {
	v, err := Judge(noise(rand.New(rand.NewPCG(63, 64)), 100, false), Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range v.Tests {
		if slices.ContainsFunc(v.Tests[:i], func(b Test) bool { return a.Kind == b.Kind && a.Of == b.Of }) {
			t.Errorf("%s: %s appears twice", a.Kind, a.Of)
		}
	}
}

// Another cause is offered in plain words.
func TestRivals(t *testing.T) {
	say := func(text string) *Direction {
		return &Direction{Say: func(c, sd []float64) (string, string) { return text, "" }}
	}
	var tests []test
	for _, kind := range []string{"second decay", "drift", "bend", "step"} {
		tests = append(tests, test{kind: kind, columns: [][]float64{{1}}, gain: gain{share: 0.5}, named: say("a " + kind + " would fit better")})
	}
	f := Flag{Kind: "second decay", Text: "a second decay would fit better; it explains much"}
	f.addRivals(tests, make([]float64, 4), 0, 0.01)
	_, got, _ := strings.Cut(f.Text, "much")
	if want := "; another possible cause explains the residuals nearly as well: a drift would fit better. Departures of these other kinds would explain them nearly as well, too: bend and step"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	v := Verdict{Points: 9, Reduced: math.NaN(), Flags: []Flag{f}}
	if want := "The model disagrees with the data: a second decay would fit better, or else: drift, bend and step."; v.Line() != want {
		t.Errorf("the line is %q, want %q", v.Line(), want)
	}
}

// The p-value of prior and data together is not called a tail probability.
func TestWordsOfPriors(t *testing.T) {
	for want, p := range map[string]Prior{
		"a = 0.8556 lies far out in a tail of its prior uniform(0, 1e+04) (two-sided tail probability 0.0002; p-value of prior and data together 6e-25)": {
			Name: "a", Distribution: "uniform(0, 1e+04)", Value: 0.8556, P: 1.7e-4, together: 6e-25},
		"a = 1.1 lies inside its prior normal(0, 0.3), but the data by themselves lie far from it (p-value of prior and data together 1e-07)": {
			Name: "a", Distribution: "normal(0, 0.3)", Value: 1.1, P: 0.3, together: 1e-7},
		"a = 9 lies far out in a tail of its prior normal(0, 1) (two-sided tail probability 1e-12)": {
			Name: "a", Distribution: "normal(0, 1)", Value: 9, P: 1e-12, together: math.NaN()},
		"a = 9 lies far out in a tail of its prior mine (two-sided tail probability 0.02 among 999 draws from the prior)": {
			Name: "a", Distribution: "mine", Value: 9, P: 0.02, Draws: 999, together: math.NaN()},
		"a = 9 lies far out in a tail of its prior mine (two-sided tail probability of at most 0.002: it lies beyond all of 999 draws from the prior)": {
			Name: "a", Distribution: "mine", Value: 9, P: 0.002, Draws: 999, together: math.NaN()},
	} {
		if got := p.words(); got != want {
			t.Errorf("%s\nwant %s", got, want)
		}
	}
}

// Places on an axis are told with the digits that one needs to find them.
func TestPlacesOnAnAxis(t *testing.T) {
	for want, a := range map[string]Axis{
		"wavelength = 4931.2 to 4932 Å": {Name: "wavelength", Unit: "Å", Values: []float64{4930.4, 4931.2, 4932, 4932.8}},
		"tau = 0.00123 to 0.00321 s":    {Name: "tau", Unit: "s", Values: []float64{0.00123456, 0.00321, 1}},
		"year = 2020 to 2021":           {Name: "year", Values: []float64{2020, 2021, 2022}},
		"x = 0 to 1e-08":                {Name: "x", Values: []float64{0, 1e-8, 2e-8}},
		"y = 0.99973 to 1.002":          {Name: "y", Values: []float64{0.9997339983, 1.0015, 0.9997339984}},
	} {
		k := len(a.Values) - 3
		if got := a.label(a.Values[max(0, k)], a.Values[max(0, k)+1]); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// Places along labels have their names.
func TestLevelsOfAnAxis(t *testing.T) {
	a := Axis{Name: "line", Values: []float64{1, 2, 3}, Levels: []string{"wild", "mutant", "null"}}
	if one, more := a.label(2, 2), a.label(1, 3); one != "line = mutant" || more != "line = wild to null" {
		t.Error(one, more)
	}
}
