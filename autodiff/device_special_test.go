// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"fmt"
	"math"
	"regexp"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// single are the functions with helpers that a device computes in float where programs are in float32, and the
// numbers at which they are tried: far beyond the domains of other checks.
var single = map[string][][]float64{
	"spherical_j1":       {{-300, -20.5, -1.0001, -1, -0.3, -1e-6, 0, 1e-30, 0.01, 0.99, 1.5, 3, 4.3, 9.7, 1000}},
	"spherical_j2":       {{-300, -20.5, -2.5001, -2.499, -1, -0.3, -1e-6, 0, 0.01, 0.99, 1.5, 3, 4.3, 9.7, 1000}},
	"log_phi_slope":      {{-300, -40, -12, -5, -1.001, -1, -0.3, 0, 0.5, 1, 2, 8}},
	"floor_mod":          {{-7.5, 7.5, 1e6, -1e6, 0, 3, -3}, {2, -2, 0.7, -0.7, 5, 3, 3}},
	"erfcx":              {{-9, -3, -1, -0.1, 0, 1e-10, 0.5, 1, 3, 7.9, 7.99999, 8.00001, 9, 10, 26, 1e4, 1e18}},
	"erfinv":             {{-0.9999, -0.6, -0.5, -0.4999, -0.1, -1e-3, -1e-5, -1e-10, -1e-30, 0, 1e-7, 0.3, 0.501, 0.9, 0.99999}},
	"log_phi":            {{-1e10, -300, -40, -12, -5, -1.001, -1, -0.999, -0.3, 0, 0.5, 1, 2}},
	"log_phi_diff":       {{-1, -30, -0.2, 0.1, -5, 2, -2000, -0.001, -1.2, -8, 3}, {1, -29, 0.2, 0.15, -4.5, 3, -1999.9, 0.002, -1, -7.99, 9}},
	"digamma":            {{1e-20, 1e-3, 0.3, 0.9, 1.4, 1.46, 1.47, 1.6, 2, 3.9, 4, 4.1, 9.9, 12, 300, 1e10, 1e30, -0.3, -0.504, -2.9, -3.001, -3.5, -20.25}},
	"polygamma_1":        {{1e-10, 1e-3, 0.3, 1, 2, 4, 11.9, 12.1, 300, 1e10, 1e20, 1e30, -0.3, -2.9, -3.001, -3.5, -20.25}},
	"polygamma_2":        {{1e-10, 1e-3, 0.3, 1, 2, 4, 11.9, 12.1, 300, 1e10}},
	"bessel_i0e":         {{-300, -20.1, -19.9, -3, -1e-5, 0, 1e-20, 0.5, 1, 5, 10, 19.9, 20.1, 50, 1e6, 1e30}},
	"bessel_i1e":         {{-300, -20.1, -19.9, -3, -1e-5, 0, 1e-20, 0.5, 1, 5, 10, 19.9, 20.1, 50, 1e6, 1e30}},
	"bessel_log_i0e":     {{-300, -20.1, -3, -1e-5, 0, 1e-20, 0.5, 0.999, 1.001, 5, 10, 19.9, 20.1, 50, 1e6}},
	"stirling_error_0":   {{1e-30, 1e-5, 0.01, 0.3, 0.5, 0.99, 1, 1.5, 2.99, 3.01, 3.99, 4, 9.9, 10.1, 300, 1e10, 1e30}},
	"stirling_error_1":   {{1e-5, 0.01, 0.3, 0.5, 0.99, 1, 1.5, 2.99, 3.01, 4.99, 5, 9.9, 10.1, 300, 1e10}},
	"exp_remainder_1":    {{-1e10, -80, -3, -1.01, -0.99, -1e-6, 0, 1e-30, 0.3, 0.99, 1.01, 2, 10, 60}},
	"exp_remainder_2":    {{-1e10, -80, -3, -1.51, -1.49, -1e-6, 0, 1e-30, 0.3, 1.49, 1.51, 2, 10, 60}},
	"log_factorial_rest": {{0, 1e-30, 1e-5, 1e-3, 0.01, 0.0999, 0.1001, 0.3, 0.99, 1, 2, 3, 7, 24, 1e6, 1e20}},
	"log_ratio":          {{0.3, 1, 3, 3, 1e-20, 1e20, 5, 2}, {0.31, 1, 2.999, 7, 1e10, 1e-10, 4.9, 1e-5}},
	"poisson_deviance":   {{0, 1, 3, 3, 5, 5, 100, 1e6, 1e6, 1e6, 1e6, 1, 7}, {2.5, 1.3, 3.0001, 3, 6.99, 7.01, 120, 1.4001e6, 6e5, 1.000001e6, 1e-3, 1e20, 1e-20}},
}

