package build

import (
	"context"
	"math"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/npy"
	"github.com/euryale-dev/euryale/models/spectra"
)

func must[T any](t testing.TB) func(v T, err error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// modelGrid is the analytic model of the reference on its grid, as a Source.
type modelGrid struct {
	lines  *LineList
	lam    []float64
	params [][]float64
	ids    []int
}

func (m *modelGrid) Params() ([]string, [][]float64) {
	return []string{"teff", "logg", "feh", "alpha"}, m.params
}

// covering returns the part of the wavelengths about an arm.
func covering(lam []float64, a Arm) (part []float64) {
	for _, x := range lam {
		if x > a.First-100 && x < a.Last+100 {
			part = append(part, x)
		}
	}
	return part
}

func (m *modelGrid) Spectrum(i int) ([]float64, []float64, error) {
	flux, err := m.lines.Flux(m.params[i], m.lam)
	return m.lam, flux, err
}

func (m *modelGrid) ID(i int) int { return m.ids[i] }

func reference(t testing.TB) (*LineList, []float64, map[string]Arm) {
	f := must[*os.File](t)(os.Open(golden.Path(t, "spectra/library/lines.json")))
	defer f.Close()
	lines := must[*LineList](t)(ReadLineList(f))
	var doc struct {
		Segments [][3]float64 `json:"hires_segments"`
		Arms     map[string]struct {
			First float64 `json:"lambda0"`
			Last  float64 `json:"lambda1"`
			Power string  `json:"resol_func"`
			Step  float64 `json:"step"`
		} `json:"arms"`
	}
	golden.JSON(t, &doc, "spectra/library/lines.json")
	var lam []float64
	for _, s := range doc.Segments {
		step := s[0] + s[2] - s[0] // as numpy.arange takes it
		for i := range int(math.Ceil((s[1] - s[0]) / s[2])) {
			lam = append(lam, s[0]+float64(i)*step)
		}
	}
	arms := map[string]Arm{}
	for name, a := range doc.Arms {
		arms[name] = Arm{Name: name, First: a.First, Last: a.Last, Step: a.Step, Power: a.Power}
	}
	return lines, lam, arms
}

func TestLineListOfTheReference(t *testing.T) {
	lines, _, _ := reference(t)
	var samples []struct{ Params, Lam, Flux []float64 }
	golden.JSON(t, &samples, "spectra/library/model_samples.json")
	for _, s := range samples {
		got := must[[]float64](t)(lines.Flux(s.Params, s.Lam))
		for i, v := range got {
			if math.Abs(v-s.Flux[i]) > 1e-12*s.Flux[i] {
				t.Fatalf("%v at %g: %g, want %g", s.Params, s.Lam[i], v, s.Flux[i])
			}
		}
	}
}

// Single templates of the reference, with both normalisations, in float64.
func TestTemplatesOfTheReference(t *testing.T) {
	lines, lam, arms := reference(t)
	var doc struct {
		Nodes map[string][]float64 `json:"node_params"`
	}
	golden.JSON(t, &doc, "spectra/library/rebin.json")
	for node, params := range doc.Nodes {
		id := must[int](t)(strconv.Atoi(node))
		for name, arm := range arms {
			for post, norm := range map[string]Normalisation{"loglinear": LinearContinuum, "logmedian": Median} {
				file := "rebin_" + name + "_" + node + "_" + post + ".npy"
				if !golden.Has(t, "spectra/library/"+file) {
					continue
				}
				l := must[*rvspecfit.Library](t)(Templates(context.Background(), &modelGrid{lines, covering(lam, arm), [][]float64{params}, []int{id}}, arm, Settings{Normalise: norm, Float64: true}))
				wantLam, _ := npy.Read(t, "spectra", "library", "lam_"+name+".npy")
				want, _ := npy.Read(t, "spectra", "library", file)
				got := l.Spectra.Float64s()
				if len(got) != len(want) || len(l.Lam) != len(wantLam) {
					t.Fatalf("%s: %d pixels: want %d", file, len(got), len(want))
				}
				for i := range got {
					if math.Abs(got[i]-want[i]) > 1e-9 || math.Abs(l.Lam[i]-wantLam[i]) > 1e-12*wantLam[i] {
						t.Fatalf("%s: pixel %d at %.9g is %.12g: want %.12g at %.9g", file, i, l.Lam[i], got[i], want[i], wantLam[i])
					}
				}
			}
		}
	}
}

// A whole library made anew is that of the reference: the templates, and the grid between them.
func TestLibraryOfTheReference(t *testing.T) {
	lines, lam, arms := reference(t)
	for _, file := range golden.Glob(t, "spectra/library/specs_*.h5") {
		name := golden.Base(file)[len("specs_"):]
		want := must[*rvspecfit.Library](t)(rvspecfit.LoadTemplates(golden.Path(t, file), name))
		dim, n := want.Points.Shape()[0], want.Points.Shape()[1]
		points := want.Points.Float64s()
		params := make([][]float64, n)
		for i := range params {
			for k := range dim {
				params[i] = append(params[i], points[k*n+i])
			}
		}
		got := must[*rvspecfit.Library](t)(Templates(context.Background(), &modelGrid{lines, covering(lam, arms[name]), params, want.FileIDs}, arms[name], Settings{Normalise: Median}))
		a, b := got.Spectra.Float64s(), want.Spectra.Float64s()
		for i := range a {
			if math.Abs(a[i]-b[i]) > 1e-6*max(1, math.Abs(b[i])) {
				t.Fatalf("%s: number %d is %.9g: want %.9g", name, i, a[i], b[i])
			}
		}
		for i := range got.LogNorms {
			if math.Abs(got.LogNorms[i]-want.LogNorms[i]) > 1e-6 {
				t.Fatalf("%s: normalisation %d is %.9g: want %.9g", name, i, got.LogNorms[i], want.LogNorms[i])
			}
		}
		grid := must[*rvspecfit.Library](t)(Regular(want))
		ref := must[*rvspecfit.Library](t)(rvspecfit.Load(golden.Path(t, "spectra/library"), name))
		if x, y := grid.Grid.IDs.Float64s(), ref.Grid.IDs.Float64s(); !slices.Equal(x, y) {
			t.Errorf("%s: the grid differs: %v, want %v", name, x[:5], y[:5])
		}
		for k, axis := range grid.Grid.Axes {
			for i, x := range axis {
				if math.Abs(x-ref.Grid.Axes[k][i]) > 1e-12 {
					t.Errorf("%s: axis %d has %v: want %v", name, k, axis, ref.Grid.Axes[k])
					break
				}
			}
		}
		// Both ways of storing are read again, with axes of unlike lengths (which the reference cannot write).
		tri := must[*rvspecfit.Library](t)(Triangulated(want))
		for kind, l := range map[string]*rvspecfit.Library{"grid": grid, "triangulation": tri, "templates": got} {
			dir := t.TempDir()
			open := dir + "/library.h5"
			if err := rvspecfit.WriteOpen(open, []*rvspecfit.Library{l}, nil); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			must[*spectra.Library](t)(spectra.Open(open, spectra.LoadSettings{}))
			if err := l.Save(dir); err != nil {
				t.Fatalf("%s: %v", kind, err)
			}
			if kind != "templates" {
				must[*spectra.Library](t)(spectra.Load(dir, []string{name}, spectra.LoadSettings{}))
			}
		}
	}
}
