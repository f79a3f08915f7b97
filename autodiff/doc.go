// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package autodiff builds graphs of operations, differentiates them and compiles
// them into programs that run without allocating.
//
// A [Node] is a value of a graph. Functions such as [Mul], [Sum] and [MatMul]
// make Nodes from Nodes, broadcasting as NumPy does; [Grad] makes the Nodes of a
// gradient, which are Nodes like any other, so gradients of gradients need
// nothing new. The first mistake in a graph stays with the Node where it
// happened and is carried along, so one look at the end is enough.
//
//	x := autodiff.Input("x", 3)
//	y := autodiff.Sum(autodiff.Softplus(x))
//	prog, err := autodiff.Compile([]*autodiff.Node{y, autodiff.Grad(y, x)[0]}, autodiff.Settings{})
//	if err != nil { ... } // names the op, the shapes and your line
//	st := prog.NewState()
//	copy(st.Input(0), []float64{-1, 0, 2})
//	err = st.Run()
//	fmt.Println(st.Output(0), st.Output(1))
//
// Every operation is one literal that holds its Go function, the same function
// as a C expression for the GPU, its gradient and the range where checks draw
// inputs; see op_softplus.go. A [Program] is immutable and may be shared; a
// [State] is the memory of one run and belongs to one goroutine.
//
// # Rewriting
//
// [Compile] simplifies a graph before it lays it out. A program computes what the
// operations give one after the other as they are written, up to rounding. No
// rule makes a number overflow that would not have, or hides an overflow, an
// infinity or a NaN.
//
//   - These rules keep every bit, the sign of a zero included: equal Nodes are
//     computed once; reshapes, broadcasts and signs move through other
//     operations; x*1, x/1, x-0 and x^1 are x; x*x and 1/x are the square and the
//     reciprocal; a quotient by a power of two is a product. Every other quotient
//     is correctly rounded, as IEEE 754 demands. What [ScatterAlong] puts among
//     zeros is multiplied by comparisons before.
//   - These differ by rounding: c*(d*x) is computed as (c*d)*x where |d| <= 1 or
//     |c| >= 1, and c+(d+x) as (c+d)+x where c+d is exact; the powers 2, 3 and -1
//     are products and reciprocals; a sum over a repeated axis is a product with
//     its length. The additions of a sum have an order of their own (see [Sum]),
//     and a product that is summed over rows may not be rounded before it is
//     added. Results that pass through numbers below the normal range may keep
//     digits that they would lose there.
//   - Two rules come closer to the function that is meant: log(1+x) is computed
//     by [Log1p] and exp(x)-1 by [Expm1], which keep what 1+x and exp(x) round away.
//   - Two things are left open: the sign of a sum that is 0, and the value of a
//     sum whose terms overflow when their sizes are added.
//
// Constants are computed in float64 in every precision and rounded once. [Hoist],
// which is asked for, rounds quotients once more, and [Condense], which is asked for too, takes sums
// apart by the algebra of real numbers.
//
// # Conventions
//
// Arrays are row-major (last axis fastest); truth values are 1 and
// 0; reals take the precision of the Program (float64 unless Settings says 32);
// indices are 64-bit integers and only leaves and index-valued operations have
// them.
package autodiff
