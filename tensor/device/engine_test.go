// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package device

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	gt "gorgonia.org/tensor"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/pretend"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// engine returns one on the pretend device.
func engine(t *testing.T) *Engine {
	t.Helper()
	lib := pretend.Shared(t)
	lib.Set("mode", pretend.Random) // work waits until it is needed, and runs in any legal order
	lib.Set("order", pretend.Shuffled)
	d, err := cuda.Open(0, cuda.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		lib.Set("mode", pretend.Eager)
		lib.Set("order", pretend.Ascending)
		d.Close()
	})
	return New(d)
}

// random returns an array on the host with elements between lo and hi.
func random(dtype gt.Dtype, lo, hi float64, shape ...int) *gt.Dense {
	r := rand.New(rand.NewPCG(uint64(len(shape)), uint64(shape[0])))
	n := gt.Shape(shape).TotalSize()
	if dtype == gt.Float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(lo + (hi-lo)*r.Float64())
		}
		return gt.New(gt.WithShape(shape...), gt.WithBacking(v))
	}
	v := make([]float64, n)
	for i := range v {
		v[i] = lo + (hi-lo)*r.Float64()
	}
	return gt.New(gt.WithShape(shape...), gt.WithBacking(v))
}

// to copies an array to the device.
func to(t *testing.T, e *Engine, x *gt.Dense) *gt.Dense {
	t.Helper()
	y, err := e.ToDevice(x)
	if err != nil {
		t.Fatal(err)
	}
	return y
}

// elements returns the elements in row-major order, wherever the array is.
func elements(t *testing.T, e *Engine, x gt.Tensor) []float64 {
	t.Helper()
	d := x.(*gt.Dense)
	if !d.IsNativelyAccessible() {
		var err error
		if d, err = e.ToHost(d); err != nil {
			t.Fatal(err)
		}
	}
	all, err := tensor.FromDense(d)
	if err != nil {
		t.Fatal(err)
	}
	return all.Float64s()
}

// agree compares a result of the device with one of Gorgonia's own engine.
func agree(t *testing.T, e *Engine, what string, got gt.Tensor, err error, want gt.Tensor, wantErr error, tolerance float64) {
	t.Helper()
	if err != nil || wantErr != nil {
		t.Errorf("%s: %v; Gorgonia: %v", what, err, wantErr)
		return
	}
	if !got.Shape().Eq(want.Shape()) || got.Dtype() != want.Dtype() {
		t.Errorf("%s: shape %v of %v, want %v of %v", what, got.Shape(), got.Dtype(), want.Shape(), want.Dtype())
		return
	}
	a, b := elements(t, e, got), elements(t, e, want)
	for i := range b {
		if math.Abs(a[i]-b[i]) > tolerance*max(1, math.Abs(b[i])) && !(math.IsNaN(a[i]) && math.IsNaN(b[i])) {
			t.Errorf("%s: element %d is %v, want %v", what, i, a[i], b[i])
			return
		}
	}
}

var precisions = map[gt.Dtype]float64{gt.Float32: 3e-6, gt.Float64: 1e-13}

// Every map, called through Gorgonia's functions, gives the numbers of its own engine.
func TestMaps(t *testing.T) { checkMaps(t, engine(t)) }

