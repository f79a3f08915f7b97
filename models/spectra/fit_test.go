// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/dist"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/templates"
	"github.com/euryale-dev/euryale/sim/spectra"
)

// paramNames are the parameters of all of the reference's libraries.
var paramNames = []string{"teff", "logg", "feh", "alpha"}

// goldenLibrary is the library of all arms, interpolated by grids or networks.
func goldenLibrary(t testing.TB, kind string) *Library {
	l := &Library{Params: paramNames}
	for _, arm := range templates.Arms(t) {
		if kind == "nn" {
			l.Arms = append(l.Arms, goldenNetwork(t, arm))
		} else {
			l.Arms = append(l.Arms, goldenGrid(t, arm, true))
		}
	}
	return l
}

// inside returns parameters at fractions of the ranges of the library.
func inside(t testing.TB, fractions ...float64) (u []float64) {
	var axes [][]float64
	golden.JSON(t, &axes, "spectra", "library", "uvecs.json")
	for k, axis := range axes {
		x := axis[0] + fractions[k]*(axis[len(axis)-1]-axis[0])
		if k == 0 {
			x = math.Pow(10, x)
		}
		u = append(u, x)
	}
	return u
}

// firstArm is the grid of the first arm by itself.
func firstArm(t testing.TB) *Library {
	return &Library{Params: paramNames, Arms: []*Templates{goldenGrid(t, templates.Arms(t)[0], true)}}
}

// rowsOf makes a spectrum of four rows: wavelength, flux, error, mask.
func rowsOf(arm string, x []float64) Spectrum {
	n := len(x) / 4
	s := Spectrum{Arm: arm, Lam: x[:n], Flux: x[n : 2*n], Err: x[2*n : 3*n], Bad: make([]bool, n)}
	for i, b := range x[3*n:] {
		s.Bad[i] = b != 0
	}
	return s
}

// mock is a star of the golden files, with its resolution matrices if it has some.
func mock(t testing.TB, name string) Star {
	star := Star{Name: name}
	for _, f := range templates.MockSpectra(t, name) {
		x, _ := npy(t, f.File)
		s := rowsOf(f.Arm, x)
		if f.Resolution != "" {
			band, shape := npy(t, f.Resolution)
			r, err := spectra.NewResolution(shape[0]/2, shape[1], band)
			if err != nil {
				t.Fatal(err)
			}
			s.Resolution = r
		}
		star.Spectra = append(star.Spectra, s)
	}
	return star
}

// anyMock is a mock star with one spectrum in each arm.
func anyMock(t testing.TB) Star {
	for _, name := range templates.Mocks(t) {
		if f := templates.MockSpectra(t, name); len(f) == len(templates.Arms(t)) && f[0].Resolution == "" {
			return mock(t, name)
		}
	}
	t.Skip("the reference has no mock star with one spectrum in each arm")
	return Star{}
}

type fitCase struct {
	Mock, Interpolator, Variant string
	Start                       map[string]float64
	Options                     struct {
		Npoly int
		RBF   *bool `json:"rbf_continuum"`
	}
	FixParam []string `json:"fixParam"`
	Priors   map[string][2]float64
	Result   struct {
		Vel, Chisq         float64
		VelErr             float64 `json:"vel_err"`
		Vsini              *float64
		Param              map[string]float64
		ParamErr           map[string]golden.Float `json:"param_err"`
		ChisqArray         []float64               `json:"chisq_array"`
		Skewness, Kurtosis float64                 `json:"-"`
	}
	Refined   *struct{ Chisq float64 }
	Optimum64 *struct {
		Params, Hess []float64 `json:"-"`
		P            []float64 `json:"params"`
		Chisq        float64
		Free         []int
		Marginal     []golden.Float `json:"err_marginal"`
		Conditional  []golden.Float `json:"err_conditional_atm"`
	}
}

// sameModels compares the models of a fit with those that the reference has for it, in standard deviations of the data.
// Both are minima to 0.05, so that the models agree to some 0.2 of them in all pixels together.
func (c fitCase) sameModels(t *testing.T, star *Star, fit *Fit) {
	t.Helper()
	if c.Variant != "default" {
		return // the models of the others were not kept
	}
	compared := 0
	files := templates.MockSpectra(t, c.Mock)
	for i, s := range star.Spectra {
		name := "yfit_" + c.Mock + "_" + c.Interpolator + "_" + s.Arm + files[i].Exposure
		if !golden.Has(t, "spectra", "fit", name+".npy") {
			continue
		}
		compared++
		want, _ := npy(t, "fit", name+".npy")
		miss := 0.0
		for k, w := range want {
			d := (fit.Spectra[i].Model[k] - w) / s.Err[k]
			miss += d * d
		}
		if !(len(want) == len(s.Lam)) || !(miss < 0.1) {
			t.Errorf("%s: the model is off by %v standard deviations", name, math.Sqrt(miss))
		}
	}
	if compared == 0 {
		t.Errorf("no models of %s %s %s to compare with", c.Mock, c.Interpolator, c.Variant)
	}
}

