// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"

	bridge "github.com/euryale-dev/euryale/autodiff/gorgonia"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// Numbers, arrays of one element and single rows and columns.
func TestSmallArrays(t *testing.T) { checkSmallArrays(t, engine(t)) }

func checkSmallArrays(t *testing.T, e *Engine) {
	for name, host := range map[string]*gt.Dense{
		"number": gt.New(gt.FromScalar(2.5)), "vector": gt.New(gt.WithShape(1), gt.WithBacking([]float64{2.5})), "matrix": gt.New(gt.WithShape(1, 1), gt.WithBacking([]float64{2.5})),
		"row": random(gt.Float64, 1, 2, 1, 5), "column": random(gt.Float64, 1, 2, 5, 1),
	} {
		x := to(t, e, host)
		if !x.IsManuallyManaged() || x.IsNativelyAccessible() || !x.Shape().Eq(host.Shape()) {
			t.Errorf("%s: shape %v on the device, %v before", name, x.Shape(), host.Shape())
		}
		agree(t, e, name, x, nil, host, nil, 0)
		want, wantErr := gt.Exp(host)
		got, err := gt.Exp(x)
		agree(t, e, "Exp of a "+name, got, err, want, wantErr, 1e-14)
		want, wantErr = gt.Sum(host)
		got, err = gt.Sum(x)
		agree(t, e, "Sum of a "+name, got, err, want, wantErr, 1e-14)
		want, wantErr = gt.Add(host, 2.0)
		got, err = gt.Add(x, 2.0)
		agree(t, e, "2 more than a "+name, got, err, want, wantErr, 1e-14)
		if host.Dims() == 2 {
			turned := random(gt.Float64, 1, 2, host.Shape()[1], 3)
			want, wantErr = gt.MatMul(host, turned)
			got, err = gt.MatMul(x, to(t, e, turned))
			agree(t, e, "MatMul of a "+name, got, err, want, wantErr, 1e-14)
		}
	}
	number := gt.New(gt.FromScalar(2.5))
	x := random(gt.Float64, 1, 2, 3, 4)
	want, wantErr := gt.Mul(x, number)
	got, err := gt.Mul(to(t, e, x), to(t, e, number))
	agree(t, e, "an array and a number of the device", got, err, want, wantErr, 1e-15)
	if _, err := e.ToDevice(gt.New(gt.Of(gt.Float64), gt.WithShape(0, 3))); err == nil || !strings.Contains(err.Error(), "no elements") {
		t.Errorf("an array without elements: %v", err)
	}
}

// Where Gorgonia returns an error for arrays of its own, those of the device give one too, and nothing
// that it cannot do there crashes.
func TestErrors(t *testing.T) { checkErrors(t, engine(t)) }

