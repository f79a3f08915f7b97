// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"errors"
	"hash"
	"strings"
	"testing"

	"github.com/chewxy/hm"
	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
)

// doubler is an operation of a user without a gradient.
type doubler struct{}

func (doubler) Arity() int                                    { return 1 }
func (doubler) Type() hm.Type                                 { a := hm.TypeVariable('a'); return hm.NewFnType(a, a) }
func (doubler) InferShape(in ...G.DimSizer) (gt.Shape, error) { return in[0].(gt.Shape), nil }
func (doubler) ReturnsPtr() bool                              { return true }
func (doubler) CallsExtern() bool                             { return false }
func (doubler) OverwritesInput() int                          { return -1 }
func (doubler) WriteHash(h hash.Hash)                         { h.Write([]byte("doubler")) }
func (doubler) Hashcode() uint32                              { return 12345 }
func (doubler) String() string                                { return "double" }
func (doubler) Do(in ...G.Value) (G.Value, error)             { return gt.Mul(in[0], 2.0) }

func TestUnknownOperation(t *testing.T) {
	x := vector(G.NewGraph(), "x", 1, 2, 3)
	y := must(G.ApplyOp(doubler{}, must(G.Exp(x))))
	vm, err := bridge.NewMachine(y)
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	near(t, "value", 1e-14, data(y.Value()), []float64{5.43656365691809, 14.778112197861301, 40.171073846375336})
	_, err = bridge.NewTrainer(must(G.Sum(y)), x)
	if !errors.Is(err, ad.ErrNoGradient) || !strings.Contains(err.Error(), "doubler") {
		t.Errorf("its gradient: %v", err)
	}
}

// meddler doubles its argument where it lies, or panics.
type meddler struct {
	doubler
	panics bool
}

func (m meddler) WriteHash(h hash.Hash) { h.Write([]byte("meddler")) }
func (m meddler) Hashcode() uint32      { return 54321 }
func (m meddler) Do(in ...G.Value) (G.Value, error) {
	if m.panics {
		panic("out of order")
	}
	return gt.Mul(in[0], 2.0, gt.UseUnsafe())
}

// What an operation does to its arguments stays with it; its panic is an error.
func TestMeddlingOperation(t *testing.T) {
	x := vector(G.NewGraph(), "x", 1, 2, 3)
	inner := must(G.Square(x))
	y := must(G.ApplyOp(meddler{}, inner))
	v := here(t, y, inner)
	near(t, "twice", 0, v[0], []float64{2, 8, 18})
	near(t, "its argument", 0, v[1], []float64{1, 4, 9})

	x = vector(G.NewGraph(), "x", 1, 2, 3)
	vm, err := bridge.NewMachine(must(G.ApplyOp(meddler{panics: true}, x)))
	if err != nil {
		t.Fatal(err)
	}
	if err := vm.RunAll(); err == nil || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("error %v, want what it panicked with", err)
	}
}

// YOLOv3 has no gradient in Gorgonia, and is refused one here.
func TestNoGradientOfYOLO(t *testing.T) {
	s := newSketch(1, gt.Float32)
	x := s.input(1, 12, 2, 2)
	y := must(G.YOLOv3(x, []float32{10, 13, 16, 30}, []int{0, 1}, 32, 1, 0.7))
	_, err := bridge.NewTrainer(must(G.Sum(y)), x)
	if !errors.Is(err, ad.ErrNoGradient) || !strings.Contains(err.Error(), "yolo") {
		t.Errorf("error %v, want %v of YOLO", err, ad.ErrNoGradient)
	}
}

// Steps of Gorgonia run one after the other. That is no dependence: a random node
// behind another step has nothing to differentiate.
func TestGradientPastARandomNode(t *testing.T) {
	g := G.NewGraph()
	x := tensorInput(g, []int{3, 2})
	scale := G.NewMatrix(g, G.Float64, G.WithName("scale"), G.WithShape(1, 2), G.WithInit(G.Ones()))
	bias := G.NewMatrix(g, G.Float64, G.WithName("bias"), G.WithShape(1, 2), G.WithInit(G.Zeroes()))
	y, _, _, _, err := G.BatchNorm(x, scale, bias, 0.9, 0.1)
	cost := must(G.Sum(must(G.HadamardProd(must(G.Square(must(y, err))), G.GaussianRandomNode(g, G.Float64, 2, 0, 3, 2)))))
	f, at := trained(t, cost, x), append([]float64(nil), data(x.Value())...)
	_, grad := f(at)
	near(t, "gradient", 1e-8, grad, differences(f, at))
}

// Random nodes draw anew at each run.
func TestRandomNode(t *testing.T) {
	g := G.NewGraph()
	noise := G.GaussianRandomNode(g, gt.Float64, 0, 1, 4)
	y := must(G.Add(vector(g, "x", 1, 2, 3, 4), noise))
	vm, err := bridge.NewMachine(y)
	if err != nil {
		t.Fatal(err)
	}
	var seen [2]float64
	for i := range seen {
		if err := vm.RunAll(); err != nil {
			t.Fatal(err)
		}
		seen[i] = data(y.Value())[0]
	}
	if seen[0] == seen[1] {
		t.Errorf("the same draw twice: %v", seen)
	}
}
