// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/tensor"
)

// Shapes whose elements cannot be counted are refused wherever they arise.
func TestShapesThatOverflow(t *testing.T) {
	x, row, column := Input("x", 1<<31), Input("row", 1, 1<<31), Input("column", 1<<31, 1)
	for name, n := range map[string]*Node{
		"input":      Input("y", 1<<40, 1<<40),
		"wraps to 0": Input("y", 1<<32, 1<<32),
		"with 0":     Input("y", 0, 1<<40, 1<<40),
		"indices":    IntInput("k", math.MaxInt, 2),
		"broadcast":  Broadcast(Scalar(1), 1<<40, 1<<40),
		"full":       Full(1, 1<<62, 1<<62),
		"outer":      Sum(Add(Mul(row, column), Reshape(Mul(row, column), 1<<62))),
		"reshape":    Reshape(Input("e", 0), 1<<32, 1<<32),
		"matmul":     MatMul(column, row),
		"concat":     Concat(0, Input("a", math.MaxInt/64), Input("b", math.MaxInt/64)),
		"const":      Const(nil, 1<<32, 1<<32),
	} {
		if err := n.Err(); !errors.As(err, new(*tensor.ShapeError)) {
			t.Errorf("%s: %v, shape %v", name, err, n.Shape())
		}
		if _, err := Compile([]*Node{n}, Settings{}); err == nil {
			t.Errorf("%s compiles", name)
		}
		if _, err := Compile([]*Node{Sum(Add(n, x))}, Settings{}); err == nil {
			t.Errorf("%s compiles as part of a sum", name)
		}
	}
}

// Constants that an operation writes out are refused before memory is taken.
func TestConstantsThatDoNotFit(t *testing.T) {
	q, h := Input("q", 1<<24, 1<<24), Input("h", 1<<31)
	for name, n := range map[string]*Node{
		"eye": Eye(1 << 24), "larger eye": Eye(1 << 31), "eye that wraps": Eye(1 << 33), "diagonal": DiagMatrix(Input("d", 1<<32)), "triangle": Tril(q, 0),
		"hessian": Hessian(Sum(Exp(h)), h), "jacobian": Jacobian(Exp(h), h), "cholesky": Grad(Sum(Cholesky(q)), q)[0],
		"pad": Pad(Input("s", 4), []int{math.MaxInt}, []int{math.MaxInt}, 0),
	} {
		if err := n.Err(); err == nil || !errors.As(err, new(*MemoryError)) && !errors.As(err, new(*tensor.ShapeError)) {
			if _, err := Compile([]*Node{n}, Settings{}); !errors.As(err, new(*MemoryError)) {
				t.Errorf("%s: %v, %v", name, n.Err(), err)
			}
		}
	}
	var many []*Node
	for range 300 {
		many = append(many, Input("part", math.MaxInt/64))
	}
	if err := Concat(0, many...).Err(); !errors.As(err, new(*tensor.ShapeError)) {
		t.Errorf("300 parts: %v", err)
	}
}

// A program that does not fit is refused before memory is taken.
func TestProgramsThatDoNotFit(t *testing.T) {
	x := Input("x", 1<<40)
	huge := Sum(Exp(Reshape(x, 1<<20, 1<<20)))
	_, err := Compile([]*Node{huge}, Settings{})
	var e *MemoryError
	if !errors.As(err, &e) || e.Need < 1<<43 || e.Largest.Size() != 1<<40 || !strings.Contains(err.Error(), "8 TiB") || !strings.Contains(err.Error(), "input x") {
		t.Errorf("%v", err)
	}
	y := Input("y", 1000)
	sum := []*Node{Sum(Exp(y))}
	if _, err := Compile(sum, Settings{MaxMemory: 100}); !errors.As(err, &e) || e.Limit != 100 {
		t.Errorf("%v", err)
	}
	p, err := Compile(sum, Settings{MaxMemory: 100_000})
	if err != nil || p.Bytes() < 8000 {
		t.Errorf("%v", err)
	}
	if _, err := Compile(sum, Settings{Batch: 1 << 40, Batched: []*Node{y}}); !errors.As(err, &e) {
		t.Errorf("a batch of 2^40: %v", err)
	}
	if _, err := Compile(sum, Settings{Batch: 1 << 60, Batched: []*Node{y}}); err == nil {
		t.Errorf("a batch of 2^60: %v", err)
	}
	var many []*Node // each countable, their sum not
	for range 100 {
		many = append(many, Exp(Input("z", math.MaxInt/128)))
	}
	if _, err := Compile(many, Settings{}); !errors.As(err, &e) {
		t.Errorf("100 arrays: %v", err)
	}
}

func TestInputNumbers(t *testing.T) {
	x := Input("x", 2)
	p, err := Compile([]*Node{Sum(x)}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	for _, i := range []int{-1, 1} {
		for name, err := range map[string]error{"SetInput": s.SetInput(i, []float64{1, 2}), "Bind": s.Bind(i, []float64{1, 2})} {
			if err == nil || !strings.Contains(err.Error(), "in a program with 1 inputs") {
				t.Errorf("%s(%d): %v", name, i, err)
			}
		}
	}
}
