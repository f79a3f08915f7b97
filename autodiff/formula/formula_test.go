// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package formula_test

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
)

func TestValues(t *testing.T) {
	for text, want := range map[string]float64{
		"1+2*3":                  7,
		"-x^2":                   -4,
		"2^-x":                   0.25,
		"2^3^2":                  512,
		"2**3":                   8,
		"(1+2)*3/x":              4.5,
		"8/2/2":                  2,
		"1-2-3":                  -4,
		"exp(log(x))+ sin(pi/2)": 3,
		"1.5e-1*y_1":             1.5,
		"arctan(1)*4":            math.Pi,
		"--x":                    2,
		"sqrt(x*x)":              2,
		".5*x":                   1,
		"atan2(x, 2)*4":          math.Pi,
		"max(1, min(x, 3)) + 1":  3,
		"pow(x, y_1)":            1024,
	} {
		f, err := formula.Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		n, err := f.Node(map[string]*ad.Node{"x": ad.Scalar(2), "y_1": ad.Scalar(10)})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		d, err := ad.Eval(n)
		if err != nil || math.Abs(d[0].Data().(float64)-want) > 1e-14*math.Abs(want) {
			t.Errorf("%s = %v (%v), want %g", text, d, err, want)
		}
	}
}

func TestMistakesHaveAPlace(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "expected a number, a name or ( at position 1",
		"1+":                      "expected a number, a name or ( at position 3",
		"1 + * 2":                 `found "*" instead of a number, a name or ( at position 5`,
		"(1+2":                    "not closed: add a ) at position 5",
		"exq(1)":                  `there is no function "exq" (did you mean "exp"?): the functions are abs, `,
		"lorentz(x, p_)":          `there is no function "lorentz" (did you mean "lorentzian"?): the functions are abs, `,
		"1.2.3":                   `"1.2.3" is not a number at position 1`,
		"x y":                     `found "y" instead of an operator such as + or * at position 3`,
		"2 # 3":                   `found "#"`,
		"exp(1":                   "arguments of exp are not closed",
		"exp(1, 2)":               "exp takes 1 argument, but was given 2",
		"max(1)":                  "max takes 2 arguments, but was given 1",
		strings.Repeat("(", 1000): "levels of nesting",
	} {
		_, err := formula.Parse(text)
		var e *formula.Error
		if !errors.As(err, &e) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
	f, err := formula.Parse("a*x")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Node(map[string]*ad.Node{"x": ad.Scalar(1)}); err == nil || !strings.Contains(err.Error(), "uses a") {
		t.Errorf("missing name: %v", err)
	}
}

func TestIndices(t *testing.T) {
	f, err := formula.Parse("2*theta[school] + x")
	if err != nil {
		t.Fatal(err)
	}
	n, err := f.Node(map[string]*ad.Node{"theta": ad.Const([]float64{1, 2}), "school": ad.Ints([]int{1, 0, 1}), "x": ad.Const([]float64{0.5, 0, 0})})
	if err != nil {
		t.Fatal(err)
	}
	v, err := ad.Eval(n)
	if err != nil || !slices.Equal(v[0].Data().([]float64), []float64{4.5, 2, 4}) || f.Indices()["theta"] != "school" || len(f.Names()) != 3 {
		t.Errorf("%v %v %v %v", v, err, f.Indices(), f.Names())
	}
	for text, want := range map[string]string{
		"a[2]":      "name of a column at position 3",
		"a[b":       "not closed: write a[b]",
		"a[b]+a":    "has the index",
		"a[b]+a[c]": "use one of them",
	} {
		if _, err := formula.Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func TestCalls(t *testing.T) {
	c, err := formula.ParseCall(" normal( mu + x , 2*s )")
	if err != nil || c.Name != "normal" || len(c.Args) != 2 || c.Args[1].String() != "2*s " || !slices.Equal(c.Names(), []string{"mu", "x", "s"}) {
		t.Fatalf("%+v %v", c, err)
	}
	for text, want := range map[string]string{
		"normal":         "expected ( and arguments after normal",
		"normal(1":       "expected , or ) at position 9",
		"normal(1, #)":   `found "#" instead of a number, a name or ( at position 11`,
		"normal(1, 2) x": "after normal(...) instead of the end",
		"3":              "expected a name",
	} {
		if _, err := formula.ParseCall(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if c, err := formula.ParseCall("flat()"); err != nil || len(c.Args) != 0 {
		t.Errorf("%v %v", c, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add("b1*(1-exp(-b2*x))**2")
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := formula.Parse(text); err == nil {
			p.Names()
		}
		if c, err := formula.ParseCall(text); err == nil {
			c.Names()
		}
	})
}

// A mistake in a long formula shows what is around it.
func TestLongFormulas(t *testing.T) {
	_, err := formula.Parse(strings.Repeat("a*x+", 50_000) + ")")
	if err == nil || len(err.Error()) > 400 || !strings.Contains(err.Error(), "position 200001 of 200001") {
		t.Errorf("%.500s", err.Error())
	}
}
