package ccf

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/npy"
	"github.com/euryale-dev/euryale/models/spectra"
	sim "github.com/euryale-dev/euryale/sim/spectra"
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

// templates are those of the reference, one for each arm.
func templates(t testing.TB) (list []*rvspecfit.CCF) {
	for _, name := range golden.Glob(t, "spectra/ccf/ccf_*.h5") {
		setup := strings.TrimPrefix(golden.Base(name), "ccf_")
		golden.Path(t, "spectra/ccf/ccfmod_"+setup+".npy")
		c := must[*rvspecfit.CCF](t)(rvspecfit.LoadCCF(golden.Path(t, "spectra/ccf"), setup, true))
		list = append(list, c)
	}
	return list
}

// spectrumOf returns a spectrum of rows wavelength, flux, error, mask.
func spectrumOf(arm string, v []float64, n int) spectra.Spectrum {
	s := spectra.Spectrum{Arm: arm, Lam: v[:n], Flux: v[n : 2*n], Err: v[2*n : 3*n], Bad: make([]bool, n)}
	for i := range s.Bad {
		s.Bad[i] = v[3*n+i] != 0
	}
	return s
}

// mock is a star of the reference with spectra in all arms.
func mock(t testing.TB, name string, arms []string) spectra.Star {
	star := spectra.Star{Name: name}
	for _, arm := range arms {
		v, shape := npy.Read(t, "spectra", "chain", name+"_"+arm+".npy")
		star.Spectra = append(star.Spectra, spectrumOf(arm, v, shape[1]))
	}
	return star
}

type goldenCCF struct {
	Mock string             `json:"mock"`
	Par  map[string]float64 `json:"best_par"`
	Vel  float64            `json:"best_vel"`
	VSin float64            `json:"best_vsini"`
	Vel0 float64            `json:"vel_grid0"`
	NVel int                `json:"nvel"`
	Min  float64            `json:"best_ccf_min"`
	Arg  int                `json:"argmin"`
	Conf map[string]struct {
		NPoints int `json:"npoints"`
	} `json:"ccfconf"`
	Nocont *goldenCCF `json:"nocont"`
}

func TestCorrelationsOfTheReference(t *testing.T) {
	var all []goldenCCF
	golden.JSON(t, &all, "spectra", "ccf", "ccf.json")
	list := templates(t)
	f := must[*Finder](t)(New(list, Settings{Compat: true}))
	right := must[*Finder](t)(New(list, Settings{}))
	for _, c := range all {
		t.Run(c.Mock, func(t *testing.T) {
			stars := []spectra.Star{mock(t, c.Mock, f.names)}
			g := must[[]Guess](t)(f.Find(context.Background(), stars))[0]
			if g.Err != nil {
				t.Fatal(g.Err)
			}
			start := g.Starts[0]
			for k, name := range list[0].ParNames {
				if start.Params[k] != c.Par[name] {
					t.Errorf("%s is %g: want %g", name, start.Params[k], c.Par[name])
				}
			}
			if start.Vsini != c.VSin || math.Abs(start.Vel-c.Vel) > 0.05 {
				t.Errorf("velocity %.4f, rotation %g: want %.4f, %g", start.Vel, start.Vsini, c.Vel, c.VSin)
			}
			if len(g.Velocities) != c.NVel || g.Velocities[0] != c.Vel0 {
				t.Errorf("%d velocities from %g: want %d from %g", len(g.Velocities), g.Velocities[0], c.NVel, c.Vel0)
			}
			want, _ := npy.Read(t, "spectra", "ccf", "ccf_"+c.Mock+"_best_ccf.npy")
			least := 0
			for k, v := range g.Curve {
				if math.Abs(v-want[k]) > 1e-4*math.Abs(want[k]) {
					t.Fatalf("at %g km/s the curve is %.6g: want %.6g", g.Velocities[k], v, want[k])
				}
				if v < g.Curve[least] {
					least = k
				}
			}
			if least != c.Arg || math.Abs(g.Curve[least]-c.Min) > 1e-4*math.Abs(c.Min) {
				t.Errorf("least %.6g at %d: want %.6g at %d", g.Curve[least], least, c.Min, c.Arg)
			}
			if v := must[[]Guess](t)(right.Find(context.Background(), stars))[0].Starts[0].Vel; math.Abs(v-c.Vel) > 15 {
				t.Errorf("with the right pixels the velocity is %.4f: the reference has %.4f", v, c.Vel)
			}
			for _, arm := range f.names {
				if c.Conf[arm].NPoints == 0 || !golden.Has(t, "spectra/ccf/ccf_"+c.Mock+"_proc_"+arm+".npy") {
					continue
				}
				s := stars[0].Spectra[indexOf(f.names, arm)]
				flux, ivar, err := f.normalised(f.arms[arm], &s)
				if err != nil {
					t.Fatal(err)
				}
				sameData(t, arm, "ccf/ccf_"+c.Mock, arm, flux, ivar)
			}
		})
	}
}

func indexOf(names []string, name string) int {
	for i, n := range names {
		if n == name {
			return i
		}
	}
	return -1
}

// sameData compares preprocessed data with the reference's.
func sameData(t *testing.T, what, prefix, arm string, flux, ivar []float64) {
	t.Helper()
	for name, got := range map[string][]float64{prefix + "_proc_" + arm: flux, prefix + "_ivar_" + arm: ivar} {
		want, _ := npy.Read(t, "spectra/"+name+".npy")
		if len(want) != len(got) {
			t.Fatalf("%s: %d pixels: want %d", name, len(got), len(want))
		}
		largest := 0.0
		for _, v := range want {
			largest = max(largest, math.Abs(v))
		}
		for k, v := range got {
			if math.Abs(v-want[k]) > 1e-5*largest {
				t.Fatalf("%s %s: pixel %d is %.8g: want %.8g", what, name, k, v, want[k])
			}
		}
	}
}

