// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gradtest_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/autodiff/gradtest"
	"github.com/euryale-dev/euryale/internal/pretend"
)

// Operations of a user's own package: one with everything, one that only the processor can compute.
var (
	hillOp = ad.Binary{Name: "test_hill", CPU: func(x, k float64) float64 { return x * x / (x*x + k*k) }, CUDA: "x * x / (x * x + y * y)",
		VJP: func(g, z, x, k *ad.Node) (dx, dk *ad.Node) {
			slope := ad.Mul(ad.Mul(z, ad.Sub(ad.Scalar(1), z)), ad.Scale(2, g))
			return ad.Div(slope, x), ad.Neg(ad.Div(slope, k))
		}, Domain: ad.Interval{Lo: 0.5, Hi: 3}}.Define()
	textlessOp = ad.Unary{Name: "test_textless", CPU: math.Cbrt, Domain: ad.Interval{Lo: 1, Hi: 2}}.Define()
)

func TestOperationOfTheExample(t *testing.T) { checkXExp(t) }

// A definition from outside passes the checks of ours, computes on a device, and is refused where it is not
// whole or where its name is taken.
func TestOperationsOfOnesOwn(t *testing.T) {
	gradtest.Op(t, hillOp)
	t.Run("C text", func(t *testing.T) { gradtest.HostC(t, []*ad.Op{hillOp}) })
	x := ad.Input("x", 4)
	v, err := ad.Eval(hillOp.Apply(ad.Const([]float64{1, 2}, 2), ad.Scalar(2)))
	if err != nil || v[0].Float64s()[0] != 0.2 || v[0].Float64s()[1] != 0.5 {
		t.Errorf("%v: %v", v, err)
	}
	for name, define := range map[string]func(){
		`"test_hill" already`: func() { ad.Unary{Name: "test_hill", CPU: math.Sin}.Define() },
		`"exp" already`:       func() { ad.Unary{Name: "exp", CPU: math.Sin}.Define() },
		"lacks its name":      func() { ad.Unary{CPU: math.Sin}.Define() },
		`"empty" lacks`:       func() { ad.Ternary{Name: "empty"}.Define() },
	} {
		func() {
			defer func() {
				if r := fmt.Sprint(recover()); !strings.Contains(r, name) {
					t.Errorf("%s: %s", name, r)
				}
			}()
			define()
		}()
	}
	pretend.Shared(t)
	p, err := ad.Compile([]*ad.Node{ad.Sum(hillOp.Apply(x, ad.Scalar(2)))}, ad.Settings{Backend: ad.CUDA{Strict: true}})
	if err != nil {
		t.Fatal(err)
	}
	st := p.NewState()
	if err := errors.Join(st.SetInput(0, []float64{1, 2, 1, 2}), st.Run()); err != nil || math.Abs(st.Output(0)[0]-1.4) > 1e-12 {
		t.Errorf("on the device %v, want 1.4: %v", st.Output(0), err)
	}
	if _, err := ad.Compile([]*ad.Node{textlessOp.Apply(x)}, ad.Settings{Backend: ad.CUDA{}}); err == nil || !strings.Contains(err.Error(), `"test_textless" has no CUDA text`) {
		t.Errorf("without CUDA text: %v", err)
	}
}

// calls counts the calls of kernels in both precisions.
var calls [2]int

var (
	cubeOp = ad.Unary{Name: "test_cube", CPU: func(x float64) float64 { return x * x * x }, CUDA: "x * x * x",
		VJP:    func(g, _, x *ad.Node) *ad.Node { return ad.Mul(g, ad.Scale(3, ad.Square(x))) },
		Domain: ad.Interval{Lo: -2, Hi: 2},
		Kernel: func(y, x []float64) {
			calls[0]++
			for i, v := range x {
				y[i] = v * v * v
			}
		},
		Kernel32: func(y, x []float32) {
			calls[1]++
			for i, v := range x {
				y[i] = v * v * v
			}
		}}.Define()
	ratioOp = ad.Binary{Name: "test_ratio", CPU: func(x, y float64) float64 { return x / (x + y) }, Domain: ad.Interval{Lo: 1, Hi: 2},
		Kernel: func(z, x, y []float64) {
			for i, v := range x {
				z[i] = v / (v + y[i])
			}
		}}.Define()
	blendOp = ad.Ternary{Name: "test_blend", CPU: func(x, y, z float64) float64 { return x + z*(y-x) }, Domain: ad.Interval{Lo: 0, Hi: 1},
		Kernel: func(w, x, y, z []float64) {
			for i, v := range x {
				w[i] = v + z[i]*(y[i]-v)
			}
		}}.Define()
)

// Programs call the kernels of definitions, and Kernel compares them with the CPU function.
func TestKernelsOfOnesOwn(t *testing.T) {
	gradtest.Op(t, cubeOp)
	for _, op := range []*ad.Op{cubeOp, ratioOp, blendOp} {
		gradtest.Kernel(t, op, 1e-14, 1e-6)
	}
	if calls[0] == 0 || calls[1] == 0 {
		t.Errorf("kernels were called %v times", calls)
	}
	// A number beside an array, and a second operation on the result in the same loop.
	v, err := ad.Eval(ad.Neg(ratioOp.Apply(ad.Const([]float64{1, 3}, 2), ad.Scalar(1))))
	if got := v[0].Float64s(); err != nil || got[0] != -0.5 || got[1] != -0.75 {
		t.Errorf("%v: %v", got, err)
	}
}

// All elementwise operations of ours compute in loops what their CPU functions do.
func TestKernel(t *testing.T) {
	for _, op := range ad.Ops() {
		if op.IsElementwise() && !strings.HasPrefix(op.Name, "test_") {
			t.Run(op.Name, func(t *testing.T) { gradtest.Kernel(t, op, 1e-12, 2e-5) })
		}
	}
}
