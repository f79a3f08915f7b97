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
)

// smallLibrary has one arm of a few pixels, in two parameters.
func smallLibrary(t testing.TB) *Library {
	var lam, points, logs []float64
	for i := range 160 {
		lam = append(lam, 4990*math.Exp(3e-5*float64(i)))
	}
	axes := [][]float64{{0, 1, 2}, {-1, 0, 1}}
	var ids []int
	for _, a := range axes[0] {
		for _, b := range axes[1] {
			ids, points = append(ids, len(ids)), append(points, a, b)
			for _, x := range lam {
				line := func(at, width float64) float64 { return math.Exp(-(x - at) * (x - at) / (2 * width * width)) }
				logs = append(logs, -(0.3+0.2*a)*line(5000, 0.5)-(0.3+0.1*b-0.02*a*b)*line(5003, 0.7)-0.2*line(5006, 0.4))
			}
		}
	}
	r, err := NewRegular(RegularSettings{Axes: axes, IDs: ids, Points: points, LogFlux: logs, Clamp: true})
	if err != nil {
		t.Fatal(err)
	}
	return &Library{Params: []string{"a", "b"}, Arms: []*Templates{{Name: "small", Lam: lam, Log: true, Interpolator: r}}}
}

// hostile are numbers that a file may have in place of good ones.
var hostile = []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1e300, -1e300, 1e-300, 5e-324, 1e30, 1e-30, math.MaxFloat64, 1e9, 4000}

// spoiled returns numbers, as many as there are bytes, some of them hostile: those above 127.
func spoiled(kind []byte, good func(i int) float64) []float64 {
	out := make([]float64, len(kind))
	for i, b := range kind {
		if out[i] = good(i); b > 127 {
			out[i] = hostile[int(b)%len(hostile)]
		}
	}
	return out
}

