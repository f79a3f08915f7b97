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

	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/golden/templates"
)

// holedGrid is the golden grid of an arm without the templates that a function picks by their parameters.
func holedGrid(t testing.TB, arm string, missing func(u []float64) bool) *Templates {
	t.Helper()
	s := RegularSettings{Clamp: true}
	golden.JSON(t, &s.Axes, "spectra", "library", "uvecs.json")
	ids, _ := npy(t, "library", "idgrid.npy")
	points, _ := npy(t, "library", "grid_vec_mapped.npy")
	points = transposed(points, len(s.Axes))
	logs, shape := npy(t, "library", "interpdat_"+arm+".npy")
	// Templates that are left keep their order.
	renumbered := make([]int, shape[0])
	for i := range renumbered {
		u := slices.Clone(points[4*i : 4*i+4])
		u[0] = math.Pow(10, u[0])
		if renumbered[i] = -1; !missing(u) {
			renumbered[i] = len(s.Points) / 4
			s.Points = append(s.Points, points[4*i:4*i+4]...)
			s.LogFlux = append(s.LogFlux, logs[i*shape[1]:(i+1)*shape[1]]...)
		}
	}
	for _, id := range ids {
		if id >= 0 {
			id = float64(renumbered[int(id)])
		}
		s.IDs = append(s.IDs, int(id))
	}
	r, err := NewRegular(s)
	if err != nil {
		t.Fatal(err)
	}
	lam, _ := npy(t, "library", "lam_"+arm+".npy")
	return &Templates{Name: arm, Lam: lam, Log: true, LogParams: []int{0}, Interpolator: r}
}