func checkMaps(t *testing.T, e *Engine) {
	type one func(gt.Tensor, ...gt.FuncOpt) (gt.Tensor, error)
	type two func(a, b interface{}, opts ...gt.FuncOpt) (gt.Tensor, error)
	for dtype, tolerance := range precisions {
		x, y := random(dtype, 0.1, 3, 5, 7), random(dtype, 0.2, 2, 5, 7)
		dx, dy := to(t, e, x), to(t, e, y)
		for name, f := range map[string]one{"Neg": gt.Neg, "Inv": gt.Inv, "Square": gt.Square, "Cube": gt.Cube, "Exp": gt.Exp, "Tanh": gt.Tanh, "Log": gt.Log, "Log2": gt.Log2,
			"Log10": gt.Log10, "Sqrt": gt.Sqrt, "Cbrt": gt.Cbrt, "InvSqrt": gt.InvSqrt, "Sign": gt.Sign, "Abs": gt.Abs} {
			want, wantErr := f(x)
			got, err := f(dx)
			agree(t, e, fmt.Sprint(name, dtype), got, err, want, wantErr, tolerance)
		}
		third := any(1.0 / 3)
		if dtype == gt.Float32 {
			third = float32(1.0 / 3)
		}
		for name, f := range map[string]two{"Add": gt.Add, "Sub": gt.Sub, "Mul": gt.Mul, "Div": gt.Div, "Pow": gt.Pow, "Mod": gt.Mod,
			"Lt": gt.Lt, "Lte": gt.Lte, "Gt": gt.Gt, "Gte": gt.Gte, "ElEq": gt.ElEq, "ElNe": gt.ElNe} {
			comparison := strings.ContainsAny(name, "LGE")
			for variant, args := range map[string][4]any{"": {x, y, dx, dy}, " with a number": {x, third, dx, third}, " of a number": {third, x, third, dx}} {
				want, wantErr := f(args[0], args[1])
				got, err := f(args[2], args[3])
				agree(t, e, fmt.Sprint(name, variant, dtype), got, err, want, wantErr, tolerance)
				if comparison {
					want, wantErr = f(args[0], args[1], gt.AsSameType())
					got, err = f(args[2], args[3], gt.AsSameType())
					agree(t, e, fmt.Sprint(name, variant, " as numbers", dtype), got, err, want, wantErr, 0)
				}
			}
		}
		for name, f := range map[string]two{"MinBetween": gt.MinBetween, "MaxBetween": gt.MaxBetween} {
			want, wantErr := f(x, y)
			got, err := f(dx, dy)
			agree(t, e, fmt.Sprint(name, dtype), got, err, want, wantErr, 0)
		}
		least, most := any(0.5), any(1.5)
		if dtype == gt.Float32 {
			least, most = float32(0.5), float32(1.5)
		}
		want, wantErr := gt.Clamp(x, least, most)
		got, err := gt.Clamp(dx, least, most)
		agree(t, e, fmt.Sprint("Clamp", dtype), got, err, want, wantErr, 0)
		want, wantErr = gt.FMA(x, y, x)
		got, err = gt.FMA(dx, dy, dx)
		agree(t, e, fmt.Sprint("FMA", dtype), got, err, want, wantErr, tolerance)
		shifted, _ := gt.Sub(x, least)
		onDevice := to(t, e, shifted.(*gt.Dense))
		for name, f := range map[string]struct {
			device one
			host   func(float64) float64
		}{"Relu": {Relu, func(x float64) float64 { return max(x, 0) }}, "Sigmoid": {Sigmoid, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }}} {
			want := shifted.Clone().(*gt.Dense)
			for i, v := range elements(t, e, shifted) {
				if dtype == gt.Float32 {
					want.Set(i, float32(f.host(v)))
				} else {
					want.Set(i, f.host(v))
				}
			}
			got, err := f.device(onDevice)
			agree(t, e, fmt.Sprint(name, dtype), got, err, want, nil, tolerance)
		}
	}
}

// The results of Gorgonia's options: into another tensor, onto one, and in place.
func TestOptions(t *testing.T) { checkOptions(t, engine(t)) }

func checkOptions(t *testing.T, e *Engine) {
	x, y, z := random(gt.Float64, 0, 1, 6, 3), random(gt.Float64, 0, 1, 6, 3), random(gt.Float64, 0, 1, 6, 3)
	for name, option := range map[string]func(*gt.Dense) gt.FuncOpt{"reuse": func(d *gt.Dense) gt.FuncOpt { return gt.WithReuse(d) }, "incr": func(d *gt.Dense) gt.FuncOpt { return gt.WithIncr(d) }} {
		into, onDevice := z.Clone().(*gt.Dense), to(t, e, z)
		want, wantErr := gt.Mul(x, y, option(into))
		got, err := gt.Mul(to(t, e, x), to(t, e, y), option(onDevice))
		agree(t, e, name, got, err, want, wantErr, 1e-15)
		if got != gt.Tensor(onDevice) {
			t.Errorf("%s: the result is another tensor", name)
		}
	}
	dx := to(t, e, x)
	got, err := gt.Add(dx, to(t, e, y), gt.UseUnsafe())
	want, wantErr := gt.Add(x, y)
	agree(t, e, "in place", got, err, want, wantErr, 1e-15)
	agree(t, e, "what was overwritten", dx, nil, want, nil, 1e-15)
	// Onto a product of matrices: 20 times, which uses the same memory again.
	a, b, c := random(gt.Float64, 0, 1, 4, 5), random(gt.Float64, 0, 1, 5, 3), random(gt.Float64, 0, 1, 4, 3)
	da, db, dc := to(t, e, a), to(t, e, b), to(t, e, c)
	for range 20 {
		want, wantErr = gt.MatMul(a, b, gt.WithIncr(c))
		got, err = gt.MatMul(da, db, gt.WithIncr(dc))
	}
	agree(t, e, "MatMul onto", got, err, want, wantErr, 1e-12)
	runtime.KeepAlive(dx)
}

