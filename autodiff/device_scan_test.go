// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// A scan and its gradient run on the device, step by step, with the same numbers as on the processor; one
// of unknown length runs on the processor.
func TestScanOnDevice(t *testing.T) {
	emulated(t)
	outs, in := lstm(6, 3, 4, 5)
	w := in[2]
	outs = append(outs, ad.HVP(outs[0], []*ad.Node{w}, []*ad.Node{ad.Sin(w)})...)
	rng := rand.New(rand.NewPCG(8, 1))
	var values [][]float64
	for _, x := range in {
		v := make([]float64, x.Size())
		for i := range v {
			v[i] = 0.4 * rng.NormFloat64()
		}
		values = append(values, v)
	}
	agree(t, outs, in, values, 64, 1e-11, func(int) string { return "lstm" })
	agree(t, outs, in, values, 32, 1e-4, func(int) string { return "lstm" })
	p, err := ad.Compile(outs, ad.Settings{Inputs: in, Backend: ad.CUDA{Strict: true}})
	if err != nil {
		t.Fatal(err)
	}
	if hosted := p.OnProcessor(); len(hosted) > 0 {
		t.Errorf("on the processor: %v", hosted)
	}
	x, a, b := ad.Input("x"), ad.Input("a"), ad.Input("b")
	y, n := halve(x, a, b, 20)
	agree(t, []*ad.Node{y, n, ad.Grad(y, a)[0]}, []*ad.Node{x, a, b}, [][]float64{{10}, {0.5}, {1}}, 64, 1e-12, func(int) string { return "while" })
	last, _ := ad.Scan(func(c, _ []*ad.Node) (next, ys []*ad.Node) { return c, nil }, []*ad.Node{x}, nil, 0, ad.ScanSettings{})
	agree(t, []*ad.Node{ad.Exp(last[0])}, []*ad.Node{x}, [][]float64{{1}}, 64, 1e-14, func(int) string { return "no step" })
}

// A step that cannot be done on the device says which one, and the next run is right.
func TestScanFaultOnDevice(t *testing.T) {
	emulated(t)
	x := ad.Input("x", 3, 2, 2)
	_, ys := ad.Scan(func(_, x []*ad.Node) (next, y []*ad.Node) { return nil, []*ad.Node{ad.Cholesky(x[0])} }, nil, []*ad.Node{x}, 3, ad.ScanSettings{})
	p, err := ad.Compile(ys, ad.Settings{Backend: ad.CUDA{Strict: true}})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	good, bad := []float64{4, 0, 0, 4, 9, 0, 0, 9, 1, 0, 0, 1}, []float64{4, 0, 0, 4, 1, 2, 2, 1, 1, 0, 0, 1}
	for range 3 {
		if err := s.SetInput(0, bad); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(); err == nil || !strings.Contains(err.Error(), "step 1 of 3") {
			t.Error(err)
		}
		if err := s.SetInput(0, good); err != nil {
			t.Fatal(err)
		}
		if err := s.Run(); err != nil {
			t.Fatal(err)
		}
		if got := s.OutputFloat64(0); !slices.Equal(got, []float64{2, 0, 0, 2, 3, 0, 0, 3, 1, 0, 0, 1}) {
			t.Error(got)
		}
	}
}
