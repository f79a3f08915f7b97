// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package build

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
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
	for _, arm := range golden.Members(t, "spectra/library/specs_*.h5") {
		t.Run(arm, func(t *testing.T) { regularGolden(t, arm) })
	}
}

func regularGolden(t *testing.T, arm string) {
	set := must[*rvspecfit.Library](t)(rvspecfit.LoadTemplates(golden.Path(t, "spectra", "library", "specs_"+arm+".h5"), arm))
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
		if c.Kind == "grid" && c.Arm == arm {
			u, far = append(u, c.Params...), append(far, float64(c.Outside))
		}
	}
	want, _ := npy.Read(t, "spectra", "library", "eval_grid_"+arm+".npy")
	flux, outside := evaluate(t, lib, u)
	if d := worst(flux, want[:len(flux)]); !(d < 1e-6) { // float32 templates
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
	set := &rvspecfit.Library{Setup: "arm", Lam: lam, LogStep: true, LogSpec: true, ParNames: LineParams()[:dim],
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
	if d := worst(flux, want[:len(flux)]); !(d < 1e-10) {
		t.Errorf("spectra differ by %g", d)
	}
	if d := worst(outside, far); !(d < 1e-10) {
		t.Errorf("outside differs by %g", d)
	}
}

// gridded is a set of templates on a grid with axes of unequal lengths, at the nodes that keep says. The logarithm of
// a spectrum is linear in log teff and logg, and has a term of their product.
func gridded(t testing.TB, keep func(id int) bool) *rvspecfit.Library {
	t.Helper()
	lam := arange(5050, 5200, 0.2)
	c := must[*rvspecfit.Catalog](t)(Nodes([]string{"teff", "logg", "feh"}, [][]float64{{4000, 5000, 6000, 8000}, {1, 2, 4}, {-1, 0}}))
	for i := range c.Entries {
		c.Entries[i].Bad = !keep(i)
	}
	s := short
	s.Read = func(e rvspecfit.Entry) ([]float64, []float64, error) {
		flux := make([]float64, len(lam))
		for i, x := range lam {
			flux[i] = math.Exp(bilinear(e.Params)*math.Exp(-(x-5125)*(x-5125)/200) - 0.1*e.Params[2])
		}
		return lam, flux, nil
	}
	return must[*rvspecfit.Library](t)(Rebin(context.Background(), c, s))
}

func bilinear(p []float64) float64 {
	x := math.Log10(p[0]) - 3.7
	return 0.2 + x - 0.05*p[1] + 0.1*x*p[1]
}

// Regular grids with axes of unequal lengths go through both formats, and triangulations of grids, which are
// degenerate, are exact: every template comes back at its node, and inside nothing is outside.
func TestRoundTrips(t *testing.T) {
	set := gridded(t, func(id int) bool { return id != 7 })
	dir := t.TempDir()
	for name, make := range map[string]func(*rvspecfit.Library) (*rvspecfit.Library, error){"regular": Regular, "triangulated": Triangulated} {
		made := must[*rvspecfit.Library](t)(make(set))
		if err := made.Save(dir); err != nil {
			t.Fatal(err)
		}
		loaded := must[*rvspecfit.Library](t)(rvspecfit.Load(dir, "x"))
		saved := must[*spectra.Library](t)(spectra.From([]*rvspecfit.Library{loaded}, spectra.LoadSettings{}))
		open := opened(t, made, spectra.LoadSettings{})
		var nodes []float64
		columns, n := set.Points.Float64s(), len(set.FileIDs)
		for i := range n {
			nodes = append(nodes, columns[i], columns[n+i], columns[2*n+i])
		}
		between := []float64{4500, 2.5, -0.3, 6700, 3.3, -0.9, 5100, 3, -0.01} // not in cells of the empty node
		for _, u := range [][]float64{nodes, between} {
			a, outside := evaluate(t, open, u)
			b, _ := evaluate(t, saved, u)
			if !slices.Equal(a, b) {
				t.Errorf("%s: the two formats differ by %g", name, worst(a, b))
			}
			if slices.Max(outside) > 1e-12 {
				t.Errorf("%s: inside, %v are outside", name, outside)
			}
			if len(u) == len(nodes) {
				for i, v := range a {
					if want := math.Exp(set.Spectra.Float64s()[i]); math.Abs(v-want) > 1e-9 {
						t.Fatalf("%s: template %d is %g at pixel %d, want %g", name, i/len(set.Lam), v, i%len(set.Lam), want)
					}
				}
				continue
			}
			for i := range len(u) / 3 {
				p := u[i*3 : i*3+3]
				mid := len(set.Lam) / 2
				got, want := math.Log(a[i*len(set.Lam)+mid]), bilinear(p)-0.1*p[2]
				tolerance := map[string]float64{"regular": 0.002, "triangulated": 0.02}[name] // the line spread; a plane in place of the product
				if math.Abs(got-want) > tolerance {
					t.Errorf("%s: %v is %.4f, want %.4f", name, p, got, want)
				}
			}
		}
		if made.Grid != nil {
			if shape := fmt.Sprint(made.Grid.IDs.Shape()); shape != "(4, 3, 2)" && shape != "[4 3 2]" {
				t.Errorf("the grid has the shape %s", shape)
			}
			if id := made.Grid.IDs.Data().([]int64)[7]; id != -1 {
				t.Errorf("a node without template has %d", id)
			}
			continue
		}
		checkTransform(t, made.Triangulation)
	}
}

// checkTransform puts the vertices of every simplex through its map.
func checkTransform(t *testing.T, m *rvspecfit.Triangulation) {
	t.Helper()
	d := m.Points.Shape()[1]
	points, simplices, maps := m.Points.Float64s(), m.Simplices.Data().([]int64), m.Transform.Float64s()
	for s := range m.Simplices.Shape()[0] {
		matrix := maps[s*(d+1)*d : (s+1)*(d+1)*d]
		for k := range d + 1 {
			p := points[int(simplices[s*(d+1)+k])*d:]
			for r := range d {
				w := 0.0
				for c := range d {
					w += matrix[r*d+c] * (p[c] - matrix[d*d+c])
				}
				if want := map[bool]float64{true: 1}[r == k]; !(math.Abs(w-want) < 1e-9) {
					t.Fatalf("simplex %d: weight %d of vertex %d is %g", s, r, k, w)
				}
			}
		}
	}
}

func TestBadSets(t *testing.T) {
	grid := must[*rvspecfit.Library](t)(Regular(gridded(t, func(int) bool { return true })))
	twin := *gridded(t, func(int) bool { return true })
	twin.Points = twin.Points.Copy()
	twin.Points.Float64s()[1], twin.Points.Float64s()[1+24] = twin.Points.Float64s()[0], twin.Points.Float64s()[24]
	twin.Points.Float64s()[1+48] = twin.Points.Float64s()[48]
	cold := *gridded(t, func(int) bool { return true })
	cold.Points = cold.Points.Copy()
	cold.Points.Float64s()[3] = -5
	for _, c := range []struct {
		l               *rvspecfit.Library
		regular, meshed string
	}{
		{grid, "has an interpolator already", "has an interpolator already"},
		{&twin, "templates 0 and 1 have the same parameters [4000 1 -1]", "has the same parameters [4000 1 -1] as another"},
		{&cold, "template 3 has teff = -5", "template 3 has teff = -5"},
		{gridded(t, func(id int) bool { return id < 6 }), "same value of teff", "span only"},
		{&rvspecfit.Library{Setup: "y"}, "lacks spectra", "lacks spectra"},
	} {
		if _, err := Regular(c.l); err == nil || !strings.Contains(err.Error(), c.regular) {
			t.Errorf("got %v, want %q", err, c.regular)
		}
		if _, err := Triangulated(c.l); err == nil || !strings.Contains(err.Error(), c.meshed) {
			t.Errorf("got %v, want %q", err, c.meshed)
		}
	}
}
