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
	}
	return dist.CovMatrixTransform(k)
}

func TestTransformGoldens(t *testing.T) {
	var all map[string]struct{ Cases []transformCase }
	golden.JSON(t, &all, "inference", "transforms", "transforms.json")
	worst := 0.0
	for name, f := range all {
		for i, c := range f.Cases {
			tr := transformOf(name, c)
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
