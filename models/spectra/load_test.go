// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/templates"
	"github.com/euryale-dev/euryale/tensor"
)

// Libraries of the reference's files give its spectra, and networks go to files and back.
func TestLoad(t *testing.T) {
	u := append(inside(t, 0.43, 0.52, 0.53, 0.31), inside(t, 0.7, 0.85, 0.73, 0.13)...)
	for _, arm := range templates.Arms(t) {
		dir := filepath.Dir(golden.Path(t, "spectra", "nn", "interp_nn_"+arm+".h5"))
		golden.Path(t, "spectra", "nn", "NNstate_"+arm+".sav")
		net, err := Load(dir, []string{"nn_" + arm}, LoadSettings{})
		if err != nil {
			t.Fatal(err)
		}
		want, _ := evaluate(t, goldenNetwork(t, arm), u)
		got, outside := evaluate(t, net.Arms[0], u)
		if !slices.Equal(got, want) || outside[0] != 0 || !slices.Equal(net.Params, paramNames) {
			t.Errorf("%s: network of %v differs by %g", arm, net.Params, worst(got, want))
		}
		file, err := net.Arms[0].Files(net.Params)
		if err != nil {
			t.Fatal(err)
		}
		to := filepath.Join(t.TempDir(), "library.h5")
		if err := rvspecfit.WriteOpen(to, []*rvspecfit.Library{file}, nil); err != nil {
			t.Fatal(err)
		}
		again, err := Open(to, LoadSettings{})
		if err != nil {
			t.Fatal(err)
		}
		if back, _ := evaluate(t, again.Arms[0], u); !slices.Equal(back, want) {
			t.Errorf("%s: the network that was written differs by %g", arm, worst(back, want))
		}

		dir = filepath.Dir(golden.Path(t, "spectra", "library", "interp_"+arm+".h5"))
		golden.Path(t, "spectra", "library", "interpdat_"+arm+".npy")
		grid, err := Load(dir, []string{arm}, LoadSettings{})
		if err != nil {
			t.Fatal(err)
		}
		want, _ = evaluate(t, goldenGrid(t, arm, true), u)
		if got, _ := evaluate(t, grid.Arms[0], u); !slices.Equal(got, want) {
			t.Errorf("%s: grid differs by %g", arm, worst(got, want))
		}
	}
	// Templates without an interpolator get one.
	arm := golden.Members(t, "spectra/library/specs_*.h5")[0]
	specs, err := rvspecfit.LoadTemplates(golden.Path(t, "spectra", "library", "specs_"+arm+".h5"), arm)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := From([]*rvspecfit.Library{specs}, LoadSettings{})
	if err != nil {
		t.Fatal(err)
	}
	got, outside := evaluate(t, plain.Arms[0], u)
	grid, _ := evaluate(t, goldenGrid(t, arm, true), u)
	if d := worst(got, grid); !(d < 0.05) || outside[0] > 1e-4 {
		t.Errorf("triangulation differs from the grid by %g, outside %v", d, outside)
	}
	if _, err := From([]*rvspecfit.Library{specs, {Setup: "x", ParNames: []string{"teff"}}}, LoadSettings{}); err == nil || !strings.Contains(err.Error(), "want the same for all") {
		t.Error(err)
	}
}

// Libraries whose numbers are damaged are refused when they are read.
func TestLoadDamaged(t *testing.T) {
	arm := templates.Arms(t)[0]
	dir := filepath.Dir(golden.Path(t, "spectra", "library", "interp_"+arm+".h5"))
	for says, damage := range map[string]func(l *rvspecfit.Library){
		"is NaN: want finite numbers": func(l *rvspecfit.Library) {
			x := l.Spectra.Convert(tensor.Float64).Copy()
			x.Float64s()[1000] = math.NaN()
			l.Spectra = x
		},
		"but its node": func(l *rvspecfit.Library) {
			l.Grid.Axes[0] = slices.Clone(l.Grid.Axes[0])
			for i := range l.Grid.Axes[0] {
				l.Grid.Axes[0][i] += 0.1
			}
		},
		"want finite numbers": func(l *rvspecfit.Library) {
			x := l.Points.Copy()
			x.Float64s()[3] = math.Inf(1)
			l.Points = x
		},
	} {
		l, err := rvspecfit.Load(dir, arm)
		if err != nil {
			t.Fatal(err)
		}
		damage(l)
		if _, err := From([]*rvspecfit.Library{l}, LoadSettings{}); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v: want %q", err, says)
		}
	}
	bad := Layer{In: 1, Out: 1, W: []float64{math.NaN()}, B: []float64{0}}
	if _, err := NewNetwork([]float64{0}, []float64{1}, []Layer{bad}, []float64{-1, 1}); err == nil || !strings.Contains(err.Error(), "weight 0") {
		t.Errorf("a weight that is NaN: %v", err)
	}
}
