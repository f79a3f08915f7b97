// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/golden"
)

type transformCase struct {
	Params []float64
	X, Y   []float64
	LogJ   float64   `json:"log_abs_det_jacobian"`
	GradJ  []float64 `json:"grad_logJ_wrt_x"`
	Ct     []float64 `json:"vjp_cotangent"`
	VJP    []float64 `json:"vjp_wrt_x"`
}

// transformOf makes the transform name for a case.
func transformOf(name string, c transformCase) dist.Transform {
	k := int(math.Round(math.Sqrt(float64(len(c.Y)))))
	p := func(i int) float64 { return c.Params[i] }
	switch name {
	case "identity":
		return dist.IdentityTransform()
	case "lower":
		return dist.LowerTransform(p(0))
	case "upper":
		return dist.UpperTransform(p(0))
	case "interval":
		return dist.IntervalTransform(p(0), p(1))
	case "softplus":
		return dist.SoftplusTransform()
	case "affine":
		return dist.AffineTransform(p(0), p(1))
	case "ordered":
		return dist.OrderedTransform()
	case "positive_ordered":
		return dist.PositiveOrderedTransform()
	case "simplex_stick_breaking":
		return dist.SimplexTransform()
	case "simplex_ilr":
		return dist.SimplexILRTransform()
	case "zero_sum":
		return dist.ZeroSumTransform()
	case "unit_vector":
		return dist.UnitVectorTransform()
	case "corr_cholesky":
		return dist.CorrCholeskyTransform(k)
	case "corr_matrix":
		return dist.CorrMatrixTransform(k)
	case "cholesky_cov":
		return dist.CholeskyCovTransform(k)
	case "cov_matrix":
		return dist.CovMatrixTransform(k)
	}
	return dist.Transform{}
}

func TestTransformGoldens(t *testing.T) {
	var all map[string]struct{ Cases []transformCase }
	golden.JSON(t, &all, "inference", "transforms", "transforms.json")
	worst := 0.0
	for name, f := range all {
		for i, c := range f.Cases {
			tr := transformOf(name, c)
			if tr.Constrain == nil {
				t.Logf("not compared: this test has no transform %s", name)
				break
			}
			x := ad.Input("x", len(c.X))
			y, logJ := tr.Constrain(x)
			w := ad.Input("w", len(c.Y))
			p, err := ad.Compile([]*ad.Node{y, logJ, ad.Grad(logJ, x)[0], ad.VJP(y, w, x)[0]}, ad.Settings{Inputs: []*ad.Node{x, w}})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			s := p.NewState()
			copy(s.Input(0), c.X)
			copy(s.Input(1), c.Ct)
			if err := s.Run(); err != nil {
				t.Fatal(err)
			}
			for k, pair := range [][2][]float64{{s.Output(0), c.Y}, {s.Output(1), {c.LogJ}}, {s.Output(2), c.GradJ}, {s.Output(3), c.VJP}} {
				scale := 0.0
				for _, v := range pair[1] {
					scale = max(scale, math.Abs(v))
				}
				if scale == 0 {
					scale = 1e3
				}
				for e, want := range pair[1] {
					d := math.Abs(pair[0][e]-want) / max(math.Abs(want), 1e-3*scale, 1e-300)
					worst = max(worst, d)
					if !(d <= 1e-12) {
						t.Errorf("%s case %d output %d element %d: %.17g, want %.17g", name, i, k, e, pair[0][e], want)
					}
				}
			}
			back, err := tr.Inverse(c.Y, c.Params...)
			if err != nil { // rounding put the image on the bound
				continue
			}
			for e := range back {
				if name != "unit_vector" && math.Abs(c.X[e]) < 20 && math.Abs(back[e]-c.X[e]) > 1e-6*max(1, math.Abs(c.X[e])) {
					t.Errorf("%s case %d: inverse[%d] = %g, want %g", name, i, e, back[e], c.X[e])
				}
			}
		}
	}
	t.Logf("largest deviation %.1e", worst)
}

