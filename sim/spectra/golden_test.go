// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	goldennpy "github.com/euryale-dev/euryale/internal/golden/npy"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// npy reads an array of reals of the reference as float64.
func npy(t testing.TB, elem ...string) ([]float64, []int) {
	t.Helper()
	return goldennpy.Read(t, append([]string{"spectra"}, elem...)...)
}

// eval computes Nodes.
func eval(t testing.TB, nodes ...*ad.Node) [][]float64 {
	t.Helper()
	p, err := ad.Compile(nodes, ad.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s := p.NewState()
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	out := make([][]float64, len(nodes))
	for i := range nodes {
		out[i] = s.OutputFloat64(i)
	}
	return out
}

// near fails unless got is want within tol times the largest |want|.
func near(t testing.TB, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: %d elements, want %d", what, len(got), len(want))
		return
	}
	top := 0.0
	for _, w := range want {
		top = max(top, math.Abs(w))
	}
	worst, at := 0.0, 0
	for i, w := range want {
		if d := math.Abs(got[i] - w); !(d <= worst) {
			worst, at = d, i
		}
	}
	if !(worst <= tol*top) {
		t.Errorf("%s: element %d is %.17g, want %.17g: off by %.3g of the largest, want %g", what, at, got[at], want[at], worst/top, tol)
	}
}

func TestSplineGolden(t *testing.T) {
	var f struct {
		Cases []struct {
			Name      string
			Log       bool `json:"log_step"`
			X, Y, XE  []float64
			Value     []float64
			Ref       []float64 `json:"value_ref"`
			First     []float64 `json:"dvalue_dx"`
			Second    []float64 `json:"d2value_dx2"`
			Knots     []float64 `json:"second_derivs"`
			Cotangent []float64
			VJP       []float64 `json:"vjp_y"`
		}
	}
	golden.JSON(t, &f, "spectra", "spline/spline_cases.json")
	for _, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) {
			g, err := spectra.NewGrid(c.X, c.Log)
			if err != nil {
				t.Fatal(err)
			}
			p, err := g.At(c.XE)
			if err != nil {
				t.Fatal(err)
			}
			y := ad.Input("y", len(c.Y))
			v := p.Derivative(y, 0)
			prog, err := ad.Compile([]*ad.Node{v, p.Derivative(y, 1), p.Derivative(y, 2), g.Spline(y), ad.VJP(v, ad.Const(c.Cotangent), y)[0]}, ad.Settings{})
			if err != nil {
				t.Fatal(err)
			}
			s := prog.NewState()
			if err := errors.Join(s.SetInput(0, c.Y), s.Run()); err != nil {
				t.Fatal(err)
			}
			near(t, "value", s.Output(0), c.Value, 1e-12)
			near(t, "slope", s.Output(1), c.First, 1e-11)
			near(t, "second derivative", s.Output(2), c.Second, 1e-11)
			z := s.OutputFloat64(3)
			for i := range z {
				h := c.X[min(i+1, len(c.X)-1)] - c.X[min(i, len(c.X)-2)]
				if i < len(z)-1 {
					z[i] *= 6 / (h * h)
				}
			}
			near(t, "knots", z, c.Knots, 1e-11)
			near(t, "adjoint", s.Output(4), c.VJP, 1e-12)
		})
	}
}

func TestSplineErrorsGolden(t *testing.T) {
	var cases []struct {
		Case   string
		First  float64 `json:"x_first"`
		Last   float64 `json:"x_last"`
		N      int
		XE     []float64
		Log    bool `json:"log_step"`
		Status int
	}
	golden.JSON(t, &cases, "spectra", "spline/spline_errors.json")
	for _, c := range cases {
		x := make([]float64, c.N)
		for i := range x {
			f := float64(i) / float64(c.N-1)
			linear := c.Log == (c.Status == -2)
			if x[i] = c.First + f*(c.Last-c.First); !linear {
				x[i] = c.First * math.Pow(c.Last/c.First, f)
			}
		}
		x[c.N-1] = c.Last
		g, err := spectra.NewGrid(x, c.Log)
		var grid *spectra.GridError
		var coverage *spectra.CoverageError
		if err == nil {
			_, err = g.At(c.XE)
		}
		switch {
		case c.Status == 0 && err != nil, c.Status == -1 && !errors.As(err, &coverage), c.Status == -2 && !errors.As(err, &grid):
			t.Errorf("%s: got %v, want status %d", c.Case, err, c.Status)
		}
	}
}

