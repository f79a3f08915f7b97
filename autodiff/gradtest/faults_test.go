// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gradtest

import (
	"errors"
	"math"
	"os"
	"os/exec"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// Kernels that are wrong only where the result is stored in an input's memory are found, and so are those that write to
// their inputs.
func TestKernelFindsFaults(t *testing.T) {
	domain := ad.Interval{Lo: 0.5, Hi: 1}
	inPlace := ad.Unary{Name: "test_two_passes", CPU: func(x float64) float64 { return x * math.Exp(x) }, Domain: domain,
		Kernel: func(y, x []float64) {
			for i, v := range x {
				y[i] = math.Exp(v)
			}
			for i, v := range x {
				y[i] *= v
			}
		}}.Define()
	overwrites := ad.Binary{Name: "test_overwrites", CPU: func(x, y float64) float64 { return x + y }, Domain: domain,
		Kernel: func(z, x, y []float64) {
			for i := range x {
				x[i] += y[i]
				z[i] = x[i]
			}
		}}.Define()
	values := [][]float64{{0.5, 0.6, 0.7, 0.8}, {0.9, 0.8, 0.7, 0.6}}
	if err := kernel(inPlace, values[:1], evaluated(inPlace, values[:1]), 64, 1e-14, -1); err != nil {
		t.Errorf("alone the kernel is right: %v", err)
	}
	for _, op := range []*ad.Op{inPlace, overwrites} {
		var found string
		for last := -1; last <= op.Arity; last++ {
			if err := kernel(op, values[:op.Arity], evaluated(op, values), 64, 1e-14, last); err != nil {
				found += err.Error() + "\n"
			}
		}
		if !strings.Contains(found, "memory of an input") && !strings.Contains(found, "must not write to its inputs") {
			t.Errorf("%s: nothing was found: %q", op.Name, found)
		}
	}
}

// A tangent of the wrong sign, one that panics and one that is right.
func TestAlongFindsTangents(t *testing.T) {
	for want, factor := range map[string]float64{"": 2, "derivative along": -2, "no tangent": 0} {
		c := &ad.Custom{Name: "double", Shape: func(in ...tensor.Shape) (tensor.Shape, error) { return in[0], nil },
			Forward: func(out []float64, in ...[]float64) error {
				for i, x := range in[0] {
					out[i] += 2 * x // results are zero at first
				}
				return nil
			},
			Adjoint: func(dIn [][]float64, g, _ []float64, _ ...[]float64) error {
				for i, v := range g {
					dIn[0][i] += 2 * v
				}
				return nil
			},
			Tangent: func(dOut []float64, dIn [][]float64, _ []float64, _ ...[]float64) error {
				if factor == 0 {
					panic("no tangent")
				}
				for i, v := range dIn[0] {
					dOut[i] += factor * v
				}
				return nil
			}}
		x := ad.Input("x", 3)
		y := ad.Sum(ad.Exp(ad.Call(c, x)))
		values := [][]float64{{0.1, 0.2, 0.3}}
		if factor == 2 {
			Check(t, "double", y, []*ad.Node{x}, values, false)
		}
		err := along("double", y, []*ad.Node{x}, values)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("factor %g: %v", factor, err)
		}
		c.Adjoint, c.Tangent = nil, nil
		if err := along("double", y, []*ad.Node{x}, values); !errors.Is(err, ad.ErrNoGradient) {
			t.Error(err)
		}
		if _, err := ad.Compile(ad.Grad(y, x), ad.Settings{Inputs: []*ad.Node{x}}); err == nil || !strings.Contains(err.Error(), "no gradient") || !strings.Contains(err.Error(), "double") {
			t.Errorf("gradient of an operation without one: %v", err)
		}
	}
}

// Arguments of Check that do not fit each other are reported as such, among them an input that is left out, which
// would be 0 in both gradients.
func TestCheckRefusesItsArguments(t *testing.T) {
	x, z := ad.Input("x", 2), ad.Input("z")
	two := [][]float64{{1, 2}}
	for want, c := range map[string]struct {
		y      *ad.Node
		values [][]float64
	}{
		"": {ad.Sum(ad.Square(x)), two},
		"y also depends on the input z of the shape []: list it in inputs":                      {ad.Sum(ad.Mul(z, ad.Square(x))), two},
		"y has the shape [2]: want a scalar":                                                    {ad.Square(x), two},
		"the input x has the shape [2], but was given 1 value: give one":                        {ad.Sum(x), [][]float64{{1}}},
		"there are values for 0 inputs: want them for each of the inputs, of which there are 1": {ad.Sum(x), nil},
		"is nil: give Nodes": {nil, two},
	} {
		if err := misused(c.y, []*ad.Node{x}, c.values); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
	square := ad.Square(x)
	if s := suspect(square); s != "check VJP" {
		t.Error(s)
	}
}

// The C compiler's complaint is attributed to the operation whose text is at fault.
func TestCompileCNamesTheOperation(t *testing.T) {
	if os.Getenv("EURYALE_TEST_FAULTY") != "" {
		one := ad.Interval{Lo: 1, Hi: 2}
		right := ad.Unary{Name: "test_right", CPU: math.Sqrt, CUDA: "sqrt(x)", Domain: one}.Define()
		wrong := ad.Unary{Name: "test_wrong_text", CPU: math.Sqrt, CUDA: "x ** 0.5", Domain: one}.Define()
		none := ad.Unary{Name: "test_no_text", CPU: math.Sqrt, Domain: one}.Define()
		everywhere := ad.Unary{Name: "test_no_domain", CPU: math.Sqrt, CUDA: "sqrt(x)"}.Define()
		t.Run("text", func(t *testing.T) { HostC(t, []*ad.Op{right, wrong, none}) })
		t.Run("domain", func(t *testing.T) { HostC(t, []*ad.Op{right, everywhere}) })
		return
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip("lacks a C compiler, cc")
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestCompileCNamesTheOperation$")
	cmd.Env = append(os.Environ(), "EURYALE_TEST_FAULTY=1")
	out, _ := cmd.CombinedOutput()
	for _, want := range []string{`test_wrong_text: the C compiler refuses its CUDA expression "x ** 0.5"`, "test_no_text has no CUDA expression", "test_no_domain has the Domain 0 to 0"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("want %q in %s", want, out)
		}
	}
	if strings.Contains(string(out), "test_right: ") {
		t.Errorf("a right operation is blamed: %s", out)
	}
}
