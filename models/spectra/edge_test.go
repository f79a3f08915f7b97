package spectra

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/infer/dist"
)

// A star with bad data has an error that says where, and the others have their fits.
func TestBadStars(t *testing.T) {
	stars, optima := batchStars(t)
	good := stars[0]
	with := func(edit func(s *Star)) Star {
		s := good
		s.Spectra, s.Starts = slices.Clone(good.Spectra), slices.Clone(good.Starts)
		edit(&s)
		return s
	}
	bad := map[string]Star{
		"no spectra":                 with(func(s *Star) { s.Spectra = nil }),
		"no parameters to start":     with(func(s *Star) { s.Starts = nil }),
		"want [teff logg feh alpha]": with(func(s *Star) { s.Starts[0].Params = []float64{1} }),
		"the library has no arm":     with(func(s *Star) { s.Spectra[0].Arm = "desi_q" }),
		"the flux at":                with(func(s *Star) { s.Spectra[1].Flux = slices.Clone(s.Spectra[1].Flux); s.Spectra[1].Flux[7] = math.NaN() }),
		"want it above 0":            with(func(s *Star) { s.Spectra[1].Err = slices.Clone(s.Spectra[1].Err); s.Spectra[1].Err[7] = 0 }),
		"want them ascending":        with(func(s *Star) { s.Spectra[2].Lam = slices.Clone(s.Spectra[2].Lam); s.Spectra[2].Lam[3] = 1 }),
		"want as many of each":       with(func(s *Star) { s.Spectra[0].Flux = s.Spectra[0].Flux[1:] }),
		"the template covers":        with(func(s *Star) { s.Spectra[0] = shifted(s.Spectra[0], 500) }),
		"not finite at the start":    with(func(s *Star) { s.Starts[0].Params = []float64{-3, 4, 0, 0} }),
		"a start at":                 with(func(s *Star) { s.Starts[0].Vsini = math.Inf(1) }),
	}
	var list []Star
	var wants []string
	for want, s := range bad {
		list, wants = append(list, s), append(wants, want)
	}
	list = append(list, good)
	fitter, err := NewFitter(goldenLibrary(t, "nn"), Settings{Continuum: 10, Batch: 4, NoVerdict: true})
	if err != nil {
		t.Fatal(err)
	}
	fits, err := fitter.Fit(context.Background(), list)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range wants {
		if e := fits[i].Err; e == nil || !strings.Contains(e.Error(), want) || !strings.Contains(e.Error(), "star 0") {
			t.Errorf("%v, want %q", e, want)
		}
	}
	if last := fits[len(wants)]; last.Err != nil || math.Abs(last.ChiSquare-optima[0].Chisq) > 0.01 {
		t.Errorf("the good star: %v, %v", last.ChiSquare, last.Err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := fitter.Fit(ctx, list); err == nil {
		t.Error("a fit after its end")
	}
	if fits, err := fitter.Fit(context.Background(), nil); err != nil || len(fits) != 0 {
		t.Error(fits, err)
	}
}

// shifted moves a spectrum by some Angstrom.
func shifted(s Spectrum, by float64) Spectrum {
	s.Lam = slices.Clone(s.Lam)
	for i := range s.Lam {
		s.Lam[i] -= by
	}
	return s
}

// Mistakes in settings are told all at once.
func TestBadSettings(t *testing.T) {
	_, err := NewFitter(goldenLibrary(t, "nn"), Settings{
		Fixed: map[string]float64{"tef": 5000, "logg": math.NaN()}, Priors: map[string]dist.Dist{"vmic": dist.Normal(0, 1)},
		Floor: map[string]float64{"desi_q": 1}, MinVel: 5, MaxVel: -5, Batch: -1,
	})
	if err == nil {
		t.Fatal("no error")
	}
	for _, want := range []string{`fixed value of "tef"`, "did you mean teff", "logg is fixed at NaN", `prior of "vmic"`, "desi_q", "velocities from 5 to -5", "Batch is -1"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v: want %q", err, want)
		}
	}
}
