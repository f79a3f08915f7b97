// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package disttest

import (
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Transform checks a transform of numbers (Event 0) at unconstrained numbers x: its log Jacobian is the sum of the
// logarithms of the derivatives of y by x, both have gradients, and Inverse gives x back.
func Transform(t *testing.T, tr dist.Transform, x ...float64) {
	t.Helper()
	if tr.Event != 0 || tr.Constrain == nil || tr.Inverse == nil || tr.Free == nil || len(x) == 0 {
		t.Fatalf("disttest: transform %q: want one of numbers, with Constrain, Free and Inverse, and numbers to check it at", tr.Name)
	}
	if n := tr.Free(len(x)); n != len(x) {
		t.Errorf("%s: Free(%d) is %d: want the same number, since Event is 0", tr.Name, len(x), n)
	}
	in := ad.Input("x", len(x))
	y, logJ := tr.Constrain(in)
	switch {
	case y == nil || logJ == nil:
		t.Fatalf("disttest: transform %q: Constrain returned nil: want y and its log Jacobian", tr.Name)
	case y.Err() == nil && !y.Shape().Equal(in.Shape()) || logJ.Err() == nil && len(logJ.Shape()) != 0:
		t.Fatalf("disttest: transform %q: Constrain of the shape %v returned y of the shape %v and a log Jacobian of the shape %v: want the same shape, and a scalar summed over all numbers", tr.Name, in.Shape(), y.Shape(), logJ.Shape())
	}
	p, err := ad.Compile([]*ad.Node{y, logJ, ad.Jacobian(y, in)}, ad.Settings{Inputs: []*ad.Node{in}})
	if err != nil {
		t.Fatalf("%s: %v", tr.Name, err)
	}
	s := p.NewState()
	copy(s.Input(0), x)
	if err := s.Run(); err != nil {
		t.Fatalf("%s: %v", tr.Name, err)
	}
	want, n := 0.0, len(x)
	for i := range n {
		want += math.Log(math.Abs(s.Output(2)[i*n+i]))
	}
	if got := s.Output(1)[0]; !(math.Abs(got-want) <= 1e-10*(1+math.Abs(want))) {
		t.Errorf("%s: log Jacobian %.15g, by derivatives %.15g", tr.Name, got, want)
	}
	back, err := tr.Inverse(s.Output(0))
	if err != nil {
		t.Errorf("%s: Inverse: %v", tr.Name, err)
	} else if len(back) != len(x) {
		t.Fatalf("%s: Inverse of %d numbers returned %d: want one for each", tr.Name, len(x), len(back))
	}
	for i, v := range back {
		if !(math.Abs(v-x[i]) <= 1e-8*(1+math.Abs(x[i]))) {
			t.Errorf("%s: Inverse of y(%g) is %g", tr.Name, x[i], v)
		}
	}
	gradtest.Check(t, tr.Name, ad.Add(ad.Sum(ad.Mul(y, y)), logJ), []*ad.Node{in}, [][]float64{x}, true)
}
