package formula_test

import (
	"errors"
	"math"
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
		"":                        "ends early at position 1",
		"1+":                      "ends early at position 3",
		"1 + * 2":                 `unexpected "*" at position 5`,
		"(1+2":                    "not closed at position 5",
		"exq(1)":                  `no function "exq": there are abs, `,
		"1.2.3":                   `"1.2.3" is no number at position 1`,
		"x y":                     `unexpected "y" at position 3`,
		"2 # 3":                   `unexpected "#"`,
		"exp(1":                   "argument of exp is not closed",
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

func FuzzParse(f *testing.F) {
	f.Add("b1*(1-exp(-b2*x))**2")
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := formula.Parse(text); err == nil {
			p.Names()
		}
	})
}
