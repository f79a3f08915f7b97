// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package optim_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/formula"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/optim"
)

type nist struct {
	Model, Response string
	X, X1, X2, Y    []float64
	Start1, Start2  []float64
	Certified       []float64
	SD              []float64 `json:"certified_sd"`
	RSS             float64   `json:"certified_rss"`
}

// The NIST reference sets from both starts: digits of the certified parameters
// (11 are given) and their standard deviations. The dogleg is watched, not
// required: from some far starts it ends elsewhere.
func TestNISTReferenceSets(t *testing.T) {
	var sets map[string]nist
	golden.JSON(t, &sets, "inference", "nist", "nist_strd.json")
	least, boxed := 99.0, 0
	for name, s := range sets {
		for i, start := range [][]float64{s.Start1, s.Start2} {
			for _, method := range []optim.Method{optim.LM, optim.TRF, optim.Dogbox} {
				p := s.problem(t)
				p.Start = start
				r, err := optim.LeastSquares(context.Background(), p, optim.Settings{Method: method, FTol: 1e-15, XTol: 1e-15, GTol: 1e-15, MaxEvaluations: 5000, RelativeSigma: true})
				if err != nil {
					t.Fatal(err)
				}
				digits := min(agreement(r.X, s.Certified), agreement([]float64{r.ChiSquared()}, []float64{s.RSS}))
				sd := agreement(r.SD(), s.SD)
				t.Logf("%-9s start %d %-6s %5.1f digits, sd %5.1f, %4d evaluations", name, i+1, method, digits, sd, r.NFev)
				if method == optim.Dogbox {
					if digits >= 6 {
						boxed++
					}
					continue
				}
				if least = min(least, digits); digits < 6 || sd < 6 {
					t.Errorf("%s start %d %s: %.1f digits, sd %.1f, want 6: %v, certified %v (%v)", name, i+1, method, digits, sd, r.X, s.Certified, r.Status.Message())
				}
			}
		}
	}
	t.Logf("least of lm and trf: %.1f digits; dogbox has 6 in %d of %d", least, boxed, 2*len(sets))
	if boxed < 3*len(sets)/2 {
		t.Errorf("dogbox has 6 digits in %d of %d fits only", boxed, 2*len(sets))
	}
}

func (s nist) problem(t testing.TB) *optim.Problem {
	t.Helper()
	left, right, _ := strings.Cut(s.Model, "=")
	values := map[string]*ad.Node{"y": ad.Const(s.Y)}
	for name, v := range map[string][]float64{"x": s.X, "x1": s.X1, "x2": s.X2} {
		if v != nil {
			values[name] = ad.Const(v)
		}
	}
	var params []*ad.Node
	for i := range s.Certified {
		name := fmt.Sprintf("b%d", i+1)
		values[name] = ad.Input(name)
		params = append(params, values[name])
	}
	r := ad.Sub(formulaNode(t, right, values), formulaNode(t, left, values))
	p, err := optim.FromGraph(r, params)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func formulaNode(t testing.TB, text string, values map[string]*ad.Node) *ad.Node {
	t.Helper()
	f, err := formula.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	n, err := f.Node(values)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// agreement is the number of digits that the worst element agrees to.
func agreement(got, want []float64) float64 {
	worst := 11.0
	for i, w := range want {
		d := math.Abs(got[i]-w) / math.Abs(w)
		if math.IsNaN(d) {
			return 0
		}
		worst = min(worst, -math.Log10(max(d, 1e-11)))
	}
	return worst
}
