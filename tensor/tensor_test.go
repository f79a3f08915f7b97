// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

func must(t tester, x *tensor.Tensor, err error) *tensor.Tensor {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// tester is what testing.T and rapid.T share.
type tester interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
	Errorf(format string, args ...any)
}

// count is the array 0, 1, 2, ... of a shape.
func count(shape ...int) *tensor.Tensor {
	data := make([]float64, tensor.Shape(shape).Size())
	for i := range data {
		data[i] = float64(i)
	}
	x, err := tensor.From(data)
	if err == nil {
		x, err = x.Reshape(shape...)
	}
	if err != nil {
		panic(err)
	}
	return x
}

var dtypes = []tensor.DType{tensor.Float64, tensor.Float32, tensor.Int64, tensor.Int32, tensor.Bool, tensor.Complex128, tensor.Complex64}

func TestFrom(t *testing.T) {
	for _, c := range []struct {
		data  any
		shape []int
		want  string
	}{
		{[]float64{1, 2}, nil, "[1 2] float64[2]"},
		{[]float64{1}, nil, "[1] float64[1]"},
		{[]float64{}, nil, "[] float64[0]"},
		{[]int{1, -2}, nil, "[1 -2] int64[2]"},
		{[]int32{1, 2, 3, 4}, []int{2, 2}, "[[1 2]\n [3 4]] int32[2 2]"},
		{[]bool{true}, []int{1, 1}, "[[true]] bool[1 1]"},
		{[]complex64{2i}, nil, "[(0+2i)] complex64[1]"},
		{[]float32{}, []int{2, 0}, "[[]\n []] float32[2 0]"},
	} {
		x, err := tensor.From(c.data, c.shape...)
		if err != nil || x.String() != c.want {
			t.Errorf("From(%v, %v) = %v, %v, want %s", c.data, c.shape, x, err, c.want)
		}
	}
	var shape *tensor.ShapeError
	for _, s := range [][]int{{3}, {2, 2}, {-1, -2}, {1 << 32, 1 << 32}, {0}} {
		if _, err := tensor.From([]float64{1, 2}, s...); !errors.As(err, &shape) {
			t.Errorf("two elements of shape %v: error %v", s, err)
		}
	}
	if _, err := tensor.From([]float64{}, 1<<32, 1<<32); err == nil {
		t.Error("a shape whose size overflows to 0 was taken")
	}
	if _, err := tensor.From("text"); err == nil || !strings.Contains(err.Error(), "string") {
		t.Errorf("text: error %v", err)
	}
}

func TestScalar(t *testing.T) {
	for _, v := range []any{1.5, float32(2), int64(3), 4, int32(5), true, 1 + 2i, complex64(3i)} {
		x, err := tensor.Scalar(v)
		if err != nil || len(x.Shape()) != 0 || x.Size() != 1 {
			t.Fatalf("Scalar(%v) = %v, %v", v, x, err)
		}
		if i, ok := v.(int); ok {
			v = int64(i)
		}
		if x.At() != v {
			t.Errorf("Scalar(%v) holds %v", v, x.At())
		}
	}
	if _, err := tensor.Scalar("1"); err == nil {
		t.Error("text was taken for a number")
	}
}

func TestDTypes(t *testing.T) {
	for _, d := range dtypes {
		x := tensor.New(d, 2, 3)
		if x.DType() != d || x.Size() != 6 || reflect.TypeOf(x.At(0, 0)).String() != d.String() {
			t.Errorf("%v: %v", d, x)
		}
		if got := int(reflect.TypeOf(x.At(0, 0)).Size()); got != d.Bytes() {
			t.Errorf("%v has %d bytes, not %d", d, got, d.Bytes())
		}
	}
	if s := tensor.DType(99).String(); s != "DType(99)" {
		t.Error(s)
	}
}

