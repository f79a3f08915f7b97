// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/tensor"
)

func ExampleGrad() {
	x := autodiff.Const([]float64{-1, 0, 2})
	y := autodiff.Softplus(x)
	v, err := autodiff.Eval(y, autodiff.Grad(y, x)[0])
	fmt.Printf("%.4f\n%.4f\n%v\n", v[0].Data(), v[1].Data(), err)
	// Output:
	// [0.3133 0.6931 2.1269]
	// [0.2689 0.5000 0.8808]
	// <nil>
}

func TestEveryOpHasItsGradients(t *testing.T) {
	for _, op := range standard {
		t.Run(op.Name, func(t *testing.T) { gradtest.Op(t, op) })
	}
}

func TestFirstMistakeIsKept(t *testing.T) {
	a, b := autodiff.Const(make([]float64, 3)), autodiff.Const(make([]float64, 4))
	y := autodiff.Neg(autodiff.Mul(a, b))
	var shape *tensor.ShapeError
	if err := y.Err(); !errors.As(err, &shape) || shape.Op != "mul" || !strings.HasPrefix(err.Error(), "autodiff_test.go:") {
		t.Errorf("got %v, want a ShapeError of mul with this file's name", err)
	}
	if _, err := autodiff.Compile([]*autodiff.Node{autodiff.Grad(y, a)[0]}, autodiff.Settings{}); !errors.As(err, &shape) {
		t.Errorf("Compile of a gradient gives %v, want the ShapeError", err)
	}
}

func TestCUDAExpressionsAgreeWithGo(t *testing.T) { gradtest.HostC(t, standard) }