func TestRotationKernelGolden(t *testing.T) {
	var f struct {
		Cases []struct {
			R, Eps float64
			Kernel []float64
			Slope  []float64 `json:"dkernel_dR"`
		}
	}
	golden.JSON(t, &f, "spectra", "vsini/kernels.json")
	for _, c := range f.Cases {
		r := ad.Scalar(c.R)
		reach := len(c.Kernel) / 2
		w := spectra.RotationKernel(r, ad.Scalar(c.Eps), reach)
		slope := ad.JVP(w, []*ad.Node{r}, []*ad.Node{ad.Scalar(1)})
		got := eval(t, w, slope)
		near(t, "kernel", got[0], c.Kernel, 1e-12)
		near(t, "slope", got[1], c.Slope, 1e-12)
	}
}

func TestRotationGolden(t *testing.T) {
	var f struct {
		Eps   float64
		Step  float64 `json:"lnstep"`
		Cases []struct {
			VSini float64
			Dot   float64   `json:"vjp_templ_dot"`
			First []float64 `json:"vjp_first5"`
			Last  []float64 `json:"vjp_last5"`
		}
	}
	golden.JSON(t, &f, "spectra", "vsini/convolution.json")
	lam, _ := npy(t, "vsini/lam.npy")
	flux, _ := npy(t, "vsini/templ.npy")
	want, shape := npy(t, "vsini/convolved.npy")
	slope, _ := npy(t, "vsini/dconvolved_dvsini.npy")
	cotangent, _ := npy(t, "vsini/cotangent.npy")
	g, err := spectra.NewGrid(lam, true)
	if err != nil {
		t.Fatal(err)
	}
	n := shape[1]
	for i, c := range f.Cases {
		x, v := ad.Const(flux), ad.Scalar(c.VSini)
		y := g.Broaden(x, v, spectra.Rotation{Compat: true, LimbDarkening: f.Eps})
		got := eval(t, y, ad.JVP(y, []*ad.Node{v}, []*ad.Node{ad.Scalar(1)}), ad.VJP(y, ad.Const(cotangent), x)[0])
		near(t, "broadened", got[0], want[i*n:(i+1)*n], 1e-12)
		near(t, "slope", got[1], slope[i*n:(i+1)*n], 1e-11)
		near(t, "adjoint", got[2], slices.Concat(c.First, got[2][5:n-5], c.Last), 1e-12)
		dot := 0.0
		for k, v := range got[2] {
			dot += v * flux[k]
		}
		near(t, "dot", []float64{dot}, []float64{c.Dot}, 1e-11)
	}
}

func TestResolutionGolden(t *testing.T) {
	var f struct {
		Cases []struct {
			Kind, Name     string
			Lam, Spec, Out []float64
			Cotangent, VJP []float64
			Args           struct {
				Resol float64
				Width any
			}
			Half        int `json:"half_width"`
			Npix, Width int
			Pixel       float64   `json:"pix_size_angstrom"`
			Sigma       float64   `json:"sigma0_angstrom"`
			VJPSpec     []float64 `json:"vjp_spec"`
		}
	}
	golden.JSON(t, &f, "spectra", "resolution/resolution.json")
	for _, c := range f.Cases {
		t.Run(c.Name, func(t *testing.T) {
			var r *spectra.Resolution
			var err error
			var file string
			tol := 1e-12
			switch w := c.Args.Width.(type) {
			case float64:
				r, err = spectra.GaussianWidths(c.Lam, []float64{w})
			case []any:
				sigma := make([]float64, len(w))
				for i, v := range w {
					sigma[i] = v.(float64)
				}
				r, err = spectra.GaussianWidths(c.Lam, sigma)
			default:
				r, err = spectra.GaussianResolution(c.Lam, c.Args.Resol)
			}
			if file = "resolution/gauss_" + c.Name + "_banded.npy"; c.Kind == "desi" {
				in, _ := npy(t, "resolution/"+c.Name+"_input.npy")
				r, err = spectra.DESIResolution(in, c.Width, c.Sigma, c.Pixel)
				file, tol = "resolution/"+c.Name+"_matrix_banded.npy", 1e-9
			} else if err == nil && r.Half != c.Half {
				t.Errorf("half width %d, want %d", r.Half, c.Half)
			}
			if err != nil {
				t.Fatal(err)
			}
			band, _ := npy(t, file)
			near(t, "band", r.Band, band, tol)
			x := ad.Const(c.Spec)
			y := r.Apply(x)
			got := eval(t, y, ad.VJP(y, ad.Const(c.Cotangent), x)[0])
			near(t, "product", got[0], c.Out, tol)
			near(t, "adjoint", got[1], c.VJPSpec, tol)
		})
	}
}