// Fits reach the minima of the reference or lower ones, with the parameters and errors of the exact optimum.
func TestFitGoldens(t *testing.T) {
	var f struct{ Cases []fitCase }
	golden.JSON(t, &f, "spectra", "fit", "fits.json")
	for _, c := range f.Cases {
		t.Run(strings.Join([]string{c.Mock, c.Interpolator, c.Variant}, " "), func(t *testing.T) {
			t.Parallel()
			lib := goldenLibrary(t, c.Interpolator)
			vsini, rotates := c.Start["vsini"]
			s := Settings{Continuum: c.Options.Npoly, Chebyshev: c.Options.RBF != nil && !*c.Options.RBF, FixedContinuum: true, KeepSpikes: true, Rotation: spectra.Rotation{None: !rotates, Compat: true}, Fixed: map[string]float64{}, Priors: map[string]dist.Dist{}, Batch: 2, NoVerdict: true}
			for _, name := range c.FixParam {
				s.Fixed[name] = c.Start[name]
			}
			for name, p := range c.Priors {
				s.Priors[name] = dist.Normal(p[0], p[1])
			}
			fitter, err := NewFitter(lib, s)
			if err != nil {
				t.Fatal(err)
			}
			star := mock(t, c.Mock)
			start := Start{Vel: math.NaN(), Vsini: vsini}
			for _, p := range lib.Params {
				start.Params = append(start.Params, c.Start[p])
			}
			star.Starts = []Start{start}
			fits, err := fitter.Fit(context.Background(), []Star{star})
			if err != nil {
				t.Fatal(err)
			}
			fit := fits[0]
			if fit.Err != nil {
				t.Fatal(fit.Err)
			}
			want := c.Result.Chisq
			if c.Refined != nil {
				want = min(want, c.Refined.Chisq)
			}
			if c.Optimum64 != nil {
				want = min(want, c.Optimum64.Chisq)
			}
			if len(c.Priors) == 0 && !(fit.ChiSquare <= want+0.05) {
				t.Errorf("chi-square %.4f, want %.4f (%s after %d)", fit.ChiSquare, want, fit.Status, fit.Evaluations)
			}
			if math.Abs(fit.ChiSquare-c.Result.Chisq) < 0.05 && len(c.Priors) == 0 {
				c.sameModels(t, &star, &fit)
			}
			if r := c.Result; math.Abs(fit.ChiSquare-r.Chisq) < 0.05 && len(c.Priors) == 0 {
				if v := fit.Velocity; math.Abs(v.Vel-r.Vel) > 0.02*r.VelErr || math.Abs(v.SD/r.VelErr-1) > 0.01 {
					t.Errorf("velocity %v +- %v, want %v +- %v", v.Vel, v.SD, r.Vel, r.VelErr)
				}
			}
			if o := c.Optimum64; o != nil && len(fit.AtBound) == 0 && fit.Outside == 0 && !onEdge(t, o.P) {
				for i, k := range o.Free {
					sd := float64(o.Marginal[i])
					if !(math.Abs(fit.X[k]-o.P[k]) < 0.02*sd) {
						t.Errorf("%s is %v, want %v +- %v", fit.Names[k], fit.X[k], o.P[k], sd)
					}
					if !(math.Abs(fit.SD[k]/sd-1) < 0.01) {
						t.Errorf("the error of %s is %v, want %v", fit.Names[k], fit.SD[k], sd)
					}
				}
				for k, sd := range o.Conditional {
					if !(math.Abs(fit.Conditional[2+k]/float64(sd)-1) < 0.01) {
						t.Errorf("the conditional error of %s is %v, want %v", fit.Names[2+k], fit.Conditional[2+k], float64(sd))
					}
				}
			}
		})
	}
}

// onEdge reports whether an optimum is one without rotation, or at the end of an axis of the library: there it is no stationary point.
func onEdge(t testing.TB, params []float64) bool {
	var axes [][]float64
	golden.JSON(t, &axes, "spectra", "library", "uvecs.json")
	on := params[1] < 0.1
	for k, axis := range axes {
		x, lo, hi := params[2+k], axis[0], axis[len(axis)-1]
		if k == 0 {
			x = math.Log10(x)
		}
		on = on || math.Min(x-lo, hi-x) < 1e-3*(hi-lo)
	}
	return on
}