// Sums, extrema and their places along every axis, and of everything.
func TestReductions(t *testing.T) { checkReductions(t, engine(t)) }

func checkReductions(t *testing.T, e *Engine) {
	for dtype, tolerance := range precisions {
		x := random(dtype, -1, 1, 4, 5, 6)
		dx := to(t, e, x)
		for _, along := range [][]int{nil, {0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}} {
			want, wantErr := gt.Sum(x, along...)
			got, err := gt.Sum(dx, along...)
			agree(t, e, fmt.Sprint("Sum ", along, dtype), got, err, want, wantErr, tolerance)
			if len(along) > 1 {
				continue
			}
			want, wantErr = x.Max(along...)
			got, err = dx.Max(along...)
			agree(t, e, fmt.Sprint("Max ", along, dtype), got, err, want, wantErr, 0)
			want, wantErr = x.Min(along...)
			got, err = dx.Min(along...)
			agree(t, e, fmt.Sprint("Min ", along, dtype), got, err, want, wantErr, 0)
		}
		for _, axis := range []int{gt.AllAxes, 0, 1, 2} {
			want, wantErr := gt.Argmax(x, axis)
			got, err := gt.Argmax(dx, axis)
			agree(t, e, fmt.Sprint("Argmax ", axis, dtype), got, err, want, wantErr, 0)
			want, wantErr = gt.Argmin(x, axis)
			got, err = gt.Argmin(dx, axis)
			agree(t, e, fmt.Sprint("Argmin ", axis, dtype), got, err, want, wantErr, 0)
		}
	}
	// Long enough to be cut into pieces, along both kinds of axes, with NaN and ties.
	x := random(gt.Float64, -1, 1, 20001, 2)
	x.Set(30000, math.NaN())
	dx := to(t, e, x)
	column, err := gt.Sum(dx, 0)
	want, wantErr := gt.Sum(x, 0)
	agree(t, e, "long columns", column, err, want, wantErr, 1e-12)
	place, err := gt.Argmax(dx, gt.AllAxes)
	if err != nil || place.Data() != 30000 {
		t.Errorf("NaN is not the largest: %v, %v", place, err)
	}
	same, _ := gt.Sub(x, x, gt.UseUnsafe())
	if place, err = gt.Argmin(to(t, e, same.(*gt.Dense)), gt.AllAxes); err != nil || place.Data() != 30000 {
		t.Errorf("the first NaN: %v, %v", place, err)
	}
	product, err := e.Prod(to(t, e, gt.New(gt.WithBacking([]float32{2, 3, 4}))))
	if err != nil || product.Data() != float32(24) {
		t.Errorf("product %v, %v", product, err)
	}
}

// Products of matrices and vectors in all layouts, and other functions of two arrays.
func TestProducts(t *testing.T) { checkProducts(t, engine(t)) }

