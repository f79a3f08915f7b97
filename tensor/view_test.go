// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor_test

import (
	"errors"
	"math"
	"reflect"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
	"pgregory.net/rapid"
)

// naive is an array as a function of its indices: what views must equal.
type naive struct {
	shape []int
	at    func(idx []int) float64
}

// list returns the elements in order.
func (n naive) list() []float64 {
	out := []float64{}
	idx := make([]int, len(n.shape))
	var walk func(d int)
	walk = func(d int) {
		if d == len(idx) {
			out = append(out, n.at(idx))
			return
		}
		for idx[d] = 0; idx[d] < n.shape[d]; idx[d]++ {
			walk(d + 1)
		}
	}
	walk(0)
	return out
}

// frozen is n over a list of its elements.
func (n naive) frozen() naive {
	return naive{n.shape, over(n.list(), n.shape)}
}

func over(list []float64, shape []int) func(idx []int) float64 {
	return func(idx []int) float64 {
		k := 0
		for d, i := range idx {
			k = k*shape[d] + i
		}
		return list[k]
	}
}

func edit(s []int, at, del int, ins ...int) []int {
	out := append([]int{}, s[:at]...)
	return append(append(out, ins...), s[at+del:]...)
}

// viewStep applies a random view to x and to its model.
func viewStep(t *rapid.T, x *tensor.Tensor, m naive) (*tensor.Tensor, naive) {
	switch op := rapid.SampledFrom([]string{"slice", "index", "permute", "broadcast", "reshape", "copy"}).Draw(t, "op"); {
	case op == "slice" && len(m.shape) > 0:
		axis := rapid.IntRange(0, len(m.shape)-1).Draw(t, "axis")
		return sliceStep(t, x, m, axis)
	case op == "index" && len(m.shape) > 0:
		axis := rapid.IntRange(0, len(m.shape)-1).Draw(t, "axis")
		if m.shape[axis] == 0 {
			return x, m
		}
		i := rapid.IntRange(0, m.shape[axis]-1).Draw(t, "i")
		return x.Index(axis-len(m.shape), i), naive{edit(m.shape, axis, 1), func(idx []int) float64 { return m.at(edit(idx, axis, 0, i)) }}
	case op == "permute" && len(m.shape) > 0:
		perm := rapid.Permutation(first(len(m.shape))).Draw(t, "perm")
		shape := make([]int, len(perm))
		for i, p := range perm {
			shape[i] = m.shape[p]
		}
		return x.Permute(perm...), naive{shape, func(idx []int) float64 {
			old := make([]int, len(idx))
			for i, p := range perm {
				old[p] = idx[i]
			}
			return m.at(old)
		}}
	case op == "broadcast" && len(m.shape) < 4:
		return broadcastStep(t, x, m)
	case op == "reshape":
		list := m.list()
		shape := []int{1, len(list)}
		if len(list)%2 == 0 && rapid.Bool().Draw(t, "halve") {
			shape = []int{len(list) / 2, 2}
		}
		y, err := x.Reshape(-1, shape[1])
		if len(list) == 0 {
			y, err = x.Reshape(shape...)
		}
		return must(t, y, err), naive{shape, over(list, shape)}
	case op == "copy":
		return x.Copy(), m.frozen()
	}
	return x, m
}

func first(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func sliceStep(t *rapid.T, x *tensor.Tensor, m naive, axis int) (*tensor.Tensor, naive) {
	n := m.shape[axis]
	start, stop := rapid.IntRange(0, n).Draw(t, "start"), rapid.IntRange(0, n).Draw(t, "stop")
	step := rapid.SampledFrom([]int{1, 2, 3, math.MaxInt, -1, -2, -math.MaxInt}).Draw(t, "step")
	if step < 0 {
		start, stop = start-1, stop-1
	}
	var take []int
	for i := start; i >= 0 && i < n && (step > 0 && i < stop || step < 0 && i > stop); i += step {
		take = append(take, i)
	}
	shape := edit(m.shape, axis, 1, len(take))
	return x.Slice(axis, start, stop, step), naive{shape, func(idx []int) float64 { return m.at(edit(idx, axis, 1, take[idx[axis]])) }}
}

func broadcastStep(t *rapid.T, x *tensor.Tensor, m naive) (*tensor.Tensor, naive) {
	lead := rapid.IntRange(0, 1).Draw(t, "lead")
	shape := append(make([]int, 0, 5), []int{2, 3}[:lead]...)
	for _, d := range m.shape {
		if d == 1 {
			d = rapid.IntRange(0, 3).Draw(t, "stretch")
		}
		shape = append(shape, d)
	}
	y, err := x.Broadcast(shape...)
	return must(t, y, err), naive{shape, func(idx []int) float64 {
		old := append([]int{}, idx[lead:]...)
		for d, n := range m.shape {
			if n == 1 {
				old[d] = 0
			}
		}
		return m.at(old)
	}}
}

// Every chain of views must show what the same chain of copies holds.
func TestViewsEqualCopies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(0, 4), 0, 3).Draw(t, "shape")
		x := count(shape...)
		m := naive{shape, over(x.Float64s(), shape)}
		for range rapid.IntRange(1, 6).Draw(t, "steps") {
			x, m = viewStep(t, x, m)
			if tensor.Shape(m.shape).Size() > 2000 {
				break
			}
			sameAs(t, x, m)
		}
	})
}

