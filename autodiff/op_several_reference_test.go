// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"archive/zip"
	encoding "encoding/binary"
	"fmt"
	"io"
	"math"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// severalTolerance is relative, in float64 and in float32, whose results are rounded and whose arguments are exact. The
// reference adds for some rows how many roundings of an argument the result cannot tell apart. Powers and integrals by
// quadrature lose a few hundred roundings of float64.
const severalTolerance, severalTolerance32 = 2e-12, 4e-6

// Special functions of several arguments and their first derivatives agree with testdata/several.zip, which
// testdata/several.py made.
func TestSeveralReference(t *testing.T) {
	for name, rows := range severalReference(t) {
		t.Run(name, func(t *testing.T) {
			var op *ad.Op
			for _, o := range ad.Ops() {
				if o.Name == name {
					op = o
				}
			}
			if op == nil {
				t.Fatalf("there is no operation %s", name)
			}
			for _, bits := range []int{64, 32} {
				compareSeveral(t, op, rows, bits)
			}
		})
	}
}

// elsewhere says which other tests hold the digits of the operations of several arguments that have no rows in several.zip.
var elsewhere = map[string][]string{
	"arithmetic, comparisons and choices, which round once or not at all (TestBinaryGoldens)": {"barrier", "add", "sub", "mul", "div", "less", "less_equal", "greater", "greater_equal",
		"equal", "not_equal", "where", "maximum", "minimum", "fmax", "fmin", "fmod", "floor_mod", "cmul", "cscale", "cdot", "delay"},
	"derivatives of functions that have rows": {"log_bessel_i_slope", "bessel_ratio", "log_beta_i_1_0", "log_beta_i_0_1", "beta_hazard", "beta_shape_score", "log_ratio", "log_gamma_p_1", "log_gamma_q_1",
		"gamma_p_hazard", "gamma_q_hazard", "gamma_shape_score", "log_phi_diff_slope", "log_partial_moment_1", "partial_moment_excess", "pow_1_0", "pow_0_1"},
	"densities and tails of distributions (infer/dist, random points)": {"bernoulli_loglik", "bernoulli_score", "log_beta_density", "log_f_density", "f_shape_score", "square_fall", "square_fall_slope", "skew_normal_hazard", "skew_normal_slope", "poisson_deviance", "neg_binomial_logprob", "neg_binomial_score", "mills_moment_1",
		"mills_rise_1", "mills_mean_1", "log_mills_drop", "log_mills_mean", "log_mills_part", "partial_moment_gain", "partial_moment_gain_slope"},
	"sums of products, places and systems of equations (goldens of arrays and of linear algebra)": {"banded_matvec", "banded_outer", "conv2d", "conv2d_images", "conv2d_filters", "convolve", "convolve_taps", "cubic", "cubic_back",
		"gather", "scatter_add", "take_along", "scatter_along", "sparse_along", "matmul", "cholesky_grad", "solve", "solve_triangular", "solve_tridiagonal",
		"linear_marginal_chi", "linear_marginal_sum", "linear_marginal_fit", "linear_marginal_solve", "linear_marginal_leverage", "linear_marginal_project"},
}

// An operation of several arguments has rows in several.zip, or it is said what holds its digits instead.
func TestEveryOperationHasAReference(t *testing.T) {
	rows, held := severalReference(t), map[string]bool{}
	for _, names := range elsewhere {
		for _, n := range names {
			held[n] = true
		}
	}
	for _, op := range standard {
		if _, ok := rows[op.Name]; op.Arity > 1 && ok == held[op.Name] {
			t.Errorf("%s has rows in several.zip: %t, is held elsewhere: %t; want one of them", op.Name, ok, held[op.Name])
		}
		delete(held, op.Name)
	}
	for name := range held {
		t.Errorf("there is no operation %s", name)
	}
}

// compareSeveral compares values and derivatives. In float32 it computes those of the numbers that float32 has, and
// skips what moves more than the tolerance when they are rounded.
func compareSeveral(t *testing.T, op *ad.Op, rows [][8]float64, bits int) {
	values, in := make([][]float64, op.Arity), make([]*ad.Node, op.Arity)
	for k := range in {
		in[k] = ad.Input("x", len(rows))
		for _, r := range rows {
			values[k] = append(values[k], r[k])
		}
	}
	y := op.Apply(in...)
	outputs := append([]*ad.Node{y}, ad.Grad(y, in...)...)
	got := results(t, way{bits, "go"}, outputs, in, values)
	for k := range outputs {
		bad, worst, at := 0, 0.0, ""
		for i, r := range rows {
			want := r[3+k]
			limit := severalTolerance + 32*0x1p-53*r[7]
			switch op.Name {
			case "log_bessel_i_scaled":
				limit = 5e-11 // its slope is a ratio less its asymptote
			case "log_partial_moment_0":
				limit = 2e-10 // its slope far out is what is left of two that nearly cancel
			}
			least := 1e-300
			if bits == 32 {
				exact := true
				for _, v := range r[:op.Arity] {
					exact = exact && float64(float32(v)) == v
				}
				if !exact {
					continue
				}
				limit, least = severalTolerance32+32*0x1p-24*r[7], 1e-37
			}
			d := math.Abs(got[k][i]-want) / (math.Abs(want) + least)
			if want != want || math.IsInf(want, 0) || math.Abs(want) < least || d <= limit {
				continue
			}
			if bad++; !(d <= worst) {
				worst, at = d, severalPoint(r, got[k][i], want)
			}
		}
		if bad > 0 {
			t.Errorf("%s, float%d, output %d: %d of %d points are off, the worst by %.2g: %s", op.Name, bits, k, bad, len(rows), worst, at)
		}
	}
}

func severalPoint(r [8]float64, got, want float64) string {
	return fmt.Sprintf("at %.17g: %.17g, want %.17g", r[:3], got, want)
}

// severalReference returns the rows of each operation: three arguments, the value, three derivatives, the slack.
func severalReference(t *testing.T) map[string][][8]float64 {
	t.Helper()
	all := map[string][][8]float64{}
	for name, raw := range archive(t, "testdata/several.zip") {
		rows := make([][8]float64, len(raw)/64)
		if _, err := encoding.Decode(raw, encoding.LittleEndian, rows); err != nil {
			t.Fatal(err)
		}
		all[name] = rows
	}
	return all
}

// archive returns the members of a zip file.
func archive(t *testing.T, path string) map[string][]byte {
	t.Helper()
	z, err := zip.OpenReader(path)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	all := map[string][]byte{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if all[f.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return all
}