// Beside a hole of a grid, fits find the optimum that there is without the hole, from starts on all sides and
// in the hole. Where the optimum is in the hole, they end at its edge, or in it, and say so.
func TestFitsBesideHoles(t *testing.T) {
	t.Parallel()
	var axes [][]float64
	golden.JSON(t, &axes, "spectra", "library", "uvecs.json")
	node := slices.IndexFunc(axes[0], func(x float64) bool { return math.Abs(math.Pow(10, x)-5750) < 1 })
	if node < 1 || node+1 == len(axes[0]) || math.Abs(math.Pow(10, axes[0][node-1])-5000) > 1 || math.Abs(math.Pow(10, axes[0][node+1])-6500) > 1 || !slices.Contains(axes[1], 2.5) || !slices.Contains(axes[1], 4) {
		t.Skip("the reference's library has no nodes at 5000, 5750 and 6500 K with 2.5 and 4 dex")
	}
	whole := firstArm(t)
	// The cells that have a corner at 5750 K and 4 dex lack it.
	holed := &Library{Params: whole.Params, Arms: []*Templates{holedGrid(t, templates.Arms(t)[0], func(u []float64) bool { return math.Abs(u[0]-5750) < 1 && u[1] == 4 })}}
	inHole := func(u []float64) bool { return u[0] >= 5000 && u[0] <= 6500 && u[1] >= 2.5 }
	fitter := func(l *Library) *Fitter {
		f, err := NewFitter(l, Settings{Continuum: 6, Batch: 4})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	complete, partial := fitter(whole), fitter(holed)
	s := newSimulator(t, whole, anyMock(t).Spectra[:1], 4)
	starts := []Start{
		{Vel: 10, Vsini: 20, Params: []float64{5200, 2.3, -1, 0.3}}, {Vel: 10, Vsini: 20, Params: []float64{5200, 3.8, -1, 0.3}},
		{Vel: 10, Vsini: 20, Params: []float64{5300, 3.2, -1, 0.3}}, {Vel: 10, Vsini: 20, Params: []float64{4800, 3, -1, 0.3}},
	}
	for _, theta := range [][]float64{{20, 30, 5300, 3.3, -0.8, 0.2}, {20, 30, 4900, 3.2, -0.8, 0.2}, {20, 30, 5300, 2, -0.8, 0.2}} {
		star := Star{Name: fmt.Sprint("star at ", theta), Spectra: s.spectra(t, theta, 0.02, ""), Starts: starts}
		best, err := complete.Fit(context.Background(), []Star{star})
		if err != nil || best[0].Err != nil {
			t.Fatal(err, best[0].Err)
		}
		var each []Star
		for _, start := range starts {
			one := star
			one.Starts = []Start{start}
			each = append(each, one)
		}
		fits, err := partial.Fit(context.Background(), append(each, star))
		if err != nil {
			t.Fatal(err)
		}
		for i, fit := range fits {
			u := fit.X[2:]
			switch {
			case fit.Err != nil || fit.ChiSquare < best[0].ChiSquare-0.01:
				t.Errorf("%s: chi-square %v, in the whole library %v; %v", fit.Star, fit.ChiSquare, best[0].ChiSquare, fit.Err)
			case fit.Status == "converged":
				if fit.Outside != 0 || inHole(u) || inHole(theta[2:]) {
					t.Errorf("%s: a fit from start %d has converged in a hole, at %v", fit.Star, i, u)
				}
			case strings.Contains(fit.Status, "at the edge of a hole"):
				if fit.Outside != 0 || !fit.Converged || inHole(u) || !inHole([]float64{u[0] * 1.01, u[1] + 0.05}) {
					t.Errorf("%s: a fit from start %d ended at %v, %v outside: that is no edge of the hole", fit.Star, i, u, fit.Outside)
				}
			case strings.Contains(fit.Status, "in a hole"):
				if fit.Converged || !inHole(u) || fit.Outside == 0 {
					t.Errorf("%s: a fit from start %d ended at %v, %v outside: that is in no hole", fit.Star, i, u, fit.Outside)
				}
			case strings.Contains(fit.Status, "not converged within"):
				// Progress along an edge, which is no plane to the search, is slow.
				if fit.Converged || fit.Verdict.OK || !inHole(theta[2:]) {
					t.Errorf("%s: a fit from start %d %s", fit.Star, i, fit.Status)
				}
			default:
				t.Errorf("%s: a fit from start %d %s", fit.Star, i, fit.Status)
			}
		}
		last := fits[len(fits)-1] // from all starts
		if found := math.Abs(last.ChiSquare-best[0].ChiSquare) < 0.01; found == inHole(theta[2:]) {
			t.Errorf("%s: chi-square %v at %v, in the whole library %v; it %s", star.Name, last.ChiSquare, last.X, best[0].ChiSquare, last.Status)
		}
	}
}

// Where the spectra do not depend on the parameters, as among nearest templates, a fit has not converged.
func TestFitsAmongNearestTemplates(t *testing.T) {
	t.Parallel()
	points, _ := npy(t, "library", "grid_vec_mapped.npy")
	arm := templates.Arms(t)[0]
	logs, _ := npy(t, "library", "interpdat_"+arm+".npy")
	lam, _ := npy(t, "library", "lam_"+arm+".npy")
	n, err := NewNearest(transposed(points, 4), 4, logs)
	if err != nil {
		t.Fatal(err)
	}
	lib := &Library{Params: paramNames, Arms: []*Templates{{Name: arm, Lam: lam, Log: true, LogParams: []int{0}, Interpolator: n}}}
	f, err := NewFitter(lib, Settings{Continuum: 6, Batch: 1})
	if err != nil {
		t.Fatal(err)
	}
	star := anyMock(t)
	star.Spectra, star.Starts = star.Spectra[:1], []Start{{Vel: math.NaN(), Vsini: 20, Params: []float64{5200, 3.8, -1, 0.3}}}
	fits, err := f.Fit(context.Background(), []Star{star})
	if err != nil || fits[0].Err != nil {
		t.Fatal(err, fits[0].Err)
	}
	if fit := fits[0]; fit.Converged || !strings.Contains(fit.Status, "do not depend on the parameters of the library") || fit.Verdict.OK {
		t.Errorf("it %s after %d evaluations: %v", fit.Status, fit.Evaluations, fit.Verdict)
	}
}