func checkProducts(t *testing.T, e *Engine) {
	for dtype, tolerance := range precisions {
		a, b, v, w := random(dtype, -1, 1, 70, 33), random(dtype, -1, 1, 33, 81), random(dtype, -1, 1, 33), random(dtype, -1, 1, 70)
		da, db, dv, dw := to(t, e, a), to(t, e, b), to(t, e, v), to(t, e, w)
		tolerance *= 20
		want, wantErr := gt.MatMul(a, b)
		got, err := gt.MatMul(da, db)
		agree(t, e, fmt.Sprint("MatMul", dtype), got, err, want, wantErr, tolerance)
		want, wantErr = gt.MatVecMul(a, v)
		got, err = gt.MatVecMul(da, dv)
		agree(t, e, fmt.Sprint("MatVecMul", dtype), got, err, want, wantErr, tolerance)
		for name, pair := range map[string][4]*gt.Dense{"matrices": {a, b, da, db}, "matrix and vector": {a, v, da, dv}, "vector and matrix": {w, a, dw, da}, "vectors": {v, v, dv, dv}} {
			want, wantErr = gt.Dot(pair[0], pair[1])
			got, err = gt.Dot(pair[2], pair[3])
			agree(t, e, fmt.Sprint("Dot of ", name, dtype), got, err, want, wantErr, tolerance)
		}
		inner, err := dv.Inner(dv)
		own, _ := v.Inner(v)
		if err != nil || math.Abs(asFloat(inner)-asFloat(own)) > tolerance*asFloat(own) {
			t.Errorf("Inner: %v, want %v: %v", inner, own, err)
		}
		trace, err := da.Trace()
		own, _ = a.Trace()
		if err != nil || math.Abs(asFloat(trace)-asFloat(own)) > tolerance*10 {
			t.Errorf("Trace: %v, want %v: %v", trace, own, err)
		}
	}
	cube, square := random(gt.Float64, -1, 1, 2, 3, 4), random(gt.Float64, -1, 1, 4, 5)
	want, wantErr := gt.Contract(cube, square, []int{2}, []int{0})
	got, err := gt.Contract(to(t, e, cube), to(t, e, square), []int{2}, []int{0})
	agree(t, e, "Contract", got, err, want, wantErr, 1e-13)
}

func asFloat(x any) float64 {
	if v, ok := x.(float32); ok {
		return float64(v)
	}
	return x.(float64)
}

// Transposed arrays and slices of every kind are read as what they show.
func TestLayouts(t *testing.T) { checkLayouts(t, engine(t)) }

func checkLayouts(t *testing.T, e *Engine) {
	x := random(gt.Float64, -1, 1, 6, 8)
	dx := to(t, e, x)
	want, wantErr := gt.Transpose(x)
	got, err := gt.Transpose(dx)
	agree(t, e, "Transpose", got, err, want, wantErr, 0)
	cube := random(gt.Float64, -1, 1, 2, 3, 4)
	want, wantErr = gt.Transpose(cube, 2, 0, 1)
	got, err = gt.Transpose(to(t, e, cube), 2, 0, 1)
	agree(t, e, "Transpose of three axes", got, err, want, wantErr, 0)
	for name, along := range map[string][]gt.Slice{"rows": {gt.S(1, 4)}, "columns": {nil, gt.S(2, 5)}, "row": {gt.S(3)}, "column": {nil, gt.S(1)}, "steps": {gt.S(0, 6, 2), gt.S(1, 7, 3)}} {
		v, err := x.Slice(along...)
		if err != nil {
			t.Fatal(err)
		}
		view, err := e.Slice(dx, along...)
		if err != nil {
			t.Fatal(err)
		}
		host := v.Materialize()
		agree(t, e, name, view, nil, host, nil, 0)
		agree(t, e, "Materialize "+name, view.Materialize(), nil, host, nil, 0)
		got, err := gt.Exp(view)
		want, wantErr := gt.Exp(host)
		agree(t, e, "Exp of "+name, got, err, want, wantErr, 1e-14)
		sum, err := gt.Sum(view)
		all, wantErr := gt.Sum(host)
		agree(t, e, "Sum of "+name, sum, err, all, wantErr, 1e-13)
	}
	// A view as the result, and as a factor, which is read where it lies.
	part, _ := e.Slice(dx, nil, gt.S(2, 5))
	if _, err := gt.Neg(part, gt.WithReuse(part)); err != nil {
		t.Fatal(err)
	}
	hostPart, _ := x.Slice(nil, gt.S(2, 5))
	negative, _ := gt.Neg(hostPart.Materialize())
	agree(t, e, "negative columns", part, nil, negative, nil, 0)
	rows := random(gt.Float64, -1, 1, 3, 4)
	want, wantErr = gt.MatMul(negative, rows)
	got, err = gt.MatMul(part, to(t, e, rows))
	agree(t, e, "product of a view", got, err, want, wantErr, 1e-13)
	turned := to(t, e, rows)
	if err := errors.Join(rows.T(), turned.T(), rows.Transpose()); err != nil {
		t.Fatal(err)
	}
	want, wantErr = gt.Add(rows, rows)
	got, err = gt.Add(turned, turned)
	agree(t, e, "sum of an array with exchanged axes", got, err, want, wantErr, 1e-15)
	factor := random(gt.Float64, -1, 1, 3, 5)
	want, wantErr = gt.MatMul(rows, factor)
	got, err = gt.MatMul(turned, to(t, e, factor))
	agree(t, e, "product with exchanged axes", got, err, want, wantErr, 1e-13)
	clone := dx.Clone().(*gt.Dense)
	agree(t, e, "Clone", clone, nil, dx, nil, 0)
}

