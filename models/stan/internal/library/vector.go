// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package library

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/models/stan/internal/typing"
	"github.com/euryale-dev/euryale/models/stan/internal/value"
)

// vectorFunctions registers them.
func vectorFunctions() {
	reductions()
	shapes()
	makers()
	orders()
}

// reductions are functions of all elements of a container.
func reductions() {
	add := func(f []float64) float64 {
		s := 0.0
		for _, x := range f {
			s += x
		}
		return s
	}
	sum := func(c *Call) (value.Value, error) {
		if c.Args[0].Type.Kind.IsComplex() {
			re, im := c.Args[0].Parts()
			r := &Call{Name: c.Name, Args: []value.Value{re}, Result: typing.Of(typing.Real)}
			a, err := reduced(r, re, add, ad.SumAxes)
			if err != nil {
				return a, err
			}
			b, err := reduced(r, im, add, ad.SumAxes)
			return value.Complex(typing.Of(typing.Complex), a, b), err
		}
		if c.Args[0].Size() == 0 {
			return value.Value{Type: c.Result, F: []float64{0}}, nil
		}
		return reduced(c, c.Args[0], add, ad.SumAxes)
	}
	register("sum", true, sum, "int => int", "int[] => int", "list|matrix => real", "complex_vector|complex_row_vector|complex_matrix|complex[] => complex")
	register("prod", true, func(c *Call) (value.Value, error) {
		if c.Args[0].Size() == 0 {
			return value.Value{Type: c.Result, F: []float64{1}}, nil
		}
		return reduced(c, c.Args[0], func(f []float64) float64 {
			p := 1.0
			for _, x := range f {
				p *= x
			}
			return p
		}, ad.Prod)
	}, "int[] => int", "list|matrix => real")
	some := func(do func(c *Call) (value.Value, error)) func(c *Call) (value.Value, error) {
		return func(c *Call) (value.Value, error) {
			if c.Args[0].Size() == 0 {
				return c.Args[0], fmt.Errorf("the container has no elements: check its size first")
			}
			return do(c)
		}
	}
	register("mean", true, some(func(c *Call) (value.Value, error) {
		return reduced(c, c.Args[0], func(f []float64) float64 { return add(f) / float64(len(f)) }, ad.MeanAxes)
	}), "list|matrix|int[] => real")
	spread := func(root bool) func(c *Call) (value.Value, error) {
		return some(func(c *Call) (value.Value, error) {
			v := c.Args[0]
			if v.Size() == 1 {
				return value.Value{Type: c.Result, Lanes: v.Lanes, F: make([]float64, max(1, v.Lanes))}, nil
			}
			return reduced(c, v, func(f []float64) float64 {
				m, s := add(f)/float64(len(f)), 0.0
				for _, x := range f {
					s += (x - m) * (x - m)
				}
				s /= float64(len(f) - 1)
				if root {
					return math.Sqrt(s)
				}
				return s
			}, func(x *ad.Node, axes ...int) *ad.Node {
				n := ad.Variance(x, 1, axes...)
				if root {
					n = ad.Sqrt(n)
				}
				return n
			})
		})
	}
	register("variance", true, spread(false), "list|matrix|int[] => real")
	register("sd", true, spread(true), "list|matrix|int[] => real")
	pairwise := functions["log_sum_exp"].Do
	functions["log_sum_exp"].Overloads = append(functions["log_sum_exp"].Overloads, typing.Sig("list|matrix|int[] => real"))
	functions["log_sum_exp"].Do = func(c *Call) (value.Value, error) {
		if len(c.Args) == 2 {
			return pairwise(c)
		}
		if c.Args[0].Size() == 0 {
			return value.Real(-inf), nil
		}
		if v := c.Args[0]; v.Scattered() && v.Size() > 1 && v.Size() <= mostScalars {
			own := v.Scalars()
			z := own[0]
			for _, x := range own[1:] {
				z = ad.LogAddExp(z, x)
			}
			return result(c, z, 0)
		}
		if v := c.Args[0]; v.ByColumns() {
			return result(c, logSumExpColumns(v.Columns(v.Shape[0])), v.Lanes)
		}
		return reduced(c, c.Args[0], func(f []float64) float64 {
			m := slices.Max(f)
			if math.IsInf(m, 0) {
				return m
			}
			s := 0.0
			for _, x := range f {
				s += math.Exp(x - m)
			}
			return m + math.Log(s)
		}, ad.LogSumExp)
	}
	squares := func(x *ad.Node, axes ...int) *ad.Node { return ad.SumAxes(ad.Square(x), axes...) }
	norm2 := func(f []float64) float64 {
		s := 0.0
		for _, x := range f {
			s += x * x
		}
		return s
	}
	register("dot_self", true, func(c *Call) (value.Value, error) { return reduced(c, c.Args[0], norm2, squares) }, "vector|row_vector|real[] => real")
	register("norm2", true, func(c *Call) (value.Value, error) {
		return reduced(c, c.Args[0], func(f []float64) float64 { return math.Sqrt(norm2(f)) }, func(x *ad.Node, axes ...int) *ad.Node { return ad.Sqrt(squares(x, axes...)) })
	}, "list => real")
	register("norm1", true, func(c *Call) (value.Value, error) {
		return reduced(c, c.Args[0], nil, func(x *ad.Node, axes ...int) *ad.Node { return ad.SumAxes(ad.Abs(x), axes...) })
	}, "list => real")
	register("dot_product", true, func(c *Call) (value.Value, error) {
		p, err := combine(flatten(c.Args[0]), flatten(c.Args[1]), typing.Of(typing.Vector), func(x, y float64) float64 { return x * y }, ad.Mul)
		if err != nil {
			return p, err
		}
		if lanesOf(c.Args...) == 0 && !p.Known() {
			return result(c, ad.Dot(flatten(c.Args[0]).Node(), flatten(c.Args[1]).Node()), 0)
		}
		if p.ByColumns() {
			return foldedColumns(p, c.Result, ad.Add)
		}
		return reduced(c, p, add, ad.SumAxes)
	}, "vector|row_vector vector|row_vector => real", "real[] real[] => real")
	for _, name := range []string{"squared_distance", "distance"} {
		register(name, true, func(c *Call) (value.Value, error) {
			d, err := combine(flatten(c.Args[0]), flatten(c.Args[1]), typing.Of(typing.Vector), func(x, y float64) float64 { return x - y }, ad.Sub)
			if err != nil {
				return d, err
			}
			return reduced(c, d, func(f []float64) float64 {
				if name == "distance" {
					return math.Sqrt(norm2(f))
				}
				return norm2(f)
			}, func(x *ad.Node, axes ...int) *ad.Node {
				n := squares(x, axes...)
				if name == "distance" {
					n = ad.Sqrt(n)
				}
				return n
			})
		}, "vector|row_vector|real vector|row_vector|real => real")
	}
	for _, name := range []string{"softmax", "log_softmax"} {
		graph := ad.Softmax
		if name == "log_softmax" {
			graph = ad.LogSoftmax
		}
		register(name, true, func(c *Call) (value.Value, error) {
			v := c.Args[0]
			if v.Size() == 0 {
				return v, nil
			}
			if v.ByColumns() {
				z := logSumExpColumns(v.Columns(v.Shape[0]))
				return mappedColumns(v, c.Result, func(x *ad.Node) *ad.Node {
					if name == "softmax" {
						return ad.Exp(ad.Sub(x, z))
					}
					return ad.Sub(x, z)
				})
			}
			return result(c, graph(v.Node(), last(v)), v.Lanes, v.Shape...)
		}, "vector => vector")
	}
	register("cumulative_sum", true, func(c *Call) (value.Value, error) {
		v := c.Args[0]
		if v.Known() && v.Lanes == 0 {
			out := value.Known(c.Result, slices.Clone(v.F), v.Shape...)
			for i := 1; i < len(out.F); i++ {
				out.F[i] += out.F[i-1]
			}
			return out, nil
		}
		if v.ByColumns() {
			var sum *ad.Node
			return mappedColumns(v, c.Result, func(x *ad.Node) *ad.Node {
				if sum != nil {
					x = ad.Add(sum, x)
				}
				sum = x
				return x
			})
		}
		return result(c, ad.Cumsum(v.Node(), last(v)), v.Lanes, v.Shape...)
	}, "int[]|real[]|vector|row_vector => $1")
	register("quantile", false, quantiles, "list real => real", "list real[] => real[]")
}