func checkErrors(t *testing.T, e *Engine) {
	for name, f := range map[string]func(x, v, narrow *gt.Dense) error{
		"MatMul of other shapes":    func(x, _, _ *gt.Dense) error { _, err := gt.MatMul(x, x); return err },
		"MatVecMul of other shapes": func(x, _, _ *gt.Dense) error { _, err := gt.MatVecMul(x, x); return err },
		"Dot of other shapes":       func(x, _, _ *gt.Dense) error { _, err := gt.Dot(x, x); return err },
		"Add of other shapes":       func(x, v, _ *gt.Dense) error { _, err := gt.Add(x, v); return err },
		"Mul of other types":        func(x, _, n *gt.Dense) error { _, err := gt.Mul(x, n); return err },
		"Lt of other types":         func(x, _, n *gt.Dense) error { _, err := gt.Lt(x, n); return err },
		"a result of another size":  func(x, v, _ *gt.Dense) error { _, err := gt.Add(x, x, gt.WithReuse(v)); return err },
		"a result of another type":  func(x, _, n *gt.Dense) error { _, err := gt.Add(x, x, gt.WithReuse(n)); return err },
		"Argmax along no axis":      func(x, _, _ *gt.Dense) error { _, err := gt.Argmax(x, 2); return err },
		"Max along no axis":         func(x, _, _ *gt.Dense) error { _, err := x.Max(2); return err },
		"Inner of matrices":         func(x, _, _ *gt.Dense) error { _, err := gt.Inner(x, x); return err },
		"Reshape to another size":   func(x, _, _ *gt.Dense) error { return x.Reshape(5, 5) },
		"Trace of a vector":         func(_, v, _ *gt.Dense) error { _, err := v.Trace(); return err },
		"axes that are not there":   func(x, _, _ *gt.Dense) error { _, err := gt.Transpose(x, 0, 2); return err },
	} {
		x, v, narrow := random(gt.Float64, 0, 1, 3, 4), random(gt.Float64, 0, 1, 4), random(gt.Float32, 0, 1, 3, 4)
		if err := f(x, v, narrow); err == nil {
			t.Errorf("%s: Gorgonia returns no error", name)
		}
		if err := f(to(t, e, x), to(t, e, v), to(t, e, narrow)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	x := to(t, e, random(gt.Float64, 0, 1, 3, 4))
	for name, f := range map[string]func() error{
		"Concat":  func() error { _, err := gt.Concat(0, x, x); return err },
		"Stack":   func() error { _, err := gt.Stack(0, x, x); return err },
		"Repeat":  func() error { _, err := gt.Repeat(x, 0, 2); return err },
		"Diag":    func() error { _, err := gt.Diag(x); return err },
		"SoftMax": func() error { _, err := gt.SoftMax(x, 1); return err },
		"Apply":   func() error { _, err := x.Apply(func(v float64) float64 { return v }); return err },
		"Reduce":  func() error { _, err := x.Reduce(func(a, b float64) float64 { return a }, 0, 0.0); return err },
		"SVD":     func() error { _, _, _, err := x.SVD(false, false); return err },
		"ByIndices": func() error {
			_, err := gt.ByIndices(x, gt.New(gt.WithBacking([]int{1})), 0)
			return err
		},
		"SetAt":  func() error { return x.SetAt(1.0, 0, 0) },
		"Memset": func() error { return x.Memset(1.0) },
		"Exp of integers": func() error {
			_, err := gt.Square(to(t, e, gt.New(gt.WithBacking([]int{1, 2}))))
			return err
		},
		"Relu of an array of the host": func() error { _, err := Relu(random(gt.Float64, 0, 1, 3)); return err },
	} {
		if err := f(); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Without memory there is an error with numbers, what is there stays, and forgotten arrays make room.
func TestOutOfMemory(t *testing.T) {
	lib := pretend.LookPath(t)
	lib.Set("memory", 64<<20)
	defer lib.Set("memory", 1<<30)
	d, err := cuda.Open(1, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	e := New(d)
	host := random(gt.Float64, 0, 1, 1<<20)
	x := to(t, e, host)
	var kept []gt.Tensor
	for range 20 {
		y, failed := gt.Add(x, x)
		if err = failed; err != nil {
			break
		}
		kept = append(kept, y)
	}
	var full *cuda.OutOfMemoryError
	if !errors.As(err, &full) || full.Requested != 8<<20 || !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Fatalf("%d arrays of 8 MiB in 64 MiB, then %v", len(kept), err)
	}
	square := x.ShallowClone()
	if err := square.Reshape(1<<10, 1<<10); err != nil {
		t.Fatal(err)
	}
	if _, err := gt.Dot(square, square); !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("Dot: %v", err)
	}
	if _, err := e.ToDevice(host); !errors.Is(err, cuda.ErrOutOfMemory) {
		t.Errorf("ToDevice: %v", err)
	}
	agree(t, e, "an array from before", x, nil, host, nil, 0)
	runtime.KeepAlive(kept)
	kept = nil
	for range 3 { // Gorgonia's pool may hold one for a while
		if _, err = gt.Neg(x); err == nil {
			break
		}
	}
	if err != nil {
		t.Errorf("after the arrays were forgotten: %v", err)
	}
}

// Arrays of one engine may be used by several goroutines.
func TestGoroutines(t *testing.T) { checkGoroutines(t, engine(t)) }

func checkGoroutines(t *testing.T, e *Engine) {
	x, y := random(gt.Float64, 0, 1, 40, 30), random(gt.Float64, 0, 1, 30, 20)
	dx, dy := to(t, e, x), to(t, e, y)
	want, err := gt.MatMul(x, y)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for k := range 4 {
		all.Go(func() {
			for range 5 {
				got, err := gt.MatMul(dx, dy)
				agree(t, e, fmt.Sprint("goroutine ", k), got, err, want, nil, 1e-13)
			}
		})
	}
	all.Wait()
}

// A graph of Gorgonia whose value is in the memory of a device is refused in every run: no code of this
// module reads the address.
func TestGraphsRefuseArrays(t *testing.T) {
	e := engine(t)
	g := G.NewGraph()
	x := G.NewMatrix(g, G.Float64, G.WithName("x"), G.WithShape(80, 80))
	w := G.NewScalar(g, G.Float64, G.WithName("w"), G.WithValue(2.0))
	vm, err := bridge.NewTrainer(G.Must(G.Sum(G.Must(G.Mul(x, w)))), w)
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	host := random(gt.Float64, 0, 1, 80, 80)
	onDevice := to(t, e, host)
	for range 3 {
		if err := errors.Join(G.Let(x, host), vm.RunAll()); err != nil {
			t.Fatal(err)
		}
		for range 3 { // the second run of an array would read it where it lies
			if err := G.Let(x, onDevice); err != nil {
				t.Fatal(err)
			}
			if err := vm.RunAll(); err == nil || !strings.Contains(err.Error(), "memory of a device") {
				t.Fatalf("a value of the device: %v", err)
			}
		}
	}
}