func TestInverseNamesWhatIsOutside(t *testing.T) {
	for _, c := range []struct {
		tr dist.Transform
		y  []float64
		b  []float64
	}{
		{dist.LowerTransform(0), []float64{1, 0}, []float64{0}},
		{dist.IntervalTransform(0, 1), []float64{0.5, 1}, []float64{0, 1}},
		{dist.OrderedTransform(), []float64{1, 1}, nil},
		{dist.SimplexTransform(), []float64{0.5, 0.2}, nil},
		{dist.CorrMatrixTransform(2), []float64{1, 2, 2, 1}, nil},
	} {
		if _, err := c.tr.Inverse(c.y, c.b...); err == nil || !strings.HasPrefix(err.Error(), "dist: ") {
			t.Errorf("%s: %v", c.tr.Name, err)
		}
	}
}

// everyTransform lists all, with a shape of one y.
func everyTransform() map[string]struct {
	tr    dist.Transform
	shape []int
} {
	type entry = struct {
		tr    dist.Transform
		shape []int
	}
	return map[string]entry{
		"identity": {dist.IdentityTransform(), []int{}}, "lower": {dist.LowerTransform(-1), []int{}}, "upper": {dist.UpperTransform(2), []int{}},
		"interval": {dist.IntervalTransform(-1, 2), []int{}}, "softplus": {dist.SoftplusTransform(), []int{}}, "affine": {dist.AffineTransform(1, 3), []int{}}, "sinh": {dist.SinhTransform(1, -3, 2), []int{}},
		"ordered": {dist.OrderedTransform(), []int{4}}, "positive_ordered": {dist.PositiveOrderedTransform(), []int{4}},
		"simplex_stick_breaking": {dist.SimplexTransform(), []int{4}}, "simplex_ilr": {dist.SimplexILRTransform(), []int{4}}, "zero_sum": {dist.ZeroSumTransform(), []int{4}},
		"unit_vector": {dist.UnitVectorTransform(), []int{3}}, "corr_cholesky": {dist.CorrCholeskyTransform(0), []int{3, 3}}, "corr_matrix": {dist.CorrMatrixTransform(0), []int{3, 3}},
		"cholesky_cov": {dist.CholeskyCovTransform(0), []int{3, 3}}, "cov_matrix": {dist.CovMatrixTransform(0), []int{3, 3}},
	}
}

// The Jacobian of a map of numbers is its derivative.
func TestJacobiansOfNumbers(t *testing.T) {
	for name, c := range everyTransform() {
		if len(c.shape) > 0 {
			continue
		}
		for _, x := range []float64{-30, -2, 0, 0.3, 5, 25} {
			h := 1e-5
			at := func(x float64) float64 { y, _ := c.tr.Constrain(ad.Scalar(x)); return value(t, y)[0] }
			slope := math.Abs(at(x+h)-at(x-h)) / (2 * h)
			_, j := c.tr.Constrain(ad.Scalar(x))
			if got := math.Exp(value(t, j)[0]); math.Abs(got-slope) > 1e-6*(slope+math.Abs(at(x))*1e-4) {
				t.Errorf("%s at %g: Jacobian %g, slope %g", name, x, got, slope)
			}
		}
	}
}

// bounds evaluates what Unconstrain wants of a transform of constants.
func bounds(t *testing.T, tr dist.Transform) (out [][]float64) {
	for _, b := range tr.Bounds {
		out = append(out, value(t, b))
	}
	return out
}

// Batches map as their rows do, and Unconstrain brings arrays back.
func TestTransformsOfBatches(t *testing.T) {
	for name, c := range everyTransform() {
		shape := append([]int{2, 3}, c.shape...)
		free, err := c.tr.FreeShape(shape...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n := 1
		for _, k := range free {
			n *= k
		}
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Sin(float64(3*i + 1))
		}
		y, logJ := c.tr.Apply(ad.Const(x, free...), shape...)
		flat, total := value(t, y), value(t, logJ)[0]
		each, rows := n/6, 0.0
		for b := range 6 {
			var one *ad.Node
			if len(c.shape) == 0 {
				one = ad.Scalar(x[b])
			} else {
				one = ad.Const(x[b*each : (b+1)*each])
			}
			v, j := c.tr.Apply(one, c.shape...)
			rows += value(t, j)[0]
			for e, w := range value(t, v) {
				if got := flat[b*len(flat)/6+e]; math.Abs(got-w) > 1e-14 {
					t.Errorf("%s: element %d of row %d is %g, alone %g", name, e, b, got, w)
				}
			}
		}
		if !close(total, rows, 1e-13) {
			t.Errorf("%s: log Jacobian %g, of rows %g", name, total, rows)
		}
		back, err := c.tr.Unconstrain(flat, shape, 0, bounds(t, c.tr)...)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		again, _ := c.tr.Apply(ad.Const(back, free...), shape...)
		for i, v := range value(t, again) {
			if math.Abs(v-flat[i]) > 1e-12 {
				t.Errorf("%s: back and forth, element %d is %g, was %g", name, i, v, flat[i])
			}
		}
	}
}