func TestConvert(t *testing.T) {
	big := int64(1)<<62 + 1
	for _, c := range []struct {
		data any
		to   tensor.DType
		want any
	}{
		{[]float64{1.9, -1.9, math.NaN(), 1e300, math.Inf(-1)}, tensor.Int64, []int64{1, -1, 0, math.MaxInt64, math.MinInt64}},
		{[]float64{1e10, -1e10, 7}, tensor.Int32, []int32{math.MaxInt32, math.MinInt32, 7}},
		{[]int64{big, math.MinInt64}, tensor.Int32, []int32{math.MaxInt32, math.MinInt32}},
		{[]int64{1<<24 + 1, 1<<54 + 1<<30 + 1}, tensor.Float32, []float32{1 << 24, 1<<54 + 1<<31}},
		{[]int32{5, 0}, tensor.Int64, []int64{5, 0}},
		{[]int64{big, 0}, tensor.Bool, []bool{true, false}},
		{[]float64{0.5, 0, math.NaN()}, tensor.Bool, []bool{true, false, true}},
		{[]bool{true, false}, tensor.Complex64, []complex64{1, 0}},
		{[]complex128{3 + 4i}, tensor.Float64, []float64{3}},
		{[]complex128{3 + 4i}, tensor.Complex64, []complex64{3 + 4i}},
		{[]complex64{1i}, tensor.Bool, []bool{true}},
	} {
		x, err := tensor.From(c.data)
		if err != nil {
			t.Fatal(err)
		}
		if got := x.Convert(c.to).Data(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%v as %v is %v, want %v", x, c.to, got, c.want)
		}
	}
	x := count(3)
	if x.Convert(tensor.Float64) != x {
		t.Error("converted to the type it has")
	}
	if &x.Float64s()[0] != &x.Data().([]float64)[0] {
		t.Error("Float64s copied")
	}
}

func TestPanics(t *testing.T) {
	x := count(2, 3)
	for name, f := range map[string]func(){
		"negative length":    func() { tensor.New(tensor.Float64, -1) },
		"overflowing length": func() { tensor.New(tensor.Float64, 1<<40, 1<<40) },
		"outside":            func() { x.At(2, 0) },
		"negative index":     func() { x.At(0, -1) },
		"too few indices":    func() { x.At(0) },
		"step 0":             func() { x.Slice(0, 0, 1, 0) },
		"slice outside":      func() { x.Slice(1, 0, 4, 1) },
		"slice below":        func() { x.Slice(1, -1, 2, 1) },
		"axis":               func() { x.Slice(2, 0, 1, 1) },
		"index":              func() { x.Index(0, 2) },
		"permutation":        func() { x.Permute(0, 0) },
		"nothing as Dense":   func() { count(0, 2).Dense() },
		"long permutation":   func() { x.Permute(0, 1, 2) },
	} {
		func() {
			defer func() {
				if r := recover(); r == nil || !strings.HasPrefix(r.(string), "tensor: ") {
					t.Errorf("%s: recovered %v", name, r)
				}
			}()
			f()
		}()
	}
}

func TestStringGolden(t *testing.T) {
	for _, c := range []struct {
		x    *tensor.Tensor
		want string
	}{
		{count(), "0 float64[]"},
		{count(0), "[] float64[0]"},
		{count(2, 3), "[[0 1 2]\n [3 4 5]] float64[2 3]"},
		{count(2, 1, 2), "[[[0 1]]\n [[2 3]]] float64[2 1 2]"},
		{count(2, 2, 2), "[[[0 1]\n  [2 3]]\n [[4 5]\n  [6 7]]] float64[2 2 2]"},
		{count(1001), "[0 1 2 ... 998 999 1000] float64[1001]"},
		{count(1000).Slice(0, 0, 3, 1), "[0 1 2] float64[3]"},
		{count(2, 600), "[[0 1 2 ... 597 598 599]\n [600 601 602 ... 1197 1198 1199]] float64[2 600]"},
		{count(600, 2), "[[0 1]\n [2 3]\n [4 5]\n ...\n [1194 1195]\n [1196 1197]\n [1198 1199]] float64[600 2]"},
	} {
		if got := c.x.String(); got != c.want {
			t.Errorf("got %s\nwant %s", got, c.want)
		}
	}
	x, _ := tensor.From([]float64{1e-7, 1.0 / 3, math.NaN(), math.Inf(-1), 123456789})
	if got := x.String(); got != "[1e-07 0.333333 NaN -Inf 1.23457e+08] float64[5]" {
		t.Error(got)
	}
}
