package ccf

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/models/spectra"
)

// The z-order curve and the stars on it are the reference's.
func TestGoldenMorton(t *testing.T) {
	var f struct {
		Vec             [][]float64
		MortonID        []int64 `json:"morton_id"`
		Order, Selected []int
		Every           int
	}
	golden.JSON(t, &f, "spectra", "misc", "morton.json")
	dim := len(f.Vec[0])
	points := slices.Concat(f.Vec...)
	if got := morton(points, dim); !slices.Equal(got, f.MortonID) {
		t.Errorf("keys are %v, want %v", got, f.MortonID)
	}
	if got := sample(points, dim, 1); !slices.Equal(got, f.Order) {
		t.Errorf("order is %v, want %v", got, f.Order)
	}
	if got := sample(points, dim, f.Every); !slices.Equal(got, f.Selected) {
		t.Errorf("every %d-th is %v, want %v", f.Every, got, f.Selected)
	}
}

// A grid of one value of a parameter has an order, and so have more parameters than are interleaved.
func TestMortonOfFewValues(t *testing.T) {
	if got := sample([]float64{3, 5, 2, 5, 1, 5}, 2, 1); !slices.Equal(got, []int{2, 1, 0}) {
		t.Errorf("order is %v", got)
	}
	if got := sample([]float64{3, 1, 2}, 1, 2); !slices.Equal(got, []int{1, 0}) {
		t.Errorf("every second is %v", got)
	}
}

// Templates made of the reference's sets of spectra are the reference's.
func TestGoldenBuild(t *testing.T) {
	compared := 0
	for _, name := range golden.Glob(t, "spectra/library/specs_*.h5") {
		arm := strings.TrimPrefix(golden.Base(name), "specs_")
		if !golden.Has(t, "spectra", "ccf", "ccfmod_"+arm+".npy") {
			continue
		}
		lib, err := rvspecfit.LoadTemplates(golden.Path(t, "spectra", "library", "specs_"+arm+".h5"), arm)
		if err != nil {
			t.Fatal(err)
		}
		source, err := FromTemplates(lib)
		if err != nil {
			t.Fatal(err)
		}
		want, err := rvspecfit.LoadCCF(filepath.Dir(golden.Path(t, "spectra", "ccf", "ccf_"+arm+".h5")), arm, true)
		if err != nil {
			t.Fatal(err)
		}
		vsinis := slices.Clone(want.VSini)
		slices.Sort(vsinis)
		vsinis = slices.Compact(vsinis)
		stars := len(want.VSini) / len(vsinis)
		s := BuildSettings{From: math.Exp(want.LogL0), To: math.Exp(want.LogL1), Vsinis: vsinis, Every: (lib.Spectra.Shape()[0] + stars - 1) / stars}
		s.Step = (s.To - s.From) / float64(want.Points)
		got, err := Build(source, s)
		if err != nil {
			t.Fatal(err)
		}
		if got.Points != want.Points || !slices.Equal(got.VSini, want.VSini) || !slices.Equal(got.Params.Float64s(), want.Params.Float64s()) || !slices.Equal(got.ParNames, want.ParNames) {
			t.Fatalf("%s: %d pixels, rotations %v, parameters %v", arm, got.Points, got.VSini, got.Params)
		}
		e := worst(got.Models.Float64s(), want.Models.Float64s())
		t.Logf("%s: templates off by %.2g", arm, e)
		if e > 1e-5 {
			t.Errorf("%s: templates off by %.2g", arm, e)
		}
		compared++
	}
	if compared == 0 {
		t.Skip("this set has no spectra of an arm with templates")
	}
}

// Templates that Build makes survive files, from which guesses are the same, with templates or their transforms alone.
func TestBuiltTemplatesSurviveFiles(t *testing.T) {
	var built []*rvspecfit.CCF
	c := goldenTemplates(t)
	arms := c.Arms()[len(c.Arms())-1:]
	lib := load(t, arms[0])
	source, err := FromLibrary(lib, arms[0], pointsOf(c))
	if err != nil {
		t.Fatal(err)
	}
	made, err := Build(source, BuildSettings{Every: 1, Vsinis: []float64{0, 80}})
	if err != nil {
		t.Fatal(err)
	}
	built = append(built, made)
	dir := t.TempDir()
	if err := made.Save(dir); err != nil {
		t.Fatal(err)
	}
	whole, err := NewTemplates(built...)
	if err != nil {
		t.Fatal(err)
	}
	var cases []goldenGuess
	golden.JSON(t, &cases, "spectra", "ccf", "ccf.json")
	star := mock(t, cases[0].Mock)
	star.Spectra = star.Spectra[len(star.Spectra)-1:]
	want := find(t, whole, Settings{}, star)[0]
	if want.Err != nil {
		t.Fatal(want.Err)
	}
	read, err := Load(dir, arms, true)
	if err != nil {
		t.Fatal(err)
	}
	if got := find(t, read, Settings{}, star)[0]; got.Vel != want.Vel || got.Template != want.Template {
		t.Errorf("template %d at %g km/s, want %d at %g", got.Template, got.Vel, want.Template, want.Vel)
	}
	onlyTransforms := *made
	onlyTransforms.Models = nil
	inverted, err := NewTemplates(&onlyTransforms)
	if err != nil {
		t.Fatal(err)
	}
	if got := find(t, inverted, Settings{}, star)[0]; math.Abs(got.Vel-want.Vel) > 1e-3 || got.Template != want.Template {
		t.Errorf("template %d at %g km/s, want %d at %g", got.Template, got.Vel, want.Template, want.Vel)
	}
	onlyTransforms.FFT = nil
	if _, err := NewTemplates(&onlyTransforms); err == nil || !strings.Contains(err.Error(), "ccfmod_") {
		t.Errorf("no templates at all: %v", err)
	}
}

// load reads the reference's network of an arm.
func load(t testing.TB, arm string) *spectra.Library {
	t.Helper()
	f, err := rvspecfit.Load(filepath.Dir(golden.Path(t, "spectra", "nn", "interp_nn_"+arm+".h5")), "nn_"+arm)
	if err != nil {
		t.Fatal(err)
	}
	f.Setup = arm
	lib, err := spectra.From([]*rvspecfit.Library{f}, spectra.LoadSettings{})
	if err != nil {
		t.Fatal(err)
	}
	return lib
}

// pointsOf returns the different parameters of templates.
func pointsOf(c *Templates) (points []float64) {
	for i, p := range c.params {
		if i == 0 || !slices.Equal(p, c.params[i-1]) {
			points = append(points, p...)
		}
	}
	return points
}
