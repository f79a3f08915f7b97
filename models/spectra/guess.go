package spectra

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/parallel"
)

// bruteForce are the values that a search on a grid tries, by the name of the parameter. Others take the
// middle of the library.
var bruteForce = map[string][]float64{
	"teff":  {3000, 5000, 8000, 10000},
	"logg":  {1, 2, 3, 4, 5},
	"feh":   {-2, -1, 0},
	"alpha": {0},
}

// bruteVsini are the rotations that it tries, in km/s.
var bruteVsini = []float64{0, 10, 100}

// Guess finds where fits begin without templates for cross-correlation: it compares each star with the model
// on a coarse grid of parameters, within the library, at all velocities, and returns the best starts, at most
// n of each star, best first. It costs some hundred scans of the velocity for each star. Stars for which it
// finds nothing have no starts; why is in the errors.
func (f *Fitter) Guess(ctx context.Context, stars []Star, n int) (starts [][]Start, errs []error, err error) {
	if err := given.Args("spectra.Guess", "ctx", ctx); err != nil {
		return nil, nil, err
	}
	if n < 1 {
		return nil, nil, fmt.Errorf("spectra: %d starts of each star: want at least 1", n)
	}
	grid := f.coarse()
	starts, errs = make([][]Start, len(stars)), make([]error, len(stars))
	workers := max(1, min(f.s.Threads, len(stars)))
	states := make([]map[*layout]*ad.State, workers)
	parallel.Do(workers, len(stars), func(w, i int) {
		if ctx.Err() != nil {
			return
		}
		if states[w] == nil {
			states[w] = map[*layout]*ad.State{}
		}
		starts[i], errs[i] = f.guess(ctx, &stars[i], grid, n, states[w])
	})
	return starts, errs, ctx.Err()
}

// coarse returns the parameters of the grid, without velocity and rotation.
func (f *Fitter) coarse() [][]float64 {
	lower, upper := f.bounds()
	grid := [][]float64{nil}
	for k, name := range f.library.Params {
		values := bruteForce[name]
		lo, hi := lower[2+k], upper[2+k]
		switch {
		case f.fixed[2+k]:
			values = f.values[2+k : 3+k]
		case values == nil:
			values = []float64{f.library.middle(k)}
		default:
			values = slices.Clone(values)
			for i, v := range values {
				values[i] = min(max(v, lo), hi)
			}
			values = slices.Compact(values)
		}
		var next [][]float64
		for _, g := range grid {
			for _, v := range values {
				next = append(next, append(slices.Clone(g), v))
			}
		}
		grid = next
	}
	return grid
}

// middle returns a value of a parameter in the middle of the library.
func (l *Library) middle(k int) float64 {
	t := l.Arms[0]
	x := 0.0
	switch in := t.Interpolator.(type) {
	case bounded:
		lo, hi := in.Bounds()
		x = (lo[k] + hi[k]) / 2
	case *Network:
		x = in.Mean[k]
	}
	if slices.Contains(t.LogParams, k) {
		return math.Pow(10, x)
	}
	return x
}

// guess compares a star with the model on the grid.
func (f *Fitter) guess(ctx context.Context, star *Star, grid [][]float64, n int, states map[*layout]*ad.State) ([]Start, error) {
	probe := *star
	probe.Starts = []Start{{Params: grid[0]}}
	l, err := f.layoutOf(&probe)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", star.Name, err)
	}
	if states[l] == nil {
		p, err := l.scan()
		if err != nil {
			return nil, err
		}
		states[l] = p.NewState()
	}
	type tried struct {
		Start
		chi float64
	}
	set := scanSettings{f.s.MinVel, f.s.MaxVel, f.s.VelStep, math.Inf(1)}
	at := func(vsini float64, params []float64) (tried, error) {
		if f.fixed[1] {
			vsini = f.values[1]
		}
		theta := append([]float64{0, min(vsini, f.s.Rotation.MaxVsini)}, params...)
		v, err := l.velocities(states[l], &probe, theta, f.s.MinVel, math.NaN(), set)
		return tried{Start{Vel: v.Vel, Vsini: theta[1], Params: params}, v.ChiSquare}, err
	}
	best := func(list []tried) []tried {
		list = slices.DeleteFunc(list, func(t tried) bool { return math.IsNaN(t.chi) || math.IsInf(t.chi, 0) })
		slices.SortStableFunc(list, func(a, b tried) int { return cmp.Compare(a.chi, b.chi) })
		return list
	}
	var first []tried
	for _, params := range grid {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		t, err := at(bruteVsini[1], params)
		if err != nil {
			return nil, err
		}
		first = append(first, t)
	}
	// Rotation matters less than the atmosphere: the best few are tried with all of them.
	first = best(first)
	all := slices.Clone(first)
	for _, t := range first[:min(max(n, 5), len(first))] {
		for _, v := range bruteVsini {
			if v == bruteVsini[1] || f.fixed[1] {
				continue
			}
			more, err := at(v, t.Params)
			if err != nil {
				return nil, err
			}
			all = append(all, more)
		}
	}
	all = best(all)
	if len(all) == 0 {
		return nil, fmt.Errorf("%s: the likelihood is finite nowhere on the grid of first guesses: does the library cover its wavelengths and some of teff 3000 to 10000 K, logg 1 to 5 and feh -2 to 0?", star.Name)
	}
	var starts []Start
	for _, t := range all {
		if len(starts) < n && !slices.ContainsFunc(starts, func(s Start) bool { return slices.Equal(s.Params, t.Params) }) {
			starts = append(starts, t.Start)
		}
	}
	return starts, nil
}
