package formula_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/optim"
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

type nist struct {
	Model, Response string
	X, X1, X2, Y    []float64
	Start1, Start2  []float64
	Certified       []float64
	SD              []float64 `json:"certified_sd"`
	RSS             float64   `json:"certified_rss"`
}

// The NIST reference sets, from their formulas, from both starts, by both
// methods: digits of the certified parameters (11 are given).
func TestNISTReferenceSets(t *testing.T) {
	var sets map[string]nist
	golden.JSON(t, &sets, "inference", "nist", "nist_strd.json")
	least := 99.0
	for name, s := range sets {
		for i, start := range [][]float64{s.Start1, s.Start2} {
			for _, method := range []optim.Method{optim.LM, optim.TRF} {
				p := s.problem(t)
				p.Start = start
				r, err := optim.LeastSquares(context.Background(), p, optim.Settings{Method: method, FTol: 1e-15, XTol: 1e-15, GTol: 1e-15, MaxEvaluations: 5000, RelativeSigma: true})
				if err != nil {
					t.Fatal(err)
				}
				digits := min(agreement(r.X, s.Certified), agreement([]float64{r.ChiSquared()}, []float64{s.RSS}))
				sd := agreement(r.SD(), s.SD)
				t.Logf("%-9s start %d %-3s %5.1f digits, sd %5.1f, %4d evaluations", name, i+1, method, digits, sd, r.NFev)
				if least = min(least, digits); digits < 6 {
					t.Errorf("%s start %d %s: %.1f digits, want 6: %v, certified %v (%v)", name, i+1, method, digits, r.X, s.Certified, r.Status.Message())
				}
			}
		}
	}
	t.Logf("least: %.1f digits", least)
}

func (s nist) problem(t *testing.T) *optim.Problem {
	t.Helper()
	left, right, _ := strings.Cut(s.Model, "=")
	values := map[string]*ad.Node{"y": ad.Const(s.Y)}
	for name, v := range map[string][]float64{"x": s.X, "x1": s.X1, "x2": s.X2} {
		if v != nil {
			values[name] = ad.Const(v)
		}
	}
	f, err := formula.Parse(right)
	if err != nil {
		t.Fatal(err)
	}
	var params []*ad.Node
	for i := range s.Certified {
		name := "b" + string(rune('1'+i))
		values[name] = ad.Input(name)
		params = append(params, values[name])
	}
	y, err := formula.Parse(left)
	if err != nil {
		t.Fatal(err)
	}
	model, err := f.Node(values)
	if err != nil {
		t.Fatal(err)
	}
	data, err := y.Node(values)
	if err != nil {
		t.Fatal(err)
	}
	p, err := optim.FromGraph(ad.Sub(model, data), params)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// agreement is the number of digits that the worst element agrees to.
func agreement(got, want []float64) float64 {
	worst := 11.0
	for i, w := range want {
		worst = min(worst, -math.Log10(max(math.Abs(got[i]-w)/math.Abs(w), 1e-11)))
	}
	return worst
}