// mostScalars is up to how many single numbers are reduced one by one, which is faster than putting them together first.
const mostScalars = 8

// flatten gives vectors of any kind the same type.
func flatten(v value.Value) value.Value {
	v.Type = typing.Of(typing.Vector)
	return v
}

// quantiles are those of R's type 7.
func quantiles(c *Call) (value.Value, error) {
	v, p := c.Args[0], c.Args[1]
	if !p.Known() {
		return v, fmt.Errorf("the probabilities must not depend on parameters")
	}
	n := v.Size()
	if n == 0 {
		return v, fmt.Errorf("the container has no elements: check its size first")
	}
	sorted := v.Node()
	sorted = ad.Sort(ad.Reshape(sorted, n), 0, false)
	var out []*ad.Node
	for _, q := range p.F {
		if !(q >= 0 && q <= 1) {
			return v, fmt.Errorf("the probability %g is not from 0 to 1: use one between them", q)
		}
		h := q * float64(n-1)
		lo := int(math.Floor(h))
		hi := min(lo+1, n-1)
		out = append(out, ad.Add(ad.Scale(1-(h-float64(lo)), ad.Index(sorted, 0, lo)), ad.Scale(h-float64(lo), ad.Index(sorted, 0, hi))))
	}
	if len(p.Shape) == 0 {
		return result(c, out[0], 0)
	}
	return result(c, ad.Stack(0, out...), 0, len(out))
}

