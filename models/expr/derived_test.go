// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/optim"
)

// decayed fits a decay of nine points; fields are further ones of the document.
func decayed(t *testing.T, fields string) (*Problem, *optim.Result) {
	t.Helper()
	p, err := Parse(fmt.Appendf(nil, `{"expr": "a*exp(-x/tau) + c", "start": {"a": 5, "tau": 2}, "fixed": {"c": 1}, %s
		"data": {"x": [0, 1, 2, 3, 4, 5, 6, 7, 8], "y": [5.93, 4.05, 2.87, 2.09, 1.71, 1.40, 1.26, 1.13, 1.11], "s": [0.1, 0.1, 0.1, 0.05, 0.05, 0.05, 0.05, 0.05, 0.05]}}`, fields))
	if err != nil {
		t.Fatal(err)
	}
	least, s, err := p.LeastSquares()
	if err != nil {
		t.Fatal(err)
	}
	r, _, err := p.Fit(context.Background(), least, s)
	if err != nil {
		t.Fatal(err)
	}
	return p, r
}

func TestDerivedOfFits(t *testing.T) {
	p, r := decayed(t, `"sigma": "s", "derived": {"half": "log(2)*tau", "third": "half/3", "span": "a + c"},`)
	q, err := p.Derive(r)
	if err != nil {
		t.Fatal(err)
	}
	tau, sd := r.Value("tau"), r.SD()[2]
	for i, want := range [][2]float64{{math.Ln2 * tau, math.Ln2 * sd}, {r.X[0] + 1, r.SD()[0]}, {math.Ln2 * tau / 3, math.Ln2 * sd / 3}} {
		if math.Abs(q.X[i]-want[0]) > 1e-9 || math.Abs(q.SD()[i]/want[1]-1) > 1e-9 {
			t.Errorf("%s is %g +- %g, want %g +- %g", q.Names[i], q.X[i], q.SD()[i], want[0], want[1])
		}
	}
	for formula, want := range map[string]string{"taw": "did you mean", "x*a": "uses the column x", "d": "depends on itself", "a +": "ends early"} {
		p.Derived = map[string]string{"d": formula}
		if _, err := p.Derive(r); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", formula, err)
		}
	}
}

// A band at the data is that of the Jacobian; new data scatter by their errors beside it; and other rows may be asked for.
func TestBandOfFits(t *testing.T) {
	p, r := decayed(t, `"sigma": "s",`)
	b, err := p.Band(r, nil, optim.BandSettings{})
	if err != nil {
		t.Fatal(err)
	}
	wide, err := p.Band(r, nil, optim.BandSettings{Sigma: p.Data["s"].Values})
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range p.Data["s"].Values {
		v := 0.0
		for a := range 3 {
			for c := range 3 {
				v += r.Jacobian[a*r.M+i] * r.Jacobian[c*r.M+i] * r.Cov[a*3+c] * s * s
			}
		}
		if math.Abs(b.SD[i]/math.Sqrt(v)-1) > 1e-9 || math.Abs((wide.Upper[i]-wide.Mean[i])/(1.959963985*math.Hypot(b.SD[i], s))-1) > 1e-6 {
			t.Errorf("row %d: %g, %g", i, b.SD[i], wide.Upper[i])
		}
	}
	one, err := p.Band(r, map[string]Column{"x": {Values: []float64{0}}}, optim.BandSettings{})
	if err != nil || one.Mean[0] != r.Value("a")+1 || math.Abs(one.SD[0]/r.SD()[0]-1) > 1e-12 {
		t.Errorf("%v %v", one, err)
	}
}

// Resampled fits keep fixed values and bounds.
func TestBootstrapOfFits(t *testing.T) {
	p, r := decayed(t, `"bounds": {"tau": [0, 2.05]},`)
	b, err := p.Bootstrap(context.Background(), r, optim.BootstrapSettings{Draws: 200, Resampling: optim.ResampleResiduals})
	if err != nil || len(b.Names) != 2 || b.Names[0] != "a" || b.Upper[1] > 2.05 {
		t.Fatalf("%+v %v", b, err)
	}
}
