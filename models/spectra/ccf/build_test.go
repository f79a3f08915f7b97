// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ccf

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/median"
	"github.com/euryale-dev/euryale/models/spectra"
	sim "github.com/euryale-dev/euryale/sim/spectra"
	"github.com/euryale-dev/euryale/tensor"
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
		set, err := NewTemplates(want)
		if err != nil {
			t.Fatal(err)
		}
		s := settingsOf(t, set.arms[0], set, source)
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

// settingsOf finds the settings by which templates were made of a source.
func settingsOf(t testing.TB, a *arm, c *Templates, source *Source) BuildSettings {
	t.Helper()
	s := BuildSettings{From: math.Exp(a.logL0), To: math.Exp(a.logL1), Rotation: sim.Rotation{Compat: true}}
	s.Step = (s.To - s.From) / float64(a.points)
	chosen := pointsOf(c)
	dim := len(c.names)
	if rotations := c.Len() / (len(chosen) / dim); rotations > 1 || c.vsini[0] > 0 {
		s.Vsinis = slices.Clone(c.vsini[:rotations])
	}
	for s.Every = 1; s.Every <= len(source.points); s.Every++ {
		var points []float64
		for _, i := range sample(source.points, dim, s.Every) {
			points = append(points, source.points[i*dim:(i+1)*dim]...)
		}
		if worst(points, chosen) < 1e-9 {
			return s
		}
	}
	t.Fatalf("no every n-th of the library's stars are those of the templates of %s", a.name)
	return s
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

// A library whose spectra are exp(-params), of two parameters, with corners around it if it is a triangulation.
func plainLibrary(t testing.TB) *rvspecfit.Library {
	t.Helper()
	l := &rvspecfit.Library{Setup: "blue", LogStep: true, LogSpec: true, ParNames: []string{"teff", "logg"}, Mapper: rvspecfit.Mapper{Log: []int{0}}}
	for i := range 600 {
		l.Lam = append(l.Lam, 5000*math.Exp(1e-4*float64(i)))
	}
	var rows []float64
	var points [2][]float64
	for _, teff := range []float64{4000, 5000, 6000} {
		for _, logg := range []float64{1, 2, 3, 4} {
			points[0], points[1] = append(points[0], teff), append(points[1], logg)
			for _, v := range lines(l.Lam, 5, logg, teff/100, 0) {
				rows = append(rows, math.Log(v*teff))
			}
		}
	}
	l.Points, l.Spectra = array(t, slices.Concat(points[:]...), 2, 12), array(t, rows, 12, 600)
	return l
}

func array(t testing.TB, x any, shape ...int) *tensor.Tensor {
	t.Helper()
	a, err := tensor.From(x, shape...)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// Templates are the same of a set of spectra, logarithms or not, of a triangulation and of any interpolation of it, and
// have the settings' wavelengths, pixels and rotations.
func TestBuildFromAnyLibrary(t *testing.T) {
	set := plainLibrary(t)
	s := BuildSettings{From: 5020, To: 5280, Step: 0.9, Every: 2, Vsinis: []float64{0, 150}, Revision: "one", Command: "two"}
	build := func(source *Source, err error) *rvspecfit.CCF {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		c, err := Build(source, s)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	want := build(FromTemplates(set))
	if want.Points != 512 || want.Params.Shape()[0] != 12 || want.Nodes != 20 || want.Step != 1000 || want.Revision != "one" || want.Command != "two" || want.Setup != "blue" {
		t.Errorf("%d pixels, %v parameters, %d nodes at %g km/s", want.Points, want.Params.Shape(), want.Nodes, want.Step)
	}
	m := want.Models.Float64s()
	if slices.Equal(m[:512], m[512:1024]) || math.Abs(median.Of(m)-1) > 0.1 {
		t.Error("rotation changes nothing, or the continuum is not 1")
	}
	plain := *set
	plain.LogSpec = false
	flux := slices.Clone(set.Spectra.Float64s())
	for i, v := range flux {
		flux[i] = math.Exp(v)
	}
	plain.Spectra = array(t, flux, 12, 600)
	mapped := func(extra ...float64) (rows []float64) {
		for i := range 12 {
			rows = append(rows, math.Log10(set.Points.Float64s()[i]), set.Points.Float64s()[12+i])
		}
		return append(rows, extra...)
	}
	net := *set
	net.Triangulation = &rvspecfit.Triangulation{Points: array(t, mapped(3, 0), 13, 2), Flags: append(make([]float64, 12), 1)}
	net.Spectra = array(t, append(slices.Clone(set.Spectra.Float64s()), make([]float64, 600)...), 13, 600)
	lib, err := spectra.From([]*rvspecfit.Library{set}, spectra.LoadSettings{})
	if err != nil {
		t.Fatal(err)
	}
	physical := mapped()
	for i := 0; i < len(physical); i += 2 {
		physical[i] = set.Points.Float64s()[i/2]
	}
	tolerance := map[string]float64{"fluxes": 1e-9, "triangulation": 1e-9, "interpolation": 1e-4}
	for name, got := range map[string]*rvspecfit.CCF{"fluxes": build(FromTemplates(&plain)), "triangulation": build(FromTemplates(&net)), "interpolation": build(FromLibrary(lib, "blue", physical))} {
		if e := worst(got.Models.Float64s(), m); e > tolerance[name] || worst(got.Params.Float64s(), want.Params.Float64s()) > 1e-12 || !slices.Equal(got.VSini, want.VSini) {
			t.Errorf("%s: templates off by %.2g, parameters %v", name, e, got.Params)
		}
	}
	s = BuildSettings{}
	if c := build(FromTemplates(set)); c.Points != 1024 || c.Params.Shape()[0] != 1 || !slices.Equal(c.VSini, []float64{-1}) || math.Exp(c.LogL0) < 5016 || math.Exp(c.LogL0) > 5017 {
		t.Errorf("defaults: %d pixels from %g Angstrom, rotations %v", c.Points, math.Exp(c.LogL0), c.VSini)
	}
	s = BuildSettings{Every: 1, NoContinuum: true}
	if c := build(FromTemplates(set)); c.Continuum || c.Step != 0 || math.Abs(median.Of(c.Models.Float64s())-5000) > 500 {
		t.Errorf("with its continuum the median flux is %g", median.Of(c.Models.Float64s()))
	}
}

// What no templates can be made of is refused.
func TestBadLibraries(t *testing.T) {
	set := plainLibrary(t)
	lib, err := spectra.From([]*rvspecfit.Library{set}, spectra.LoadSettings{})
	if err != nil {
		t.Fatal(err)
	}
	refused := func(want string, err error) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	build := func(l *rvspecfit.Library, s BuildSettings) error {
		source, err := FromTemplates(l)
		if err != nil {
			return err
		}
		_, err = Build(source, s)
		return err
	}
	refused("within the library", build(set, BuildSettings{From: 4000}))
	refused("within the library", build(set, BuildSettings{From: 5200, To: 5100}))
	refused("2 to", build(set, BuildSettings{Step: -1}))
	refused("2 to", build(set, BuildSettings{Step: 1e-9}))
	refused("one star in every -3", build(set, BuildSettings{Every: -3}))
	refused("rotation is -5", build(set, BuildSettings{Vsinis: []float64{-5}}))
	linear, network, torn, dark := *set, *set, *set, *set
	linear.LogStep = false
	refused("linear wavelengths", build(&linear, BuildSettings{Vsinis: []float64{10}}))
	network.Spectra = nil
	refused("FromLibrary", build(&network, BuildSettings{}))
	torn.Lam = set.Lam[1:]
	refused("do not fit together", build(&torn, BuildSettings{}))
	dark.LogSpec = false
	dark.Spectra = array(t, slices.Repeat([]float64{-1}, 12*600), 12, 600)
	refused("at least 0", build(&dark, BuildSettings{}))
	refused("nil", build(nil, BuildSettings{}))
	_, err = Build(nil, BuildSettings{})
	refused("nil", err)
	_, err = FromLibrary(lib, "red", []float64{5000, 2})
	refused("red", err)
	_, err = FromLibrary(lib, "blue", []float64{5000, 2, 3})
	refused("3 numbers", err)
	source, err := FromLibrary(lib, "blue", []float64{50000, 2})
	if err != nil {
		t.Fatal(err)
	}
	_, err = Build(source, BuildSettings{})
	refused("outside the library", err)
}

// Templates of arms that are not of the same stars are refused, with what differs.
func TestBadTemplates(t *testing.T) {
	plain := func(setup string, params []float64, vsini ...float64) *rvspecfit.CCF {
		n := len(params)
		models := slices.Repeat([]float64{1, 0.9}, 8*n)
		return &rvspecfit.CCF{Setup: setup, Continuum: true, LogL0: 8, LogL1: 9, Points: 16, Step: 1000, ParNames: []string{"teff"}, Params: array(t, params, n, 1), VSini: vsini, Models: array(t, models, n, 16)}
	}
	good := plain("b", []float64{1, 2})
	names, short, missing, broken := *good, *good, *good, *plain("r", []float64{1, 2})
	names.Setup, names.ParNames = "r", []string{"logg"}
	short.LogL1 = 7
	missing.Models = nil
	broken.Models = array(t, slices.Repeat([]float64{math.NaN()}, 32), 2, 16)
	for want, arms := range map[string][]*rvspecfit.CCF{
		"3 templates, but b has 2": {plain("b", []float64{1, 2}), plain("r", []float64{1, 2, 3})},
		"template 1 of arm r":      {good, plain("r", []float64{1, 3})},
		"vsini 50":                 {good, plain("r", []float64{1, 2}, 50, 50)},
		"1 rotation:":              {plain("b", []float64{1, 2}, 50)},
		"twice":                    {good, good},
		"the parameters logg":      {good, &names},
		"ascending":                {&short},
		"ccfdat_b":                 {&missing},
		"NaN":                      {good, &broken},
		"no table":                 {nil},
	} {
		if _, err := NewTemplates(arms...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want an error with %q", err, want)
		}
	}
	if _, err := Load(t.TempDir(), []string{"blue"}, true); err == nil {
		t.Error("an empty folder was read")
	}
}