// shapes are functions that tell and change shapes.
func shapes() {
	number := func(f func(v value.Value) int) func(c *Call) (value.Value, error) {
		return func(c *Call) (value.Value, error) { return value.Int(f(c.Args[0])), nil }
	}
	any := "int|real|complex|vector|row_vector|matrix|complex_vector|complex_row_vector|complex_matrix|allarray|complex[]"
	register("size", true, number(func(v value.Value) int {
		switch {
		case v.Type.Dims > 0:
			return v.Shape[0]
		}
		return v.Size()
	}), any+" => int")
	register("num_elements", true, number(func(v value.Value) int { return v.Size() }), any+" => int")
	register("rows", true, number(func(v value.Value) int {
		if v.Type.Kind == typing.RowVector || v.Type.Kind == typing.ComplexRowVector {
			return 1
		}
		return v.Shape[0]
	}), "dense|cdense => int")
	register("cols", true, number(func(v value.Value) int {
		switch v.Type.Kind {
		case typing.Vector, typing.ComplexVector:
			return 1
		case typing.RowVector, typing.ComplexRowVector:
			return v.Shape[0]
		}
		return v.Shape[1]
	}), "dense|cdense => int")
	register("dims", true, func(c *Call) (value.Value, error) {
		var f []float64
		for _, n := range c.Args[0].Shape {
			f = append(f, float64(n))
		}
		return value.Known(typing.Of(typing.Int, 1), f, len(f)), nil
	}, any+" => int[]")
	to := func(kind typing.Kind, dims int) func(c *Call) (value.Value, error) {
		return func(c *Call) (value.Value, error) {
			v := c.Args[0]
			if v.Type.Kind == typing.Matrix && v.Type.Dims == 0 && (kind == typing.Vector || kind == typing.RowVector || dims == 1) {
				t, err := Transpose(v, v.Type)
				if err != nil {
					return t, err
				}
				v = t
			}
			return v.Reshape(c.Result, v.Size()), nil
		}
	}
	lists := "int[]|real[]|vector|row_vector|matrix"
	register("to_vector", true, to(typing.Vector, 0), lists+" => vector")
	register("to_row_vector", true, to(typing.RowVector, 0), lists+" => row_vector")
	register("to_array_1d", true, to(typing.Real, 1), "int[]|int[,]|int[,,] => int[]", "real[]|real[,]|real[,,]|vector|row_vector|matrix|vector[]|row_vector[] => real[]")
	register("to_array_2d", true, func(c *Call) (value.Value, error) { return c.Args[0].Reshape(c.Result, c.Args[0].Shape...), nil }, "matrix => real[,]")
	register("to_matrix", false, toMatrix, "matrix|vector|row_vector|real[,]|int[,]|row_vector[] => matrix", "matrix|list|int[] int int => matrix", "matrix|list|int[] int int int => matrix")
	register("append_row", true, func(c *Call) (value.Value, error) { return appended(c, 0) }, "matrix|row_vector matrix|row_vector => matrix", "vector vector => vector", "real vector => vector", "vector real => vector")
	register("append_col", true, func(c *Call) (value.Value, error) { return appended(c, 1) }, "matrix|vector matrix|vector => matrix", "row_vector row_vector => row_vector", "real row_vector => row_vector", "row_vector real => row_vector")
	register("append_array", false, func(c *Call) (value.Value, error) {
		a, b := c.Args[0], c.Args[1]
		if a.Size() == 0 {
			return b, nil
		}
		if b.Size() == 0 {
			return a, nil
		}
		if !slices.Equal(a.Shape[1:], b.Shape[1:]) {
			return a, fmt.Errorf("the elements are %s and %s: use arrays of elements of one size", sizes(a.Shape[1:]), sizes(b.Shape[1:]))
		}
		return join(c.Result, 0, a, b), nil
	})
	o := typing.Sig("int[]|int[,]|int[,,]|real[]|real[,]|real[,,]|vector[]|vector[,]|row_vector[]|row_vector[,]|matrix[]|matrix[,]|complex[] int[]|int[,]|int[,,]|real[]|real[,]|real[,,]|vector[]|vector[,]|row_vector[]|row_vector[,]|matrix[]|matrix[,]|complex[] => real")
	o.Result = func(a []typing.Type) (typing.Type, bool) { return typing.Common(a[0], a[1]) }
	overload("append_array", o)
	firstLast := func(name string, place func(n, k int) (from, to int)) {
		register(name, true, func(c *Call) (value.Value, error) {
			v := c.Args[0]
			k, err := c.Args[1].Same()
			if err != nil {
				return v, err
			}
			from, to := place(v.Shape[0], k)
			if k < 0 || from < 0 || to > v.Shape[0] {
				return v, fmt.Errorf("%d of %d elements are wanted: take no more than there are", k, v.Shape[0])
			}
			return stretch(v, from, to), nil
		}, "vector|row_vector|allarray int => $1")
	}
	firstLast("head", func(n, k int) (int, int) { return 0, k })
	firstLast("tail", func(n, k int) (int, int) { return n - k, n })
	register("segment", true, func(c *Call) (value.Value, error) {
		v := c.Args[0]
		at, err := sameInAll(c.Args[1:]...)
		if err != nil {
			return v, err
		}
		i, k := at[0], at[1]
		if k < 0 || (k > 0 && (i < 1 || i+k-1 > v.Shape[0])) {
			return v, fmt.Errorf("the elements from %d to %d of %d are wanted: take such as there are", i, i+k-1, v.Shape[0])
		}
		if k == 0 {
			i = 1
		}
		return stretch(v, i-1, i-1+k), nil
	}, "vector|row_vector|allarray int int => $1")
	register("sub_col", false, func(c *Call) (value.Value, error) {
		return block(c, c.Args[1].Integer(), c.Args[2].Integer(), c.Args[3].Integer(), 1)
	}, "matrix int int int => vector")
	register("sub_row", false, func(c *Call) (value.Value, error) {
		return block(c, c.Args[1].Integer(), c.Args[2].Integer(), 1, c.Args[3].Integer())
	}, "matrix int int int => row_vector")
	register("block", false, func(c *Call) (value.Value, error) {
		return block(c, c.Args[1].Integer(), c.Args[2].Integer(), c.Args[3].Integer(), c.Args[4].Integer())
	}, "matrix int int int int => matrix")
	register("row", false, func(c *Call) (value.Value, error) { return block(c, c.Args[1].Integer(), 1, 1, c.Args[0].Shape[1]) }, "matrix int => row_vector")
	register("col", false, func(c *Call) (value.Value, error) { return block(c, 1, c.Args[1].Integer(), c.Args[0].Shape[0], 1) }, "matrix int => vector")
	register("reverse", false, func(c *Call) (value.Value, error) {
		v := c.Args[0]
		index := make([]int, v.Shape[0])
		for i := range index {
			index[i] = len(index) - 1 - i
		}
		return rowsOf(v, index), nil
	}, "vector|row_vector|allarray => $1")
}