// nearZero are functions with zeros, near which float32 keeps 2e-6 as it is rather than of the value.
var nearZero = map[string]bool{"digamma": true, "log_phi_diff": true, "spherical_j1": true, "spherical_j2": true}

// singleProgram returns these functions, and what a program of all of them has as outputs and inputs.
func singleProgram(t *testing.T) (ops []*ad.Op, outs, in []*ad.Node, values [][]float64) {
	t.Helper()
	for _, op := range standard {
		points := single[op.Name]
		if (points != nil) != (op.IsElementwise() && op.Helper != "" && !op.Double) {
			t.Errorf("%s has %d lists of points to be tried in float, though Double is %v", op.Name, len(points), op.Double)
		}
		if points == nil {
			continue
		}
		var x []*ad.Node
		for k, p := range points {
			x = append(x, ad.Input(fmt.Sprint(op.Name, k), len(p)))
		}
		ops, outs, in, values = append(ops, op), append(outs, op.Apply(x...)), append(in, x...), append(values, points...)
	}
	return ops, outs, in, values
}

// Special functions are exact to 2e-6 in programs in float32, in which they are computed in float.
func TestSpecialFunctionsInFloat(t *testing.T) {
	emulated(t)
	ops, outs, in, values := singleProgram(t)
	for k, got := range onDevice(t, outs, in, values, 32) {
		op := ops[k]
		for i, y := range got {
			var at []float64
			for _, p := range single[op.Name] {
				at = append(at, float64(float32(p[i])))
			}
			want := op.Eval(at...)
			d := math.Abs(y - want)
			if float32(y) != float32(want) && !(d <= 2e-6*math.Abs(want)) && !(nearZero[op.Name] && d <= 2e-6) {
				t.Errorf("%s(%v): %.9g, want %.9g within 2e-6", op.Name, at, y, want)
			}
		}
	}
}

// kernelsInFloat returns the kernels of a program of these functions in float32.
func kernelsInFloat(t *testing.T) string {
	t.Helper()
	_, outs, _, _ := singleProgram(t)
	p, err := ad.Compile(outs, ad.Settings{Precision: 32, Backend: ad.CUDA{}})
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(p.Explain(), "\nkernels\n")
	return text
}

// The text of these functions has neither the type double nor a number of that type.
func TestSpecialFunctionsInFloatHaveNoDouble(t *testing.T) {
	emulated(t)
	_, text, found := strings.Cut(kernelsInFloat(t), "eu_min(double a, double b)") // the last line of what stands before all kernels
	_, text, _ = strings.Cut(text, "\n")
	if !found || !strings.Contains(text, "R eu_erfcx(R x)") {
		t.Fatal("the text has no helpers")
	}
	text = strings.ReplaceAll(text, "double *__restrict__ partial", "") // a parameter of every kernel
	double := regexp.MustCompile(`\bdouble\b|(?:^|[^\w.(]|[^R]\()\d+(?:\.\d*|[eE])`)
	for _, line := range strings.Split(text, "\n") {
		if double.MatchString(line) {
			t.Errorf("double in a program in float32: %s", line)
		}
	}
}

// NVIDIA's compiler makes no instruction of float64 of these functions, but for one multiplication in its sine, cosine and
// tangent of angles beyond 105,615 radians.
func TestRealCompilerMakesFloatOfSpecialFunctions(t *testing.T) {
	c := realCompiler(t)
	image, err := c.CompilePTX(rtc.Source{Name: "special.cu", Text: kernelsInFloat(t)}, rtc.Target{Major: 7, Minor: 5})
	if err != nil {
		t.Fatal(err)
	}
	far := regexp.MustCompile(`^\s*(\.reg|cvt\.|mul\.f64 .*0d3BF921FB54442D19)`) // pi/2 2^-64
	for _, line := range strings.Split(string(image.Data), "\n") {
		if strings.Contains(line, ".f64") && !far.MatchString(line) {
			t.Errorf("an instruction of float64: %s", line)
		}
	}
}