// Spectra with any numbers end no fit but their own, which has an error that names star and spectrum, or
// finite parameters within their bounds; and a good star beside them has the bits that it has alone.
func FuzzStar(f *testing.F) {
	const pixels = 14
	good := make([]byte, pixels)
	with := func(i int, b byte) []byte {
		out := slices.Clone(good)
		out[i] = b
		return out
	}
	all := func(b byte) []byte { return slices.Repeat([]byte{b}, pixels) }
	start := make([]byte, 4)
	f.Add(good, good, good, good, start, false)
	for b := range byte(len(hostile)) {
		b += 182 // 13 times 14, so that every number comes once
		f.Add(good, with(5, b), good, good, start, true)
		f.Add(good, good, with(5, b), good, start, false)
		if b%3 == 0 {
			f.Add(good, all(b), good, good, start, false)
			f.Add(good, good, all(b), good, start, true)
			f.Add(with(5, b), good, good, good, start, false)
		}
		f.Add(good, good, good, good, []byte{0, b, 0, 0}, false)
		f.Add(good, good, good, good, []byte{b, 0, 0, b}, true)
	}
	f.Add(good, good, good, all(1), start, false)                                          // all pixels bad
	f.Add(good[:1], good[:1], good[:1], good[:1], start, false)                            // one pixel
	f.Add(good[:2], good[:2], good[:2], []byte{}, start, false)                            // fewer than the functions
	f.Add(good, good[:3], good, good, start, true)                                         // wrong lengths
	f.Add([]byte{}, []byte{}, []byte{}, []byte{}, start, true)                             // nothing
	f.Add([]byte{127, 1, 2, 3, 4}, good[:5], good[:5], good[:5], []byte{}, false)          // descending, no start
	f.Add(good, with(5, 187), with(6, 187), with(7, 1), []byte{128 + 3, 0, 0, 0, 0}, true) // several
	lib := smallLibrary(f)
	flux := func(i int) float64 {
		return 2 - 0.5*math.Exp(-(float64(i)-3)*(float64(i)-3)) - 0.3*math.Exp(-(float64(i)-6)*(float64(i)-6)) + 0.01*math.Sin(9*float64(i))
	}
	lams := func(i int) float64 { return 4997 + float64(i) }
	errs := func(i int) float64 { return 0.02 }
	beside := Star{Name: "good", Starts: []Start{{Vel: 3, Vsini: 5, Params: []float64{1, 0.2}}}}
	beside.Spectra = []Spectrum{{Arm: "small", Lam: spoiled(good, lams), Flux: spoiled(good, flux), Err: spoiled(good, errs), Exposure: "1"}}
	fitters := map[bool]*Fitter{}
	alone := map[bool]Fit{}
	for _, per := range []bool{false, true} {
		var err error
		if fitters[per], err = NewFitter(lib, Settings{Continuum: 3, Batch: 2, MinVel: -200, MaxVel: 200, PerExposure: per, Threads: 1}); err != nil {
			f.Fatal(err)
		}
		fits, err := fitters[per].Fit(context.Background(), []Star{beside})
		if err != nil || fits[0].Err != nil {
			f.Fatal(err, fits[0].Err)
		}
		alone[per] = fits[0]
	}
	f.Fuzz(func(t *testing.T, lam, flx, e, bad, start []byte, per bool) {
		if len(lam) > 40 || len(start) > 8 {
			t.Skip()
		}
		x := Spectrum{Arm: "small", Exposure: "2", Flux: spoiled(flx, flux), Err: spoiled(e, errs)}
		x.Lam = spoiled(lam, func(i int) float64 { return lams(i) - float64(lam[i])/10 })
		for _, b := range bad {
			x.Bad = append(x.Bad, b != 0)
		}
		star := Star{Name: "hostile", Spectra: []Spectrum{beside.Spectra[0], x}}
		if len(start) > 1 {
			star.Starts = []Start{{Vel: spoiled(start[:1], func(int) float64 { return 3 })[0], Vsini: spoiled(start[1:2], func(int) float64 { return 5 })[0], Params: spoiled(start[2:], func(int) float64 { return 0.5 })}}
		}
		fitter := fitters[per]
		if !slices.Equal(x.Lam, beside.Spectra[0].Lam) { // whose programs serve this one star
			var err error
			if fitter, err = NewFitter(lib, fitter.s); err != nil {
				t.Fatal(err)
			}
		}
		single := Star{Name: "hostile", Spectra: []Spectrum{x}, Starts: star.Starts}
		fits, err := fitter.Fit(context.Background(), []Star{single, beside, star})
		if err != nil {
			t.Fatal(err)
		}
		if a, b := alone[per], fits[1]; b.Err != nil || !slices.Equal(a.X, b.X) || a.ChiSquare != b.ChiSquare || fmt.Sprint(a.SD, a.Velocity) != fmt.Sprint(b.SD, b.Velocity) {
			t.Errorf("the good star has %v, %v; alone %v", b.X, b.Err, a.X)
		}
		for i, fit := range []Fit{fits[0], fits[2]} {
			if fit.Err != nil {
				text := fit.Err.Error()
				startless := strings.Contains(text, "start") || strings.Contains(text, "not finite")
				if !strings.HasPrefix(text, "hostile: ") || !startless && !strings.Contains(text, fmt.Sprint("spectrum ", i)) {
					t.Errorf("the error does not say where: %v", fit.Err)
				}
				continue
			}
			n := len(fit.X)
			for k, v := range fit.X {
				lower, upper := []float64{-200, 0, 0, -1}[max(0, k-n+4)], []float64{200, 500, 2, 1}[max(0, k-n+4)]
				if !(v >= lower && v <= upper) {
					t.Errorf("%s is %v", fit.Names[k], v)
				}
			}
			if math.IsNaN(fit.ChiSquare) || math.IsInf(fit.ChiSquare, 0) || fit.Evaluations > mostSteps+1 {
				t.Errorf("chi-square %v after %d evaluations", fit.ChiSquare, fit.Evaluations)
			}
		}
		if _, err := fitter.Guess(context.Background(), []Star{single}, GuessSettings{Values: map[string][]float64{Vsini: {5}}}); err != nil {
			t.Error(err)
		}
	})
}
