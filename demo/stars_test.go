package demo

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/models/spectra"
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

func library(t testing.TB, s LibrarySettings) *spectra.Library {
	t.Helper()
	files, err := StarLibrary(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return must[*spectra.Library](t)(spectra.From(files, spectra.LoadSettings{}))
}

func TestTime(t *testing.T) {
	for _, whole := range []bool{false, true} {
		at := time.Now()
		l, err := StarTemplates(context.Background(), LibrarySettings{Whole: whole, Threads: 1})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println(whole, time.Since(at), l[0].Spectra.Shape(), l[1].Spectra.Shape(), l[2].Spectra.Shape())
	}
	lib := library(t, LibrarySettings{})
	at := time.Now()
	stars, truth, err := Stars(context.Background(), lib, 3, StarSettings{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(time.Since(at), len(stars[0].Spectra[0].Lam))
	at = time.Now()
	f := must[*spectra.Fitter](t)(spectra.NewFitter(lib, spectra.Settings{Continuum: 6}))
	for i := range stars {
		stars[i].Starts = []spectra.Start{{Vel: math.NaN(), Vsini: 10, Params: []float64{5750, 3, -1, 0.2}}}
	}
	fits, err := f.Fit(context.Background(), stars)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(time.Since(at))
	for i, x := range fits {
		want := append([]float64{truth[i].Vel, truth[i].Vsini}, truth[i].Params...)
		fmt.Println(x.Err, x.Status, x.X, want, x.ChiSquare, x.Verdict)
		for k := range want {
			fmt.Print((x.X[k]-want[k])/x.SD[k], " ")
		}
		fmt.Println()
		for _, y := range x.Spectra { fmt.Println(y.Arm, y.ChiSquare, y.Pixels) }
	}
	_ = slices.Max[[]float64]
}
