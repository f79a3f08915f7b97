// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"strings"
	"testing"

	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// views are one 2 by 3 array in every form a tensor may have.
func views(t *testing.T) map[string]*gt.Dense {
	t.Helper()
	big := gt.New(gt.WithShape(3, 4), gt.WithBacking([]float64{9, 1, 2, 3, 9, 4, 5, 6, 9, 9, 9, 9}))
	sliced, err := big.Slice(gt.S(0, 2), gt.S(1, 4))
	if err != nil {
		t.Fatal(err)
	}
	rows, err := gt.New(gt.WithShape(3, 3), gt.WithBacking([]float64{9, 9, 9, 1, 2, 3, 4, 5, 6})).Slice(gt.S(1, 3))
	if err != nil {
		t.Fatal(err)
	}
	turned := gt.New(gt.WithShape(3, 2), gt.WithBacking([]float64{1, 4, 2, 5, 3, 6}))
	if err := turned.T(); err != nil {
		t.Fatal(err)
	}
	return map[string]*gt.Dense{
		"plain":        gt.New(gt.WithShape(2, 3), gt.WithBacking([]float64{1, 2, 3, 4, 5, 6})),
		"columns":      sliced.(*gt.Dense),
		"rows":         rows.(*gt.Dense),
		"transposed":   turned,
		"column-major": gt.New(gt.WithShape(2, 3), gt.AsFortran([]float64{1, 2, 3, 4, 5, 6})),
	}
}

func TestDenseIn(t *testing.T) {
	x := ad.Input("x", 2, 3)
	p, err := ad.Compile([]*ad.Node{ad.Scale(2, x)}, ad.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range views(t) {
		near(t, name+" as a constant", 0, eval(t, bridge.FromDense(d)), []float64{1, 2, 3, 4, 5, 6})
		s := p.NewState()
		if err := bridge.SetInput(s, 0, d); err != nil {
			t.Fatal(name, err)
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		out := bridge.ToDense(s, 0)
		near(t, name+" as an input", 0, out.Float64s(), []float64{2, 4, 6, 8, 10, 12})
		if &out.Float64s()[0] != &s.Output(0)[0] {
			t.Errorf("%s: ToDense made a copy", name)
		}
	}
}

func TestSetInputRefuses(t *testing.T) {
	x := ad.Input("x", 2, 3)
	p, err := ad.Compile([]*ad.Node{ad.Exp(x)}, ad.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	for _, d := range []*gt.Dense{gt.New(gt.WithBacking([]float64{1, 2})), gt.New(gt.WithBacking(make([]float32, 6)))} {
		if err := bridge.SetInput(s, 0, d); err == nil || !strings.Contains(err.Error(), "6 of float64") {
			t.Errorf("%v: error %v", d.Dtype(), err)
		}
	}
}