// What is not in the device's memory, or no longer, is refused, and Go code is never given the address.
func TestRefusals(t *testing.T) {
	e := engine(t)
	host := random(gt.Float64, 0, 1, 3, 2)
	x := to(t, e, host)
	refused := func(what string, err error, text string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v, want %q", what, err, text)
		}
	}
	_, err := gt.Add(x, host)
	refused("an array of the host", err, "ccessible")
	_, err = e.Add(x, host)
	refused("an array of the host to the engine", err, "processor's memory")
	_, err = gt.Add(x, to(t, e, random(gt.Float64, 0, 1, 2, 3)))
	refused("another shape", err, "want equal shapes")
	_, err = gt.Add(x, float32(1))
	refused("a number of another type", err, "convert one of them")
	_, err = gt.Sum(x, 2)
	refused("an axis", err, "axis 2")
	_, err = x.At(0, 0)
	refused("At", err, "ccessible")
	_, err = tensor.FromDense(x)
	refused("tensor.FromDense", err, "memory of a device")
	refused("autodiff.FromDense", ad.FromDense(x).Err(), "device")
	if text := fmt.Sprint(x); !strings.Contains(text, "Inacces") {
		t.Errorf("it prints %s", text)
	}
	if err := errors.Join(e.Release(x), e.Release(x)); err != nil {
		t.Error(err)
	}
	_, err = gt.Exp(x)
	refused("a released array", err, "was released")
	_, err = e.ToHost(x)
	refused("a released array to the host", err, "was released")
	if !errors.Is(err, ErrNotHere) {
		t.Errorf("%v is not ErrNotHere", err)
	}
}

// The methods that Gorgonia calls for memory itself.
func TestMemory(t *testing.T) {
	e := engine(t)
	m, err := e.Alloc(64)
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Memset(m, 2.5); err != nil {
		t.Fatal(err)
	}
	copyOf, err := e.Accessible(m)
	if err != nil || copyOf.MemSize() != 64 {
		t.Fatal(err)
	}
	for _, b := range bytesAt(copyOf.Uintptr(), 64)[:8] {
		if want := math.Float64bits(2.5); b != byte(want) && b != byte(want>>56) && b != byte(want>>48) {
			t.Errorf("byte %x", b)
		}
	}
	if e.Memclr(m); e.Err() != nil {
		t.Error("Memclr failed")
	}
	n, err := e.Alloc(64)
	if err := errors.Join(err, e.Memcpy(n, copyOf), e.Memcpy(copyOf, m)); err != nil {
		t.Fatal(err)
	}
	for i, b := range bytesAt(copyOf.Uintptr(), 64) {
		if b != 0 {
			t.Errorf("byte %d is %d after Memclr", i, b)
		}
	}
	if err := errors.Join(e.Free(m, 64), e.Free(m, 64), e.Free(n, 64)); err != nil {
		t.Error(err)
	}
	if err := e.Memcpy(copyOf, m); !errors.Is(err, ErrNotHere) {
		t.Errorf("a copy from freed memory: %v", err)
	}
	if e.Memclr(m); e.Err() == nil || e.Err() != nil {
		t.Error("Memclr of freed memory is no error, or is one twice")
	}
	if e.AllocAccessible() || e.WorksWith(gt.ColMajor) || e.WorksWith(gt.NonContiguous) || !e.WorksWith(gt.DataOrder(0)) {
		t.Error("the engine describes itself wrongly")
	}
}

// Arrays that nobody refers to any more are freed.
func TestUnreachableArrays(t *testing.T) {
	e := engine(t)
	count := func() int {
		e.mu.Lock()
		defer e.mu.Unlock()
		return len(e.blocks)
	}
	x := to(t, e, random(gt.Float64, 0, 1, 100))
	before := count()
	for range 50 {
		if _, err := gt.Exp(x); err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		runtime.GC()
		runtime.Gosched()
		if e.drain(); count() <= before {
			break
		}
	}
	if n := count(); n > before+2 { // Gorgonia's pool may hold one
		t.Errorf("%d arrays, %d before", n, before)
	}
	if got := elements(t, e, x); len(got) != 100 {
		t.Error("the array that is in use was freed")
	}
	runtime.KeepAlive(x)
}
