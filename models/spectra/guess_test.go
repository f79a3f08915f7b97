// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// Stars that begin at the best points of a grid reach the optima of the golden stars, about which the grid
// knows nothing, and fits of them are those from elsewhere.
func TestGuessesReachOptima(t *testing.T) {
	t.Parallel()
	stars, optima := batchStars(t)
	count := min(4, len(stars))
	stars, optima = stars[:count], optima[:count]
	for i := range stars {
		stars[i].Starts = nil
	}
	bad := Star{Name: "bad"}
	// The middle of the range serves for alpha; 25 km/s are enough for the lines of these stars.
	lib, settings := batchSettings(t)
	settings.Batch, settings.NoVerdict, settings.VelStep, settings.MinVel, settings.MaxVel = 4, true, 25, -500, 500
	fitter, err := NewFitter(lib, settings)
	if err != nil {
		t.Fatal(err)
	}
	guesses, err := fitter.Guess(context.Background(), append(stars, bad), GuessSettings{Values: map[string][]float64{"vsini": {20}}})
	if err != nil {
		t.Fatal(err)
	}
	if e := guesses[count].Err; e == nil || !strings.Contains(e.Error(), "bad: the star has no spectra") {
		t.Error(e)
	}
	for i := range stars {
		g := guesses[i]
		if g.Err != nil || len(g.Starts) != 3 || !slices.IsSorted(g.ChiSquare) {
			t.Fatal(g)
		}
		stars[i].Starts = g.Starts
	}
	fits, err := fitter.Fit(context.Background(), stars)
	if err != nil {
		t.Fatal(err)
	}
	for i, fit := range fits {
		if o := optima[i]; fit.Err != nil || !(fit.ChiSquare <= min(o.Reference, o.Chisq)+0.05) || !(guesses[i].ChiSquare[0] > fit.ChiSquare-0.05) {
			t.Errorf("%s: chi-square %v, want %v; %v, %v", fit.Star, fit.ChiSquare, o.Chisq, fit.Status, fit.Err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := fitter.Guess(ctx, stars, GuessSettings{}); err == nil {
		t.Error("a guess after its end")
	}
}

// The grid is that of the reference within what the library covers, for every kind of interpolation, and
// other parameters have the middle of their range.
func TestGuessGrid(t *testing.T) {
	values := func(points [][]float64, k int) (list []float64) {
		for _, p := range points {
			if !slices.ContainsFunc(list, func(v float64) bool { return math.Abs(v-p[k]) < 1e-4*math.Max(1, math.Abs(v)) }) {
				list = append(list, p[k])
			}
		}
		slices.Sort(list)
		return list
	}
	points := []float64{3.6, 2, -1.5, 1, 3.8, 4.5, 0.5, 3, 3.7, 3, 0.2, 2.5} // log teff, logg, feh, vmic
	nearest, err := NewNearest(points, 4, slices.Repeat([]float64{0}, 12))
	if err != nil {
		t.Fatal(err)
	}
	rng := []float64{}
	for corner := range 16 {
		for k, r := range [][2]float64{{3.6, 3.8}, {2, 4.5}, {-1.5, 0.5}, {1, 3}} {
			rng = append(rng, r[corner>>(3-k)&1]) // the last axis varies fastest
		}
	}
	delaunay, err := NewDelaunay(rng, 4, slices.Repeat([]float64{0}, 48))
	if err != nil {
		t.Fatal(err)
	}
	standard := slices.Clone(rng)
	for i, m := range [][2]float64{{3.7, 0.1}, {3, 2}, {-1, 0.5}, {2, 1}} {
		for p := range 16 {
			standard[4*p+i] = (rng[4*p+i] - m[0]) / m[1]
		}
	}
	network, err := NewNetwork([]float64{3.7, 3, -1, 2}, []float64{0.1, 2, 0.5, 1}, []Layer{{In: 4, Out: 3, W: make([]float64, 12), B: make([]float64, 3)}}, standard)
	if err != nil {
		t.Fatal(err)
	}
	var ids []int
	for i := range 16 {
		ids = append(ids, i)
	}
	regular, err := NewRegular(RegularSettings{Axes: [][]float64{{3.6, 3.8}, {2, 4.5}, {-1.5, 0.5}, {1, 3}}, IDs: ids, Points: rng, LogFlux: slices.Repeat([]float64{0}, 48)})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range []Interpolator{nearest, delaunay, network, regular} {
		lib := &Library{Params: []string{"teff", "logg", "feh", "vmic"}, Arms: []*Templates{{Name: "x", LogParams: []int{0}, Interpolator: i}}}
		f, err := NewFitter(lib, Settings{Fixed: map[string]float64{"logg": 3.3}, Rotation: spectra.Rotation{MaxVsini: 50}})
		if err != nil {
			t.Fatal(err)
		}
		grid, err := f.grid(GuessSettings{})
		if err != nil {
			t.Fatal(err)
		}
		lo, hi := math.Pow(10, 3.6), math.Pow(10, 3.8)
		for k, want := range [][]float64{{0, 10, 50}, {lo, 5000, hi}, {3.3}, {-1.5, -1, 0}, {2}} {
			if got := values(grid, k); len(got) != len(want) || !(worst(got, want) < 1e-4) {
				t.Errorf("%T: %s has %v on the grid, want %v", i, f.names[1+k], got, want)
			}
		}
		if len(grid) != 27 {
			t.Errorf("%T: %d points", i, len(grid))
		}
	}
	f, err := NewFitter(&Library{Params: []string{"teff", "vmic"}, Arms: []*Templates{{Interpolator: unknownRange{}}}}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.grid(GuessSettings{Keep: -1, Values: map[string][]float64{"tef": {1}, "teff": {}, "vsini": {math.NaN()}}})
	for _, want := range []string{"Keep is -1", `"tef"`, "did you mean teff?", "no values of teff", "vsini on the grid is NaN", "does not say what it covers in vmic"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
}

// unknownRange is an interpolator that does not say what it covers.
type unknownRange struct{}

func (unknownRange) Dim() int                                       { return 2 }
func (unknownRange) Interpolate(x *ad.Node) (log, outside *ad.Node) { return x, column(x, 0) }

// Guesses of stars whose exposures have velocities of their own find each, and keep a velocity that is fixed.
func TestGuessPerExposureAndFixed(t *testing.T) {
	lib := goldenLibrary(t, "nn")
	stars, _ := exposedStars(t, lib, 1, []float64{-120, 130})
	values := map[string][]float64{"vsini": {30}, "teff": {5300}, "logg": {3.2}, "feh": {-0.8}, "alpha": {0.4}}
	for _, fixed := range []map[string]float64{nil, {Vel: 40}} {
		f, err := NewFitter(lib, Settings{Continuum: 6, Batch: 1, PerExposure: true, Fixed: fixed})
		if err != nil {
			t.Fatal(err)
		}
		g, err := f.Guess(context.Background(), stars, GuessSettings{Values: values})
		if err != nil || g[0].Err != nil || len(g[0].Starts) != 1 {
			t.Fatal(err, g)
		}
		want := []float64{-100, 150}
		if fixed != nil {
			want = []float64{40, 40}
		}
		for k, v := range g[0].Starts[0].Vels {
			if math.Abs(v-want[k]) > 3 {
				t.Errorf("velocity %d is %v, want %v", k, v, want[k])
			}
		}
	}
}