// What lies on a border is an error, unless it may be nudged inside.
func TestNudgedInside(t *testing.T) {
	for name, c := range map[string]struct {
		tr dist.Transform
		y  []float64
		s  []int
	}{
		"lower": {dist.LowerTransform(1), []float64{1, 0.5}, []int{2}}, "upper": {dist.UpperTransform(1e200), []float64{1e200}, []int{1}},
		"interval": {dist.IntervalTransform(0, 1e-300), []float64{0, 1e-300}, []int{2}}, "softplus": {dist.SoftplusTransform(), []float64{0}, []int{1}},
		"ordered": {dist.OrderedTransform(), []float64{1, 1, 0}, []int{3}}, "positive ordered": {dist.PositiveOrderedTransform(), []float64{0, 0}, []int{2}},
		"simplex": {dist.SimplexTransform(), []float64{1, 0, 0, 0.5, 0.5, 0}, []int{2, 3}}, "ilr": {dist.SimplexILRTransform(), []float64{0, 1}, []int{2}},
		"zero sum": {dist.ZeroSumTransform(), []float64{1, 0}, []int{2}}, "unit vector": {dist.UnitVectorTransform(), []float64{1, 1}, []int{2}},
		"corr cholesky": {dist.CorrCholeskyTransform(2), []float64{1, 0, 1, 0}, []int{2, 2}}, "corr matrix": {dist.CorrMatrixTransform(2), []float64{1, 1, 1, 1}, []int{2, 2}},
		"cholesky cov": {dist.CholeskyCovTransform(2), []float64{1, 0, 1, 0}, []int{2, 2}}, "cov matrix": {dist.CovMatrixTransform(2), []float64{1, 1, 1, 1}, []int{2, 2}},
	} {
		b := bounds(t, c.tr)
		if _, err := c.tr.Unconstrain(c.y, c.s, 0, b...); err == nil {
			t.Errorf("%s: no error for %v", name, c.y)
		}
		x, err := c.tr.Unconstrain(c.y, c.s, 1e-8, b...)
		if err != nil {
			t.Errorf("%s: nudged: %v", name, err)
			continue
		}
		for _, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("%s: nudged to %v", name, x)
			}
		}
	}
	tr := dist.SimplexTransform()
	if _, err := tr.Unconstrain([]float64{1}, []int{2}, 0); err == nil {
		t.Error("too few values: no error")
	}
	if _, err := dist.CorrMatrixTransform(2).FreeShape(2, 3); err == nil {
		t.Error("not square: no error")
	}
	if _, err := tr.FreeShape(); err == nil {
		t.Error("a number for a vector: no error")
	}
	if y, _ := dist.CholeskyCovTransform(3).Constrain(ad.Input("x", 4)); y.Err() == nil {
		t.Error("4 numbers for a 3 x 3 triangle: no error")
	}
}

// Every distribution's default transform leads into its support.
func TestDefaultTransformsOfLaws(t *testing.T) {
	for _, l := range dist.All() {
		d := l.New(l.At[0]...)
		tr := d.Transform()
		shape := append([]int{3}, l.Value...)
		if d.Discrete {
			continue
		}
		free, err := tr.FreeShape(shape...)
		if err != nil {
			t.Errorf("%s: %v", l.Name, err)
			continue
		}
		n := 1
		for _, k := range free {
			n *= k
		}
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Cos(float64(2*i + 1))
		}
		y, _ := tr.Apply(ad.Const(x, free...), shape...)
		for _, lp := range value(t, d.LogProb(y)) {
			if math.IsInf(lp, 0) || math.IsNaN(lp) {
				t.Errorf("%s: log density %g at %v", l.Name, lp, value(t, y))
			}
		}
	}
}