// batchStars are stars of the golden batch, which begin where the reference's first guesses were.
func batchStars(t testing.TB) (stars []Star, optima []batchOptimum) {
	var f struct {
		Cases []struct {
			I   int
			CCF struct {
				Vel   float64 `json:"best_vel"`
				Start map[string]float64
			}
			Reference struct{ Chisq float64 }
			Optimum   batchOptimum `json:"optimum64"`
		}
	}
	golden.JSON(t, &f, "spectra", "batch", "batch.json")
	data := map[string][]float64{}
	shapes := map[string][]int{}
	for _, arm := range templates.Arms(t) {
		data[arm], shapes[arm] = npy(t, "batch", "spectra_"+arm+".npy")
	}
	for _, c := range f.Cases {
		star := Star{Name: fmt.Sprint("star ", c.I), Starts: []Start{{Vel: c.CCF.Vel, Vsini: c.CCF.Start["vsini"]}}}
		for _, p := range paramNames {
			star.Starts[0].Params = append(star.Starts[0].Params, c.CCF.Start[p])
		}
		for _, arm := range templates.Arms(t) {
			n := shapes[arm][1] * shapes[arm][2]
			star.Spectra = append(star.Spectra, rowsOf(arm, data[arm][c.I*n:(c.I+1)*n]))
		}
		c.Optimum.Reference = c.Reference.Chisq
		stars, optima = append(stars, star), append(optima, c.Optimum)
	}
	if len(stars) == 0 {
		t.Skip("the reference's batch has no stars")
	}
	return stars, optima
}

// batchSettings returns the library and the settings of the golden batch.
func batchSettings(t testing.TB) (*Library, Settings) {
	var f struct {
		NPoly        int
		RBF          bool
		Interpolator string
	}
	golden.JSON(t, &f, "spectra", "batch", "batch.json")
	return goldenLibrary(t, f.Interpolator), Settings{Continuum: f.NPoly, Chebyshev: !f.RBF, FixedContinuum: true, Rotation: spectra.Rotation{Compat: true}, Batch: 8}
}

type batchOptimum struct {
	Reference float64 `json:"-"`
	Chisq     float64
	Params    []float64
	Free      []int
	Marginal  []golden.Float `json:"err_marginal"`
	Least     golden.Float   `json:"min_scaled_eig"`
}

// A batch of stars reaches the optima of each, and gives the same bits in any company and with any number of
// threads.
func TestBatchGoldens(t *testing.T) {
	t.Parallel()
	stars, optima := batchStars(t)
	lib, settings := batchSettings(t)
	fitter, err := NewFitter(lib, settings)
	if err != nil {
		t.Fatal(err)
	}
	fits, err := fitter.Fit(context.Background(), stars)
	if err != nil {
		t.Fatal(err)
	}
	for i, o := range optima {
		fit := fits[i]
		if fit.Err != nil {
			t.Fatal(fit.Err)
		}
		if want := min(o.Reference, o.Chisq); !(fit.ChiSquare <= want+0.05) {
			t.Errorf("%s: chi-square %.4f, want %.4f", fit.Star, fit.ChiSquare, want)
		}
		if fit.ChiSquare < o.Chisq-0.05 || len(fit.AtBound) > 0 {
			continue
		}
		for j, k := range o.Free {
			sd := float64(o.Marginal[j])
			if !(math.Abs(fit.X[k]-o.Params[k]) < 0.02*sd) || !(math.Abs(fit.SD[k]/sd-1) < 0.01) {
				t.Errorf("%s: %s is %v +- %v, want %v +- %v", fit.Star, fit.Names[k], fit.X[k], fit.SD[k], o.Params[k], sd)
			}
		}
	}
	settings.Threads = 3
	again, err := NewFitter(lib, settings)
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(stars[len(stars)/3:])
	slices.Reverse(other)
	alone, err := again.Fit(context.Background(), other)
	if err != nil {
		t.Fatal(err)
	}
	for i, a := range alone {
		b := fits[len(fits)-1-i]
		if a.Star != b.Star || !slices.Equal(a.X, b.X) || a.ChiSquare != b.ChiSquare || fmt.Sprint(a.SD, a.Velocity) != fmt.Sprint(b.SD, b.Velocity) || !slices.Equal(a.Spectra[0].Model, b.Spectra[0].Model) {
			t.Errorf("%s: %v, chi-square %v; in other company %v, %v", a.Star, a.X, a.ChiSquare, b.X, b.ChiSquare)
		}
	}
}
