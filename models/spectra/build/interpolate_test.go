package build

import (
	"math"
	"path/filepath"
	"slices"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/npy"
	"github.com/euryale-dev/euryale/models/spectra"
	"github.com/euryale-dev/euryale/tensor"
)

// evaluate returns spectra of the first arm and how far outside they are, for rows of parameters.
func evaluate(t testing.TB, lib *spectra.Library, u []float64) (flux, outside []float64) {
	t.Helper()
	d := len(lib.Params)
	log, out := lib.Arms[0].LogFlux(ad.Input("u", len(u)/d, d))
	p := must[*ad.Program](t)(ad.Compile([]*ad.Node{ad.Exp(log), out}, ad.Settings{}))
	s := p.NewState()
	s.SetInput(0, u)
	if err := s.Run(); err != nil {
		t.Fatal(err)
	}
	return s.Output(0), s.Output(1)
}

// opened writes a library to a file of the open format and reads it again.
func opened(t testing.TB, l *rvspecfit.Library, s spectra.LoadSettings) *spectra.Library {
	t.Helper()
	name := filepath.Join(t.TempDir(), "library.h5")
	if err := rvspecfit.WriteOpen(name, []*rvspecfit.Library{l}, nil); err != nil {
		t.Fatal(err)
	}
	return must[*spectra.Library](t)(spectra.Open(name, s))
}

// A regular grid of the reference's templates that went through files gives the reference's spectra.
func TestRegularGolden(t *testing.T) {
	set := must[*rvspecfit.Library](t)(rvspecfit.LoadTemplates(golden.Path(t, "spectra", "library", "specs_desi_z.h5"), "desi_z"))
	lib := opened(t, must[*rvspecfit.Library](t)(Regular(set)), spectra.LoadSettings{Edge: true})
	var f struct {
		Cases []struct {
			Kind, Arm string
			Params    []float64
			Outside   golden.Float
		}
	}
	golden.JSON(t, &f, "spectra", "library", "interp_eval.json")
	var u, far []float64
	for _, c := range f.Cases {
		if c.Kind == "grid" && c.Arm == "desi_z" {
			u, far = append(u, c.Params...), append(far, float64(c.Outside))
		}
	}
	want, _ := npy.Read(t, "spectra", "library", "eval_grid_desi_z.npy")
	flux, outside := evaluate(t, lib, u)
	if d := worst(flux, want); !(d < 1e-6) { // float32 templates
		t.Errorf("spectra differ by %g", d)
	}
	if d := worst(outside, far); !(d < 1e-5) { // the reference maps parameters in float32
		t.Errorf("outside differs by %g", d)
	}
}

// A triangulation of the reference's points that went through files has its simplices, and gives its spectra.
func TestTriangulatedGolden(t *testing.T) {
	points, shape := npy.Read(t, "spectra", "triangulation", "points_mapped.npy")
	flags, _ := npy.Read(t, "spectra", "triangulation", "extraflags.npy")
	logs, _ := npy.Read(t, "spectra", "triangulation", "dats_logspec.npy")
	lam, _ := npy.Read(t, "spectra", "triangulation", "lam.npy")
	n, dim := slices.Index(flags, 1), shape[1]
	columns := make([]float64, n*dim)
	for i := range n {
		for k := range dim {
			columns[k*n+i] = points[i*dim+k]
		}
	}
	set := &rvspecfit.Library{Setup: "desi_b", Lam: lam, LogStep: true, LogSpec: true, ParNames: LineParams(),
		Points: must[*tensor.Tensor](t)(tensor.From(columns, dim, n)), Spectra: must[*tensor.Tensor](t)(tensor.From(logs[:n*len(lam)], n, len(lam)))}
	tri := must[*rvspecfit.Library](t)(Triangulated(set)) // of mapped parameters: no logarithm is taken
	if d := worst(tri.Triangulation.Points.Float64s(), points); !(d < 1e-5) {
		t.Errorf("the points differ by %g", d)
	}
	var cases []struct {
		Mapped  []float64
		Outside golden.Float
	}
	golden.JSON(t, &cases, "spectra", "triangulation", "eval.json")
	var u, far []float64
	for _, c := range cases {
		u, far = append(u, c.Mapped...), append(far, float64(c.Outside))
	}
	want, _ := npy.Read(t, "spectra", "triangulation", "eval.npy")
	lib := opened(t, tri, spectra.LoadSettings{})
	flux, outside := evaluate(t, lib, u)
	t.Log(worst(flux, want), worst(outside, far))
	if d := worst(flux, want); !(d < 1e-10) {
		t.Errorf("spectra differ by %g", d)
	}
	if d := worst(outside, far); !(d < 1e-10) {
		t.Errorf("outside differs by %g", d)
	}
	_ = math.Pi
}