func TestBasisGolden(t *testing.T) {
	var f map[string]any
	golden.JSON(t, &f, "spectra", "chisq/basis.json")
	lam := floats(f["lam"])
	compared := 0
	for name, rows := range f {
		var k, rbf int
		if n, _ := fmt.Sscanf(name, "npoly%d_rbf%d", &k, &rbf); n < 2 {
			continue
		}
		compared++
		p, err := spectra.Basis(lam, k, rbf == 0)
		if err != nil {
			t.Fatal(err)
		}
		for i, row := range rows.([]any) {
			near(t, name, p[i*len(lam):(i+1)*len(lam)], floats(row), 1e-13)
		}
	}
	if compared == 0 {
		t.Error("no basis was compared")
	}
}

func TestRebinGolden(t *testing.T) {
	var f map[string]struct {
		In     []float64 `json:"lam_in"`
		Flux   []float64 `json:"flux_in"`
		Pixels []float64 `json:"lam_out"`
		Power  float64   `json:"resolution"`
		Native float64   `json:"resolution0"`
		Out    []float64
	}
	golden.JSON(t, &raw{&f, "rebin_R"}, "spectra", "library/rebin.json")
	if len(f) == 0 {
		t.Fatal("no cases")
	}
	for name, c := range f {
		in := c.In
		if name[len(name)-1] == '1' {
			in = make([]float64, len(c.In))
			for i, v := range c.In {
				in[i] = spectra.Air(v)
				if math.Abs(spectra.Vacuum(in[i])-v) > 1e-9 {
					t.Errorf("%g Angstrom in air is %g in vacuum, want %g", in[i], spectra.Vacuum(in[i]), v)
				}
			}
		}
		got, err := spectra.Rebin(c.Pixels, in, c.Flux, spectra.LineSpread{Power: func(float64) float64 { return c.Power }, Native: c.Native})
		if err != nil {
			t.Fatal(name, err)
		}
		near(t, name, got, c.Out, 1e-9)
	}
}

// raw decodes those members of a JSON object whose names have a prefix.
type raw struct {
	to     any
	prefix string
}

func (r *raw) UnmarshalJSON(b []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return err
	}
	for k := range all {
		if !strings.HasPrefix(k, r.prefix) {
			delete(all, k)
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, r.to)
}

func floats(v any) []float64 {
	var out []float64
	for _, x := range v.([]any) {
		out = append(out, x.(float64))
	}
	return out
}

func TestQuadraticSplineGolden(t *testing.T) {
	var f struct{ X, Y, XE, YE []float64 }
	golden.JSON(t, &f, "spectra", "misc/quadspline.json")
	q, err := spectra.NewQuadraticSpline(f.X)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ x, want []float64 }{{f.XE, f.YE}, {f.X, f.Y}} {
		m, err := q.Matrix(c.x)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, len(c.x))
		for k := range got {
			for i, v := range f.Y {
				got[k] += v * m[k*len(f.Y)+i]
			}
		}
		near(t, "spline", got, c.want, 1e-10)
	}
	if _, err := q.Matrix([]float64{math.NaN()}); err == nil {
		t.Error("a spline at NaN was evaluated")
	}
	if _, err := spectra.NewQuadraticSpline([]float64{1, 1, 2}); err == nil {
		t.Error("a spline through equal nodes was made")
	}
}
