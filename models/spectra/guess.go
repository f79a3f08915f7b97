// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// GuessSettings describe the grid of parameters from which first guesses are taken. The zero value
// is the default.
type GuessSettings struct {
	// Values holds the values of parameters on the grid, in their units: vsini, and those of the
	// library. Default: vsini 0, 10 and 100; teff 3000, 5000, 8000 and 10000; logg 1 to 5 in steps
	// of 1; feh -2, -1 and 0; alpha 0; and for all others the middle of what the library covers.
	// Values beyond the library are moved to its end. Parameters that are fixed have their one
	// value.
	Values map[string][]float64
	// Keep is the number of starts that are kept for each star. Default 3.
	Keep int
}

// gridValues are the defaults of GuessSettings.Values.
var gridValues = map[string][]float64{
	Vsini: {0, 10, 100}, "teff": {3000, 5000, 8000, 10000}, "logg": {1, 2, 3, 4, 5}, "feh": {-2, -1, 0}, "alpha": {0},
}

// Guess holds the best points of a grid for a star.
type Guess struct {
	Starts    []Start   // starts of fits, the best first
	ChiSquare []float64 // -2 log posterior of each start
	Err       error     // reason why there are no starts
}

// Guess looks for starts of fits without any knowledge of the stars: it computes the likelihood of
// all points of a grid of parameters, at all velocities in steps of Settings.VelStep, and keeps the
// best points, each at its best velocity. It costs as many scans of velocities as the grid has
// points, and a few of these cost as much as a fit: if there are templates for it,
// cross-correlation is much cheaper. Stars need no Starts.
//
// The error of one star is in its Guess; the error returned is that of ctx, or one that concerns
// all.
func (f *Fitter) Guess(ctx context.Context, stars []Star, s GuessSettings) ([]Guess, error) {
	if err := given.Args("spectra.Guess", "ctx", ctx); err != nil {
		return nil, err
	}
	grid, err := f.grid(s)
	if err != nil {
		return nil, err
	}
	keep := s.Keep
	if keep == 0 {
		keep = 3
	}
	guesses, layouts := make([]Guess, len(stars)), make([]*layout, len(stars))
	var list []int
	for i := range stars {
		if layouts[i], err = f.layoutOfSpectra(&stars[i]); err != nil {
			guesses[i].Err = fmt.Errorf("%s: %w", stars[i].Name, err)
			continue
		}
		list = append(list, i)
	}
	// found has the points of the grid for each star, with their chi-squares.
	found, n := make([]Guess, len(list)), len(grid)
	for i := range found {
		found[i] = Guess{Starts: make([]Start, n), ChiSquare: make([]float64, n)}
	}
	workers := min(f.s.Threads, len(list)*n)
	scanners, faults := make([]scanner, workers), make([]error, len(list)*n)
	parallel.Do(workers, len(list)*n, func(w, task int) {
		if faults[task] = ctx.Err(); faults[task] != nil {
			return
		}
		i, point := task/n, task%n
		g := &found[i]
		g.Starts[point], g.ChiSquare[point], faults[task] = layouts[list[i]].guess(&scanners[w], &stars[list[i]], grid[point])
	})
	if err := errors.Join(append(faults, ctx.Err())...); err != nil {
		return nil, err
	}
	for i, star := range list {
		guesses[star] = found[i].best(keep)
		if len(guesses[star].Starts) == 0 {
			guesses[star].Err = fmt.Errorf("%s: the likelihood is not finite anywhere on the grid: check errors and wavelengths", stars[star].Name)
		}
	}
	return guesses, nil
}

// guess returns a point of the grid with the best velocities, and its chi-square.
func (l *layout) guess(s *scanner, star *Star, point []float64) (Start, float64, error) {
	start := Start{Vel: l.values[0], Vsini: point[0], Params: point[1:]}
	x := append(make([]float64, l.velocities), point...)
	total := 0.0
	for k := range l.velocities {
		vel, chi := l.values[k], math.NaN()
		if l.fixed[k] {
			state, err := s.state(l, k, star, x)
			if err != nil {
				return start, 0, err
			}
			at, err := l.each[k].chiSquares(state, []float64{vel})
			if err != nil {
				return start, 0, err
			}
			chi = at[0]
		} else {
			set := scanSettings{l.f.s.MinVel, l.f.s.MaxVel, l.f.s.VelStep, math.Inf(1)}
			v, err := s.scan(l, k, star, x, l.f.s.MinVel, math.NaN(), set)
			if err != nil {
				return start, 0, err
			}
			vel, chi = v.Vel, v.ChiSquare
		}
		if total += chi; k == 0 {
			start.Vel = vel
		}
		if l.f.s.PerExposure {
			start.Vels = append(start.Vels, vel)
		}
	}
	return start, total, nil
}

