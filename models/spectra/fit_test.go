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
	"github.com/euryale-dev/euryale/sim/spectra"
)

var armNames = []string{"desi_b", "desi_r", "desi_z"}

// goldenLibrary is the library of all arms, interpolated by grids or networks.
func goldenLibrary(t testing.TB, kind string) *Library {
	l := &Library{Params: []string{"teff", "logg", "feh", "alpha"}}
	for _, arm := range armNames {
		if kind == "nn" {
			l.Arms = append(l.Arms, goldenNetwork(t, arm))
		} else {
			l.Arms = append(l.Arms, goldenGrid(t, arm, true))
		}
	}
	return l
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

// mock is a star of the golden files.
func mock(t testing.TB, name string) Star {
	star := Star{Name: name}
	suffixes := []string{""}
	if name == "m1multi" {
		suffixes = []string{"_exp1", "_exp2"}
	}
	for _, suffix := range suffixes {
		for _, arm := range armNames {
			x, _ := npy(t, "chain", name+"_"+arm+suffix+".npy")
			star.Spectra = append(star.Spectra, rowsOf(arm, x))
		}
	}
	return star
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
	for i, s := range star.Spectra {
		name := "yfit_" + c.Mock + "_" + c.Interpolator + "_" + s.Arm
		if len(star.Spectra) > len(armNames) {
			name += fmt.Sprintf("_exp%d", i/len(armNames)+1)
		}
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
			if r := c.Result; math.Abs(fit.ChiSquare-r.Chisq) < 0.05 && len(c.Priors) == 0 && c.Mock != "m2" {
				if v := fit.Velocity; math.Abs(v.Vel-r.Vel) > 0.02*r.VelErr || math.Abs(v.SD/r.VelErr-1) > 0.01 {
					t.Errorf("velocity %v +- %v, want %v +- %v", v.Vel, v.SD, r.Vel, r.VelErr)
				}
			}
			if o := c.Optimum64; o != nil && len(fit.AtBound) == 0 && fit.Outside == 0 && c.Mock != "m2" && c.Mock != "m5" {
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
	for _, arm := range armNames {
		data[arm], shapes[arm] = npy(t, "batch", "spectra_"+arm+".npy")
	}
	for _, c := range f.Cases {
		star := Star{Name: fmt.Sprint("star ", c.I), Starts: []Start{{Vel: c.CCF.Vel, Vsini: c.CCF.Start["vsini"]}}}
		for _, p := range []string{"teff", "logg", "feh", "alpha"} {
			star.Starts[0].Params = append(star.Starts[0].Params, c.CCF.Start[p])
		}
		for _, arm := range armNames {
			n := shapes[arm][1] * shapes[arm][2]
			star.Spectra = append(star.Spectra, rowsOf(arm, data[arm][c.I*n:(c.I+1)*n]))
		}
		c.Optimum.Reference = c.Reference.Chisq
		stars, optima = append(stars, star), append(optima, c.Optimum)
	}
	return stars, optima
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
	fitter, err := NewFitter(goldenLibrary(t, "nn"), Settings{Continuum: 10, FixedContinuum: true, Rotation: spectra.Rotation{Compat: true}, Batch: 8})
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
	again, err := NewFitter(goldenLibrary(t, "nn"), Settings{Continuum: 10, FixedContinuum: true, Rotation: spectra.Rotation{Compat: true}, Batch: 8, Threads: 3})
	if err != nil {
		t.Fatal(err)
	}
	other := slices.Clone(stars[7:])
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
