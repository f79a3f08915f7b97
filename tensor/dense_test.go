// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor_test

import (
	"reflect"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
	gt "gorgonia.org/tensor"
)

func TestDenseSharesMemory(t *testing.T) {
	x := count(2, 3)
	for name, v := range map[string]*tensor.Tensor{"whole": x, "row": x.Index(0, 1), "rows": x.Slice(0, 1, 2, 1)} {
		d := v.Dense()
		if &d.Data().([]float64)[0] != &v.Data().([]float64)[0] || !tensor.Shape(d.Shape()).Equal(v.Shape()) {
			t.Errorf("%s: Dense %v of shape %v is a copy", name, d, d.Shape())
		}
		back := must2(tensor.FromDense(d))
		if &back.Data().([]float64)[0] != &v.Data().([]float64)[0] {
			t.Errorf("%s: FromDense copied", name)
		}
	}
	for name, v := range map[string]*tensor.Tensor{"column": x.Slice(1, 1, 2, 1), "transpose": x.Permute(), "backwards": x.Slice(0, 1, -1, -1)} {
		d := v.Dense()
		if !reflect.DeepEqual(d.Data(), v.Copy().Data()) || d.RequiresIterator() {
			t.Errorf("%s: Dense holds %v, want %v", name, d.Data(), v)
		}
		if &d.Data().([]float64)[0] == &x.Data().([]float64)[0] {
			t.Errorf("%s: Dense shares memory that is out of order", name)
		}
	}
}

func must2(x *tensor.Tensor, err error) *tensor.Tensor {
	if err != nil {
		panic(err)
	}
	return x
}

// What Gorgonia's own views show must arrive, whatever their strides.
func TestFromDenseViews(t *testing.T) {
	base := func() *gt.Dense { return gt.New(gt.WithShape(3, 4), gt.WithBacking(count(12).Float64s())) }
	slice := func(s ...gt.Slice) *gt.Dense {
		v, err := base().Slice(s...)
		if err != nil {
			t.Fatal(err)
		}
		return v.(*gt.Dense)
	}
	transposed := base()
	if err := transposed.T(); err != nil {
		t.Fatal(err)
	}
	moved := base()
	if err := moved.T(); err != nil {
		t.Fatal(err)
	}
	if err := moved.Transpose(); err != nil {
		t.Fatal(err)
	}
	both := slice(gt.S(0, 2), gt.S(1, 3))
	if err := both.T(); err != nil {
		t.Fatal(err)
	}
	columns := gt.New(gt.WithShape(2, 3), gt.AsFortran([]float64{0, 1, 2, 10, 11, 12}))
	if raw := columns.Data().([]float64); raw[1] != 10 {
		t.Fatalf("not column-major in memory: %v", raw)
	}
	for _, c := range []struct {
		name  string
		d     *gt.Dense
		shape tensor.Shape
		want  []float64
	}{
		{"whole", base(), tensor.Shape{3, 4}, count(12).Float64s()},
		{"rows", slice(gt.S(1, 3)), tensor.Shape{2, 4}, []float64{4, 5, 6, 7, 8, 9, 10, 11}},
		{"row", slice(gt.S(1)), tensor.Shape{4}, []float64{4, 5, 6, 7}},
		{"column", slice(nil, gt.S(2)), tensor.Shape{3}, []float64{2, 6, 10}},
		{"columns", slice(nil, gt.S(1, 3)), tensor.Shape{3, 2}, []float64{1, 2, 5, 6, 9, 10}},
		{"block", slice(gt.S(1, 3), gt.S(0, 2)), tensor.Shape{2, 2}, []float64{4, 5, 8, 9}},
		{"every other column", slice(nil, gt.S(0, 4, 2)), tensor.Shape{3, 2}, []float64{0, 2, 4, 6, 8, 10}},
		{"element", slice(gt.S(1), gt.S(2)), tensor.Shape{}, []float64{6}},
		{"T", transposed, tensor.Shape{4, 3}, []float64{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}},
		{"Transpose", moved, tensor.Shape{4, 3}, []float64{0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11}},
		{"T of a block", both, tensor.Shape{2, 2}, []float64{1, 5, 2, 6}},
		{"column-major", columns, tensor.Shape{2, 3}, []float64{0, 1, 2, 10, 11, 12}},
		{"one by one", gt.New(gt.WithShape(1, 1), gt.WithBacking([]float64{5})), tensor.Shape{1, 1}, []float64{5}},
		{"one", gt.New(gt.WithShape(1), gt.WithBacking([]float64{5})), tensor.Shape{1}, []float64{5}},
		{"scalar", gt.New(gt.FromScalar(5.0)), tensor.Shape{}, []float64{5}},
	} {
		x, err := tensor.FromDense(c.d)
		if err != nil || !x.Shape().Equal(c.shape) || !reflect.DeepEqual(x.Float64s(), c.want) {
			t.Errorf("%s: %v, %v, want %v of shape %v", c.name, x, err, c.want, c.shape)
		}
	}
}

func TestDenseOfEveryType(t *testing.T) {
	for _, d := range dtypes {
		for _, shape := range [][]int{{}, {1}, {3}, {2, 2}} {
			x := count(shape...).Convert(d)
			back, err := tensor.FromDense(x.Dense())
			if err != nil || back.DType() != d || !back.Shape().Equal(x.Shape()) || !reflect.DeepEqual(back.Data(), x.Data()) {
				t.Errorf("%v%v: %v, %v", d, shape, back, err)
			}
		}
	}
}

func TestFromDenseRefuses(t *testing.T) {
	masked := gt.New(gt.WithShape(2), gt.WithBacking([]float64{1, 2}, []bool{true, false}))
	bytes := gt.New(gt.WithShape(2), gt.WithBacking([]byte{1, 2}))
	for name, d := range map[string]*gt.Dense{"masked": masked, "bytes": bytes, "scalar": gt.New(gt.FromScalar("a"))} {
		if x, err := tensor.FromDense(d); err == nil {
			t.Errorf("%s: %v", name, x)
		}
	}
	if x, err := tensor.FromDense(gt.New(gt.WithShape(2), gt.WithBacking([]int{3, 4}))); err != nil || x.DType() != tensor.Int64 {
		t.Errorf("ints: %v, %v", x, err)
	}
}