// best returns the best points.
func (g Guess) best(keep int) (out Guess) {
	var order []int
	for i, chi := range g.ChiSquare {
		if !math.IsNaN(chi) && !math.IsInf(chi, 0) {
			order = append(order, i)
		}
	}
	sort.SliceStable(order, func(a, b int) bool { return g.ChiSquare[order[a]] < g.ChiSquare[order[b]] })
	for _, i := range order[:min(keep, len(order))] {
		out.Starts, out.ChiSquare = append(out.Starts, g.Starts[i]), append(out.ChiSquare, g.ChiSquare[i])
	}
	return out
}

// grid returns the points of the grid: vsini and the parameters of the library of each.
func (f *Fitter) grid(s GuessSettings) ([][]float64, error) {
	var bad []error
	if s.Keep < 0 {
		bad = append(bad, fmt.Errorf("spectra: Keep is %d: want at least 1, or 0 for the default", s.Keep))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Values)) {
		if !slices.Contains(f.names[1:], name) {
			err := fmt.Errorf("spectra: the grid has values of %q: want only some of %s", name, strings.Join(f.names[1:], ", "))
			if near := spelling.Meant(name, f.names[1:]); near != "" {
				err = fmt.Errorf("%w: did you mean %s?", err, near)
			}
			bad = append(bad, err)
		}
	}
	lower, upper := f.covered()
	points := [][]float64{nil}
	for k := 1; k < len(f.names); k++ {
		values, err := f.gridOf(k, s.Values, lower[k], upper[k])
		if err != nil {
			bad = append(bad, err)
		}
		var next [][]float64
		for _, p := range points {
			for _, v := range values {
				next = append(next, append(slices.Clone(p), v))
			}
		}
		points = next
	}
	return points, errors.Join(bad...)
}

// gridOf returns the values of parameter k on the grid.
func (f *Fitter) gridOf(k int, given map[string][]float64, lower, upper float64) ([]float64, error) {
	name := f.names[k]
	values, ok := given[name]
	if !ok {
		values = gridValues[name]
	}
	switch middle := (lower + upper) / 2; {
	case f.fixed[k]:
		return f.values[k : k+1], nil
	case ok && len(values) == 0:
		return nil, fmt.Errorf("spectra: the grid has no values of %s: give at least one, or leave it out of Values", name)
	case len(values) == 0 && (math.IsInf(middle, 0) || math.IsNaN(middle)):
		return nil, fmt.Errorf("spectra: the library does not say what it covers in %s: give values to try", name)
	case len(values) == 0:
		return []float64{middle}, nil
	}
	var out []float64
	for _, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("spectra: a value of %s on the grid is %v: want finite numbers", name, v)
		}
		if v = min(max(v, lower), upper); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out, nil
}

// ranged is an interpolator that knows the range of its mapped parameters.
type ranged interface {
	span() (lower, upper []float64)
}

// covered returns the ranges of all parameters: bounds, and those of the templates of all arms.
func (f *Fitter) covered() (lower, upper []float64) {
	lower, upper = f.bounds()
	for _, t := range f.library.Arms {
		if r, ok := t.Interpolator.(ranged); ok {
			lo, hi := r.span()
			t.narrow(lower[2:], upper[2:], lo, hi)
		}
	}
	return lower, upper
}

// spanOf returns the ranges of rows of coordinates.
func spanOf(points []float64, dim int) (lower, upper []float64) {
	lower, upper = slices.Repeat([]float64{math.Inf(1)}, dim), slices.Repeat([]float64{math.Inf(-1)}, dim)
	for i, x := range points {
		lower[i%dim], upper[i%dim] = min(lower[i%dim], x), max(upper[i%dim], x)
	}
	return lower, upper
}

func (r *Regular) span() (lower, upper []float64) { return r.Bounds() }

func (n *Network) span() (lower, upper []float64) {
	lower, upper = spanOf(n.points, n.Dim())
	for k, s := range n.SD {
		lower[k], upper[k] = n.Mean[k]+s*lower[k], n.Mean[k]+s*upper[k]
	}
	return lower, upper
}

func (n *Nearest) span() (lower, upper []float64) {
	lower, upper = spanOf(n.points, n.dim)
	for k, s := range n.scale {
		lower[k], upper[k] = lower[k]/s, upper[k]/s
	}
	return lower, upper
}

// span leaves out the points that are none of the library's.
func (d *Delaunay) span() (lower, upper []float64) {
	var points []float64
	n := d.Dim()
	for i, flag := range d.flags {
		if flag == 0 {
			points = append(points, d.mesh.Points[i*n:(i+1)*n]...)
		}
	}
	return spanOf(points, n)
}
