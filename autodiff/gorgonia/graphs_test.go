// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gorgonia_test

import (
	"math/rand/v2"

	G "gorgonia.org/gorgonia"
	gt "gorgonia.org/tensor"
)

// graphCase is a scalar function of a matrix x, made of Gorgonia's operations.
type graphCase struct {
	name  string
	shape []int
	make  func(x *G.Node) *G.Node
	wrong string // what Gorgonia gets wrong: "gradient", "value" or "ties" of its gradient
}

var must = G.Must

func num(v float64) *G.Node { return G.NewConstant(v) }

func array(shape ...int) *gt.Dense {
	d := make([]float64, gt.Shape(shape).TotalSize())
	for i := range d {
		d[i] = float64(i%5) - 1.5
	}
	return gt.New(gt.WithShape(shape...), gt.WithBacking(d))
}

func sumSq(y *G.Node, err error) *G.Node {
	y = must(G.Square(must(y, err)))
	if y.IsScalar() {
		return y
	}
	return must(G.Sum(y))
}

func sum(y *G.Node, err error) *G.Node { return must(G.Sum(must(y, err))) }

func reshaped(x *G.Node, shape ...int) *G.Node { return must(G.Reshape(x, shape)) }

var graphCases = []graphCase{
	{name: "sum axis 0", make: func(x *G.Node) *G.Node { return sumSq(G.Sum(x, 0)) }},
	{name: "sum axis 1", make: func(x *G.Node) *G.Node { return sumSq(G.Sum(x, 1)) }},
	{name: "mean axis 0", make: func(x *G.Node) *G.Node { return sumSq(G.Mean(x, 0)) }},
	{name: "mean axis 1", make: func(x *G.Node) *G.Node { return sumSq(G.Mean(x, 1)) }},
	{name: "mean of all", make: func(x *G.Node) *G.Node { return sumSq(G.Mean(x)) }},
	{name: "max axis 0", wrong: "ties", make: func(x *G.Node) *G.Node { return sumSq(G.Max(x, 0)) }},
	{name: "max axis 1", wrong: "ties", make: func(x *G.Node) *G.Node { return sumSq(G.Max(x, 1)) }},
	{name: "transpose times self", make: func(x *G.Node) *G.Node { return sumSq(G.Mul(must(G.Transpose(x)), x)) }},
	{name: "slice rows", make: func(x *G.Node) *G.Node { return sumSq(G.Slice(x, G.S(0, 2))) }},
	{name: "slice one column", make: func(x *G.Node) *G.Node { return sumSq(G.Slice(x, nil, G.S(1))) }},
	{name: "slice with a step", shape: []int{4, 4}, make: func(x *G.Node) *G.Node { return sumSq(G.Slice(x, G.S(0, 4, 2))) }},
	{name: "product of two slices", shape: []int{4, 4}, make: func(x *G.Node) *G.Node {
		return sum(G.HadamardProd(must(G.Slice(x, G.S(0, 2))), must(G.Slice(x, G.S(2, 4)))))
	}},
	{name: "concat axis 0", make: func(x *G.Node) *G.Node { return sumSq(G.Concat(0, x, must(G.Exp(x)))) }},
	{name: "concat axis 1", make: func(x *G.Node) *G.Node { return sumSq(G.Concat(1, x, must(G.Exp(x)))) }},
	{name: "reshape", shape: []int{2, 6}, make: func(x *G.Node) *G.Node { return sumSq(G.Sum(reshaped(x, 3, 4), 0)) }},
	{name: "softmax", make: func(x *G.Node) *G.Node { return sumSq(G.SoftMax(x, 1)) }},
	{name: "log of softmax", make: func(x *G.Node) *G.Node { return sumSq(G.Log(must(G.SoftMax(x, 1)))) }},
	{name: "rectify", make: func(x *G.Node) *G.Node { return sumSq(G.Rectify(x)) }},
	{name: "leaky relu", make: func(x *G.Node) *G.Node { return sumSq(G.LeakyRelu(x, 0.1)) }},
	{name: "x sigmoid x", make: func(x *G.Node) *G.Node { return sumSq(G.HadamardProd(x, must(G.Sigmoid(x)))) }},
	{name: "2 to the x", make: func(x *G.Node) *G.Node { return sum(G.Pow(num(2), x)) }},
	{name: "scalar over tensor", make: func(x *G.Node) *G.Node { return sum(G.Div(num(2), x)) }},
	{name: "tensor minus mean", make: func(x *G.Node) *G.Node { return sumSq(G.Sub(x, must(G.Mean(x)))) }},
	{name: "mean minus tensor", make: func(x *G.Node) *G.Node { return sumSq(G.Sub(must(G.Mean(x)), x)) }},
	{name: "tensor over sum of squares", make: func(x *G.Node) *G.Node {
		return sum(G.Cube(must(G.Div(x, must(G.Sum(must(G.Square(x))))))))
	}},
	{name: "log2", wrong: "gradient", make: func(x *G.Node) *G.Node { return sum(G.Log2(must(G.Square(x)))) }},
	{name: "inverse square root", wrong: "gradient", make: func(x *G.Node) *G.Node { return sum(G.InverseSqrt(must(G.Square(x)))) }},
	{name: "norm", make: func(x *G.Node) *G.Node { return sum(G.Norm(x, 1, 2)) }},
	{name: "outer product", shape: []int{1, 4}, wrong: "gradient", make: func(x *G.Node) *G.Node {
		v := reshaped(x, 4)
		return sumSq(G.OuterProd(v, must(G.Exp(v))))
	}},
	{name: "vector dot", shape: []int{1, 4}, make: func(x *G.Node) *G.Node {
		v := reshaped(x, 4)
		return must(G.Mul(v, must(G.Exp(v))))
	}},
	{name: "matrix vector", make: func(x *G.Node) *G.Node { return sumSq(G.Mul(x, G.NewConstant(array(4)))) }},
	{name: "vector matrix", shape: []int{4, 3}, make: func(x *G.Node) *G.Node { return sumSq(G.Mul(G.NewConstant(array(4)), x)) }},
	{name: "square matrix vector", shape: []int{3, 3}, make: func(x *G.Node) *G.Node { return sumSq(G.Mul(x, G.NewConstant(array(3)))) }},
	{name: "vector square matrix", shape: []int{3, 3}, make: func(x *G.Node) *G.Node { return sumSq(G.Mul(G.NewConstant(array(3)), x)) }},
	{name: "broadcast a row", make: func(x *G.Node) *G.Node {
		row := reshaped(must(G.Slice(x, G.S(0, 1))), 1, 4)
		return sumSq(G.BroadcastAdd(x, row, nil, []byte{0}))
	}},
	{name: "broadcast a column", make: func(x *G.Node) *G.Node {
		col := reshaped(must(G.Slice(x, nil, G.S(0))), 3, 1)
		return sumSq(G.BroadcastHadamardProd(x, col, nil, []byte{1}))
	}},
	{name: "batched product", shape: []int{2, 8}, make: func(x *G.Node) *G.Node {
		a, b := reshaped(x, 2, 2, 4), reshaped(must(G.Exp(x)), 2, 4, 2)
		return sumSq(G.BatchedMatMul(a, b))
	}},
	{name: "one element", shape: []int{1, 1}, make: func(x *G.Node) *G.Node { return sumSq(x, nil) }},
	{name: "column times self", shape: []int{4, 1}, make: func(x *G.Node) *G.Node { return sumSq(G.Mul(must(G.Transpose(x)), x)) }},
	{name: "column sum axis 1", shape: []int{4, 1}, make: func(x *G.Node) *G.Node { return sumSq(G.Sum(x, 1)) }},
	{name: "mask of a comparison", make: func(x *G.Node) *G.Node {
		return sum(G.HadamardProd(must(G.Gt(x, num(0), true)), must(G.Square(x))))
	}},
	{name: "smaller of two", make: func(x *G.Node) *G.Node { return sum(G.MinBetween(x, must(G.Square(x)))) }},
	{name: "larger of two", make: func(x *G.Node) *G.Node { return sum(G.MaxBetween(x, must(G.Square(x)))) }},
	{name: "3-d sum axis 1", shape: []int{2, 12}, make: func(x *G.Node) *G.Node { return sumSq(G.Sum(reshaped(x, 2, 3, 4), 1)) }},
	{name: "3-d sum axes 0 and 2", shape: []int{2, 12}, make: func(x *G.Node) *G.Node { return sumSq(G.Sum(reshaped(x, 2, 3, 4), 0, 2)) }},
	{name: "3-d transpose", shape: []int{2, 12}, make: func(x *G.Node) *G.Node {
		y := must(G.Transpose(reshaped(x, 2, 3, 4), 2, 0, 1))
		return sum(G.HadamardProd(must(G.Square(y)), G.NewConstant(array(4, 2, 3))))
	}},
}

// matrix makes the input x of a case, with fixed normal elements.
func matrix(g *G.ExprGraph, shape []int) *G.Node {
	if shape == nil {
		shape = []int{3, 4}
	}
	rng := rand.New(rand.NewPCG(3, 5))
	d := make([]float64, gt.Shape(shape).TotalSize())
	for i := range d {
		d[i] = rng.NormFloat64()
	}
	return G.NewMatrix(g, G.Float64, G.WithName("x"), G.WithShape(shape...), G.WithValue(gt.New(gt.WithShape(shape...), gt.WithBacking(d))))
}