// sameInAll returns known integers that are the same in all lanes.
func sameInAll(vs ...value.Value) (out []int, err error) {
	for _, v := range vs {
		n, err := v.Same()
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}

// stretch returns the elements of the first dimension from one to before another.
func stretch(v value.Value, from, to int) value.Value {
	index := make([]int, 0, to-from)
	for i := from; i < to; i++ {
		index = append(index, i)
	}
	return rowsOf(v, index)
}

// rowsOf returns elements of the first dimension.
func rowsOf(v value.Value, at []int) value.Value {
	inner := value.Size(v.Shape[1:])
	var index []int
	for l := range max(1, v.Lanes) {
		for _, i := range at {
			for k := range inner {
				index = append(index, l*v.Size()+i*inner+k)
			}
		}
	}
	return v.Take(index, v.Type, v.Lanes, append([]int{len(at)}, v.Shape[1:]...)...)
}

// block returns a part of a matrix, from a row and a column, counted from 1.
func block(c *Call, i, j, rows, cols int) (value.Value, error) {
	v := c.Args[0]
	if i < 1 || j < 1 || rows < 0 || cols < 0 || i+rows-1 > v.Shape[0] || j+cols-1 > v.Shape[1] {
		return v, fmt.Errorf("rows %d to %d and columns %d to %d of a matrix of %s are wanted: take such as there are", i, i+rows-1, j, j+cols-1, sizes(v.Shape))
	}
	var index []int
	for r := range rows {
		for k := range cols {
			index = append(index, (i-1+r)*v.Shape[1]+j-1+k)
		}
	}
	shape := []int{rows, cols}
	switch c.Result.Kind {
	case typing.Vector:
		shape = []int{rows}
	case typing.RowVector:
		shape = []int{cols}
	}
	return v.Take(index, c.Result, 0, shape...), nil
}

// join puts values one after another along an axis.
func join(t typing.Type, axis int, vs ...value.Value) value.Value {
	if t.Kind.IsComplex() {
		var re, im []value.Value
		for _, v := range vs {
			a, b := v.Parts()
			re, im = append(re, a), append(im, b)
		}
		r := t
		r.Kind = r.Kind.Realed()
		return value.Complex(t, join(r, axis, re...), join(r, axis, im...))
	}
	total := 0
	for _, v := range vs {
		total += v.Shape[axis]
	}
	shape := slices.Clone(vs[0].Shape)
	shape[axis] = total
	lanes := lanesOf(vs...)
	out := value.Unset(typing.Type{Kind: typing.Real, Dims: t.Dims}, shape...)
	out.Type = t
	out = out.Spread(lanes)
	outer, inner := max(1, lanes)*value.Size(shape[:axis]), value.Size(shape[axis+1:])
	start := 0
	for _, v := range vs {
		n := v.Shape[axis]
		var index []int
		for o := range outer {
			for k := range n * inner {
				index = append(index, o*total*inner+start*inner+k)
			}
		}
		out = out.Put(index, v.Spread(lanes), true)
		start += n
	}
	return out
}

// appended puts vectors and matrices below or beside each other.
func appended(c *Call, axis int) (value.Value, error) {
	a, b := c.Args[0], c.Args[1]
	if c.Result.Kind != typing.Matrix {
		for _, v := range []*value.Value{&a, &b} {
			if len(v.Shape) == 0 {
				*v = v.Reshape(c.Result, 1)
			}
		}
		if k := a.Shape[0] + b.Shape[0]; lanesOf(a, b) > 0 && k <= value.MostColumns && (a.ByColumns() || b.ByColumns()) {
			return value.FromColumns(c.Result, lanesOf(a, b), append(a.Columns(a.Shape[0]), b.Columns(b.Shape[0])...)), nil
		}
		return join(c.Result, 0, a, b), nil
	}
	for _, v := range []*value.Value{&a, &b} {
		if len(v.Shape) == 2 {
			continue
		}
		if axis == 0 {
			*v = v.Reshape(c.Result, 1, v.Shape[0])
		} else {
			*v = v.Reshape(c.Result, v.Shape[0], 1)
		}
	}
	if a.Shape[1-axis] != b.Shape[1-axis] {
		return a, fmt.Errorf("sizes do not match: %s and %s: give both the same size", sizes(a.Shape), sizes(b.Shape))
	}
	return join(c.Result, axis, a, b), nil
}

// toMatrix makes matrices; elements run down the columns unless the last argument is 0.
func toMatrix(c *Call) (value.Value, error) {
	v := c.Args[0]
	if len(c.Args) == 1 {
		switch v.Type.Kind {
		case typing.Vector:
			return v.Reshape(c.Result, v.Shape[0], 1), nil
		case typing.RowVector:
			if v.Type.Dims == 0 {
				return v.Reshape(c.Result, 1, v.Shape[0]), nil
			}
		}
		if len(v.Shape) == 2 {
			return v.Reshape(c.Result, v.Shape...), nil
		}
		return v.Reshape(c.Result, 0, 0), nil
	}
	rows, cols := c.Args[1].Integer(), c.Args[2].Integer()
	if rows < 0 || cols < 0 || rows*cols != v.Size() {
		return v, fmt.Errorf("a matrix of %d x %d does not hold %d elements: use sizes whose product is their number", rows, cols, v.Size())
	}
	byColumn := len(c.Args) < 4 || c.Args[3].Integer() != 0
	order := make([]int, v.Size()) // the elements of the source in their order
	for i := range order {
		order[i] = i
	}
	if v.Type.Kind == typing.Matrix {
		for j := range v.Shape[1] {
			for i := range v.Shape[0] {
				order[j*v.Shape[0]+i] = i*v.Shape[1] + j
			}
		}
	}
	index := make([]int, 0, rows*cols)
	for i := range rows {
		for j := range cols {
			k := j*rows + i
			if !byColumn {
				k = i*cols + j
			}
			index = append(index, order[k])
		}
	}
	return v.Take(index, c.Result, 0, rows, cols), nil
}

// mostElements is the size of the largest container.
const mostElements = 1 << 28

// orders are functions that sort.
func orders() {
	for _, name := range []string{"sort_asc", "sort_desc"} {
		down := name == "sort_desc"
		register(name, false, func(c *Call) (value.Value, error) {
			v := c.Args[0]
			if v.Known() {
				f := slices.Clone(v.F)
				slices.Sort(f)
				if down {
					slices.Reverse(f)
				}
				return value.Known(c.Result, f, v.Shape...), nil
			}
			return result(c, ad.Sort(v.Node(), 0, down), 0, v.Shape...)
		}, "int[]|real[]|vector|row_vector => $1")
		register("sort_indices_"+name[5:], false, func(c *Call) (value.Value, error) {
			v := c.Args[0]
			if !v.Known() {
				return v, fmt.Errorf("the order of numbers that depend on parameters is not known before sampling: compute it in generated quantities")
			}
			at := make([]int, len(v.F))
			for i := range at {
				at[i] = i
			}
			slices.SortStableFunc(at, func(i, j int) int {
				if down {
					i, j = j, i
				}
				return cmp.Compare(v.F[i], v.F[j])
			})
			f := make([]float64, len(at))
			for i, k := range at {
				f[i] = float64(k + 1)
			}
			return value.Known(c.Result, f, len(f)), nil
		}, "int[]|real[]|vector|row_vector => int[]")
	}
	register("rank", false, func(c *Call) (value.Value, error) {
		v, s := c.Args[0], c.Args[1].Integer()
		if !v.Known() {
			return v, fmt.Errorf("a rank among numbers that depend on parameters is not known before sampling: compute it in generated quantities")
		}
		if s < 1 || s > len(v.F) {
			return v, fmt.Errorf("the place %d is not one of %d: use one from 1 to the size", s, len(v.F))
		}
		n := 0
		for _, x := range v.F {
			if x < v.F[s-1] {
				n++
			}
		}
		return value.Int(n), nil
	}, "int[]|real[]|vector|row_vector int => int")
}