// Continua and data of a real spectrum.
func TestRealSpectrumOfTheReference(t *testing.T) {
	var all struct {
		Cases []struct {
			CCF  *int `json:"ccf"`
			Conf struct {
				LogL0, LogL1 float64
				NPoints      int
				Step         float64 `json:"splinestep"`
			} `json:"conf"`
		} `json:"cases"`
	}
	golden.JSON(t, &all, "spectra", "sdss", "sdss.json")
	v, shape := npy.Read(t, "spectra", "sdss", "spec.npy")
	n := shape[1]
	s := spectra.Spectrum{Lam: v[:n], Flux: v[n : 2*n], Err: v[3*n:]}
	for _, c := range all.Cases {
		if c.CCF == nil {
			continue
		}
		fit := sim.ContinuumFit{Step: c.Conf.Step}
		got := must[[]float64](t)(fit.Fit(s.Lam, s.Flux, s.Err))
		want, _ := npy.Read(t, "spectra", "sdss", fmt.Sprintf("ccf%d_continuum_direct.npy", *c.CCF))
		for k, x := range got {
			if math.Abs(x-want[k]) > 1e-3*want[k] {
				t.Fatalf("case %d: the continuum at %g is %g: want %g", *c.CCF, s.Lam[k], x, want[k])
			}
		}
		f := &Finder{continuum: true}
		flux, ivar, err := f.normalised(&arm{grid: sim.LogGrid{First: c.Conf.LogL0, Last: c.Conf.LogL1, N: c.Conf.NPoints}, fit: fit}, &s)
		if err != nil {
			t.Fatal(err)
		}
		for name, got := range map[string][]float64{"spec": flux, "ivar": ivar} {
			want, _ := npy.Read(t, "spectra", "sdss", fmt.Sprintf("ccf%d_%s.npy", *c.CCF, name))
			for k, x := range got {
				if math.Abs(x-want[k]) > 1e-3*math.Abs(want[k]) {
					t.Fatalf("case %d: %s of pixel %d is %g: want %g", *c.CCF, name, k, x, want[k])
				}
			}
		}
	}
}

// Starts of the stars of the reference.
func TestStartsOfTheReference(t *testing.T) {
	var all struct {
		Cases []struct {
			CCF struct {
				Vel   float64            `json:"best_vel"`
				Start map[string]float64 `json:"start"`
			} `json:"ccf"`
		} `json:"cases"`
	}
	golden.JSON(t, &all, "spectra", "batch", "batch.json")
	list := templates(t)
	f := must[*Finder](t)(New(list, Settings{Compat: true}))
	stars := make([]spectra.Star, len(all.Cases))
	for _, arm := range f.names {
		v, shape := npy.Read(t, "spectra", "batch", "spectra_"+arm+".npy")
		n := shape[2]
		for i := range stars {
			stars[i].Spectra = append(stars[i].Spectra, spectrumOf(arm, v[4*n*i:4*n*(i+1)], n))
		}
	}
	for i, g := range must[[]Guess](t)(f.Find(context.Background(), stars)) {
		if g.Err != nil {
			t.Fatal(g.Err)
		}
		c, s := all.Cases[i].CCF, g.Starts[0]
		if math.Abs(s.Vel-c.Vel) > 0.05 || s.Vsini != c.Start["vsini"] {
			t.Errorf("star %d: velocity %.4f, rotation %g: want %.4f, %g", i, s.Vel, s.Vsini, c.Vel, c.Start["vsini"])
		}
		for k, name := range list[0].ParNames {
			if s.Params[k] != c.Start[name] {
				t.Errorf("star %d: %s is %g: want %g", i, name, s.Params[k], c.Start[name])
			}
		}
	}
}

// Without division by the continuum, with templates made here.
func TestCorrelationsWithContinuumOfTheReference(t *testing.T) {
	var all []goldenCCF
	golden.JSON(t, &all, "spectra", "ccf", "ccf.json")
	var list []*rvspecfit.CCF
	for _, c := range templates(t) {
		list = append(list, rebuilt(t, c, true))
	}
	f := must[*Finder](t)(New(list, Settings{Compat: true}))
	for _, c := range all {
		if c.Nocont == nil {
			continue
		}
		g := must[[]Guess](t)(f.Find(context.Background(), []spectra.Star{mock(t, c.Mock, f.names)}))[0]
		if g.Err != nil {
			t.Fatal(g.Err)
		}
		s, want := g.Starts[0], c.Nocont
		least := math.Inf(1)
		for _, v := range g.Curve {
			least = min(least, v)
		}
		for k, name := range list[0].ParNames {
			if s.Params[k] != want.Par[name] {
				t.Errorf("%s: %s is %g: want %g", c.Mock, name, s.Params[k], want.Par[name])
			}
		}
		if math.Abs(s.Vel-want.Vel) > 0.05 || s.Vsini != want.VSin || math.Abs(least-want.Min) > 1e-4*want.Min {
			t.Errorf("%s: velocity %.4f, rotation %g, chi-square %.6g: want %.4f, %g, %.6g", c.Mock, s.Vel, s.Vsini, least, want.Vel, want.VSin, want.Min)
		}
	}
}
