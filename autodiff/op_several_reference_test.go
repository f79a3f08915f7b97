// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff_test

import (
	"archive/zip"
	"fmt"
	"io"
	"math"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// severalRow is a point with the references of testdata/several.py: the arguments, and the value, the gradient and the
// second derivatives (row by row up to the diagonal), with how far each moves, relative to itself, for a relative change of
// 1 of all arguments. Infinite moves say that the number is 0 or that there is none.
type severalRow struct {
	at, want, moves []float64
}

// Special functions of several arguments and their first and second derivatives agree with testdata/several.zip, which
// testdata/several.py made.
func TestSeveralReference(t *testing.T) {
	for name, rows := range severalReference(t) {
		t.Run(name, func(t *testing.T) {
			if thorough && len(rows) < 2000 {
				t.Errorf("there are %d points: want 2,000", len(rows))
			}
			for _, bits := range []int{64, 32} {
				compareSeveral(t, operation(t, name), rows, bits)
			}
		})
	}
}

func operation(t *testing.T, name string) *ad.Op {
	t.Helper()
	for _, op := range standard {
		if op.Name == name {
			return op
		}
	}
	t.Fatalf("there is no operation %s", name)
	return nil
}

// elsewhere says which other tests hold the digits of the operations of several arguments that have no rows in several.zip
// and are no derivatives of those that have.
var elsewhere = map[string][]string{
	"arithmetic, comparisons and choices, which round once or not at all (TestBinaryGoldens)": {"barrier", "add", "sub", "mul", "div", "less", "less_equal", "greater", "greater_equal",
		"equal", "not_equal", "where", "maximum", "minimum", "fmax", "fmin", "fmod", "floor_mod", "cmul", "cscale", "cdot", "delay"},
	"the function of Faddeeva (TestFaddeeva)":                                     {"faddeeva_re", "faddeeva_im"},
	"norms, whose rows are of any scale (TestNormsOfRows, TestNormsAtZeroAndFar)": {"root_of_squares"},
	"sums of products, places and systems of equations (goldens of arrays and of linear algebra)": {"banded_matvec", "banded_outer", "conv2d", "conv2d_images", "conv2d_filters", "convolve", "convolve_taps", "cubic", "cubic_back",
		"gather", "scatter_add", "take_along", "scatter_along", "sparse_along", "matmul", "cholesky_grad", "solve", "solve_triangular", "solve_tridiagonal",
		"linear_marginal_chi", "linear_marginal_sum", "linear_marginal_fit", "linear_marginal_solve", "linear_marginal_leverage", "linear_marginal_project"},
}

// An operation of several arguments has rows in several.zip, or is a first derivative of one that has them, whose second
// derivatives test its own, or it is said what holds its digits instead.
func TestEveryOperationHasAReference(t *testing.T) {
	held, derived := map[string]bool{}, map[string]bool{}
	for _, names := range elsewhere {
		for _, n := range names {
			held[n] = true
		}
	}
	rows := severalReference(t)
	for name := range rows {
		op := operation(t, name)
		in := make([]*ad.Node, op.Arity)
		for k := range in {
			in[k] = ad.Input("x", 1)
		}
		operationsOf(ad.Grad(op.Apply(in...), in...), derived)
	}
	for _, op := range standard {
		if op.Arity < 2 {
			continue
		}
		if _, ok := rows[op.Name]; ok == held[op.Name] && !(derived[op.Name] && !ok) {
			t.Errorf("%s has rows in several.zip: %t, is held elsewhere: %t; want one of them: see TABLE in testdata/several.py", op.Name, ok, held[op.Name])
		}
		delete(held, op.Name)
	}
	for name := range held {
		t.Errorf("there is no operation %s", name)
	}
}

// operationsOf adds the names of all operations of a graph to all.
func operationsOf(nodes []*ad.Node, all map[string]bool) {
	for _, n := range nodes {
		if n.Op() != nil {
			all[n.Op().Name] = true
		}
		operationsOf(n.In(), all)
	}
}

// severalTolerance is relative, in float64 and in float32, whose results are rounded and whose arguments are exact, for
// the value and first derivatives; second ones are compared in float64 only. The test adds how far severalInput
// roundings of the arguments move the result. Powers and integrals by quadrature lose a few hundred roundings of float64.
var severalTolerance = map[int][3]float64{64: {2e-12, 2e-12, 2e-7}, 32: {4e-6, 4e-6, 4e-5}}

const severalInput = 32

// severalResolution is what first and second derivatives need not tell about the change of the result for relative changes
// of the arguments: of logarithms of probabilities by itself, of other results relative to them.
var severalResolution = map[int][3]float64{64: {0, 1e-13, 1e-9}, 32: {0, 1e-6, 0}}

// largestForSecond is the largest argument at which second derivatives are compared: with respect to shapes above it they
// are what is left of terms that nearly cancel.
const largestForSecond = 1e6

// noLogarithms are results that are relative to themselves.
var noLogarithms = []string{"hypot", "atan2", "pow", "logaddexp"}

// looser are larger tolerances in float64.
var looser = map[string]float64{
	"log_bessel_i_scaled": 5e-11, // its slope is a ratio less its asymptote
	"partial_moment_gain": 2e-11, // the mean of log y where the integral barely exists
}

// compareSeveral compares values and derivatives; in float32 those of points that float32 has.
func compareSeveral(t *testing.T, op *ad.Op, rows []severalRow, bits int) {
	unit, least, most := 0x1p-53, 1e-300, 1e300
	if bits == 32 {
		unit, least, most = 0x1p-24, 1e-37, 1e37
		rows = slices.DeleteFunc(slices.Clone(rows), func(r severalRow) bool {
			return slices.ContainsFunc(r.at, func(v float64) bool { return float64(float32(v)) != v })
		})
	}
	values, in := make([][]float64, op.Arity), make([]*ad.Node, op.Arity)
	for k := range in {
		in[k] = ad.Input("x", len(rows))
		for _, r := range rows {
			values[k] = append(values[k], r.at[k])
		}
	}
	y := op.Apply(in...)
	first := ad.Grad(y, in...)
	outputs, along := append([]*ad.Node{y}, first...), make([][]int, 1+op.Arity) // the arguments of each derivative
	for i, g := range first {
		along[1+i] = []int{i}
		if bits == 32 {
			continue
		}
		for j := range i + 1 {
			outputs, along = append(outputs, ad.Grad(g, in[j])[0]), append(along, []int{i, j})
		}
	}
	got := results(t, way{bits, "go"}, outputs, in, values)
	for k := range outputs {
		order := len(along[k])
		limit := severalTolerance[bits][order]
		if bits == 64 {
			limit = max(limit, looser[op.Name])
		}
		bad, worst, at := 0, 0.0, ""
		for i, r := range rows {
			want, moves := r.want[k], r.moves[k]
			if order == 2 && slices.ContainsFunc(r.at, func(v float64) bool { return math.Abs(v) > largestForSecond }) {
				continue
			}
			if size := math.Abs(want); math.IsInf(moves, 0) || size < least || size > most || order > 0 && severalInput*unit*moves > 0.1 {
				continue
			}
			floor := severalResolution[bits][order] * math.Abs(r.want[0])
			if !slices.Contains(noLogarithms, op.Name) {
				floor = max(floor, severalResolution[bits][order])
			}
			for _, a := range along[k] {
				floor /= math.Abs(r.at[a])
			}
			if order == 2 { // what the second derivative of the probability itself tells
				floor = max(floor, 1e-13*math.Abs(r.want[1+along[k][0]]*r.want[1+along[k][1]]))
			}
			d := math.Abs(got[k][i]-want) / math.Abs(want)
			if d <= limit+severalInput*unit*moves+floor/math.Abs(want) {
				continue
			}
			if bad++; !(d <= worst) {
				worst, at = d, fmt.Sprintf("at %.17g: %.17g, want %.17g", r.at, got[k][i], want)
			}
		}
		if bad > 0 {
			t.Errorf("%s, float%d, output %d: %d of %d points are off, the worst by %.2g: %s", op.Name, bits, k, bad, len(rows), worst, at)
		}
	}
}

// severalReference returns the rows of each operation.
func severalReference(t *testing.T) map[string][]severalRow {
	t.Helper()
	all := map[string][]severalRow{}
	arity := func(name string) int { return operation(t, name).Arity }
	widths := func(name string) (w []int) {
		n := arity(name)
		w = append(slices.Repeat([]int{8}, n), slices.Repeat([]int{7, 1}, 1+n)...)
		return append(w, slices.Repeat([]int{5, 1}, n*(n+1)/2)...)
	}
	for name, columns := range referenceColumns(t, "testdata/several.zip", widths) {
		n := arity(name)
		rows := make([]severalRow, len(columns[0]))
		for k, c := range columns {
			for i, v := range c {
				switch r := &rows[i]; {
				case k < n:
					r.at = append(r.at, v)
				case (k-n)%2 == 0:
					r.want = append(r.want, v)
				default:
					r.moves = append(r.moves, math.Ldexp(1, int(math.Float64bits(v)>>56)))
				}
			}
		}
		for _, r := range rows {
			for k, v := range r.moves {
				if v == 0x1p255 {
					r.moves[k] = math.Inf(1)
				}
			}
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