func sameAs(t *rapid.T, x *tensor.Tensor, m naive) {
	if !x.Shape().Equal(m.shape) {
		t.Fatalf("shape %v, want %v", x.Shape(), m.shape)
	}
	want := m.list()
	for name, got := range map[string][]float64{"Data": x.Data().([]float64), "Copy": x.Copy().Data().([]float64), "Float64s": x.Float64s(),
		"Convert": x.Convert(tensor.Int32).Float64s()} {
		if len(got) != len(want) || len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %v, want %v", name, got, want)
		}
	}
	if len(want) == 0 {
		return
	}
	d := x.Dense()
	back, err := tensor.FromDense(d)
	if err != nil || !reflect.DeepEqual(back.Float64s(), want) || !back.Shape().Equal(x.Shape()) {
		t.Fatalf("through Dense: %v, %v", back, err)
	}
	again := &x.Data().([]float64)[0]
	if shared := &x.Data().([]float64)[0] == again; shared != x.Contiguous() {
		t.Fatalf("memory is shared: %v, contiguous: %v", shared, x.Contiguous())
	}
	if len(m.shape) > 0 && x.Contiguous() && &d.Data().([]float64)[0] != again {
		t.Fatal("Dense copied a contiguous array")
	}
}

func TestViewsShareMemory(t *testing.T) {
	x := count(3, 4)
	row, column := x.Index(0, 1), x.Slice(1, 2, 3, 1)
	x.Data().([]float64)[6] = 60
	if row.At(2) != 60.0 || column.At(1, 0) != 60.0 || x.Permute().At(2, 1) != 60.0 {
		t.Error("a view copied")
	}
	if !row.Contiguous() || column.Contiguous() {
		t.Error("rows are contiguous, columns are not")
	}
	row.Data().([]float64)[0] = 40
	if x.At(1, 0) != 40.0 {
		t.Error("Data of a contiguous view copied")
	}
	if c := x.Copy(); &c.Data().([]float64)[0] == &x.Data().([]float64)[0] {
		t.Error("Copy shares")
	}
	x.Shape()[0], x.Strides()[0] = 99, 99
	if x.Size() != 12 {
		t.Error("Shape hands out its memory")
	}
	if d := row.Data().([]float64); cap(d) != 4 {
		t.Errorf("append to Data of a row would write into the next: capacity %d", cap(d))
	}
}

func TestShapesThatDoNotFit(t *testing.T) {
	x := count(2, 3)
	var want *tensor.ShapeError
	for _, s := range [][]int{{5}, {-1, 4}, {-1, -1}, {-2, -3}, {0, -1}, {1 << 62, 4}} {
		if _, err := x.Reshape(s...); !errors.As(err, &want) {
			t.Errorf("Reshape(%v): error %v", s, err)
		}
	}
	if _, err := count(0).Reshape(0, -1); err == nil {
		t.Error("Reshape of nothing to (0, -1): any length would do")
	}
	if y, err := count(0, 3).Reshape(3, -1); err != nil || !y.Shape().Equal(tensor.Shape{3, 0}) {
		t.Errorf("Reshape of nothing to (3, -1): %v, %v", y, err)
	}
	for _, s := range [][]int{{3}, {3, 3}, {2, -3}, {2}, {1 << 62, 2, 3}} {
		if _, err := x.Broadcast(s...); !errors.As(err, &want) {
			t.Errorf("Broadcast(%v): error %v", s, err)
		}
	}
	if _, err := count(1).Broadcast(-2); err == nil {
		t.Error("Broadcast to a negative length")
	}
}
