// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ccf

import (
	"context"
	"fmt"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/models/spectra"
)

// worker is the memory of one goroutine.
type worker struct {
	f      *Finder
	on     int         // the backend
	states []*ad.State // for each arm
	// lagged has chi-square for each star of a batch and arm, of shape (lags, templates), without the constant.
	lagged [][][]float64
	chi    []float64 // of one star: (velocities, templates)
}

func (f *Finder) newWorker() *worker {
	n := f.t.Len()
	w := &worker{f: f, on: f.made % len(ad.Spread(f.s.Backend)), states: make([]*ad.State, len(f.correlators)), chi: make([]float64, len(f.velocities)*n)}
	f.made++
	w.lagged = make([][][]float64, f.s.Batch)
	for b := range w.lagged {
		w.lagged[b] = make([][]float64, len(f.correlators))
	}
	return w
}

// row is what one column of a run correlates: x with the templates, y with their squares.
type row struct {
	star int
	x, y []float64
}

// summary is what the spectra of one star and arm add up to.
type summary struct {
	exposures, pixels int
	constant          float64 // chi-square but for the correlations
}

// find makes the guesses of a batch of stars.
func (w *worker) find(ctx context.Context, stars []spectra.Star, guesses []Guess) error {
	f := w.f
	rows := make([][]row, len(f.correlators))
	parts := make([][]summary, len(stars))
	for i := range stars {
		if ctx.Err() != nil {
			return nil
		}
		guesses[i] = Guess{Star: stars[i].Name}
		parts[i], guesses[i].Err = f.rows(&stars[i], i, rows)
	}
	for k := range rows {
		if err := w.correlate(k, rows[k]); err != nil {
			for i := range guesses {
				guesses[i] = Guess{Star: stars[i].Name, Err: err}
			}
			return err
		}
	}
	for i := range stars {
		if guesses[i].Err == nil {
			w.guess(&guesses[i], parts[i], w.lagged[i])
		}
	}
	return nil
}

// rows prepares the spectra of star i of a batch and appends them to the rows of their arms.
func (f *Finder) rows(star *spectra.Star, i int, rows [][]row) ([]summary, error) {
	parts := make([]summary, len(f.correlators))
	made := make([][]row, len(rows))
	if len(star.Spectra) == 0 {
		return nil, fmt.Errorf("ccf: star %q has no spectra: give at least one", star.Name)
	}
	for k := range star.Spectra {
		s := &star.Spectra[k]
		at := f.place(s.Arm)
		if at < 0 {
			return nil, fmt.Errorf("ccf: star %q, spectrum %d: there are no templates for arm %q, only for %v: make them with Build, or leave the spectrum out", star.Name, k, s.Arm, f.t.Arms())
		}
		if err := check(s); err != nil {
			return nil, fmt.Errorf("star %q, spectrum %d: %w", star.Name, k, err)
		}
		p, err := f.t.arms[at].prepare(s)
		if err != nil {
			return nil, fmt.Errorf("star %q, spectrum %d: %w", star.Name, k, err)
		}
		if p == nil || p.used == 0 {
			continue
		}
		part := &parts[at]
		part.exposures++
		part.pixels += p.used
		made[at] = f.t.arms[at].add(made[at], p, part)
	}
	used := 0
	for k := range made {
		for r := range made[k] {
			made[k][r].star = i
		}
		rows[k] = append(rows[k], made[k]...)
		used += parts[k].pixels
	}
	if used == 0 {
		if err := unusual(star); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("ccf: star %q: none of its %d spectra has %s that the templates cover: check masks, errors and wavelengths", star.Name, len(star.Spectra), errtext.Count(usablePixels, "good pixel"))
	}
	return parts, nil
}

func (f *Finder) place(name string) int {
	for k, a := range f.t.arms {
		if a.name == name {
			return k
		}
	}
	return -1
}

// add adds a spectrum to the rows of a star in one arm. With the continuum divided out,
//
//	chi-square = sum I (s - t)^2,  s and t being flux and template less 1,
//
// is linear in what exposures add up to: one row. Otherwise each exposure has a brightness of its own, and a row.
func (a *arm) add(rows []row, p *prepared, part *summary) []row {
	r := row{x: make([]float64, a.points), y: p.ivar}
	for j, w := range p.ivar {
		if w == 0 {
			continue
		}
		s := p.flux[j]
		if a.continuum {
			s--
			r.x[j] = -2 * s * w
		} else {
			r.x[j] = s * w
		}
		part.constant += s * s * w
	}
	if a.continuum && len(rows) > 0 {
		for j := range r.x {
			rows[0].x[j] += r.x[j]
			rows[0].y[j] += r.y[j]
		}
		return rows
	}
	return append(rows, r)
}

// correlate runs the rows of arm k and adds their chi-squares to lagged.
func (w *worker) correlate(k int, rows []row) error {
	c := w.f.correlators[k]
	if len(rows) == 0 {
		return nil
	}
	if w.lagged[0][k] == nil {
		for b := range w.lagged {
			w.lagged[b][k] = make([]float64, c.lags()*w.f.t.Len())
		}
	}
	state, done, err := c.state(w.on, w.states[k])
	if err != nil {
		return fmt.Errorf("ccf: arm %s: %w", c.arm.name, err)
	}
	defer done()
	w.states[k] = state
	for b := range w.lagged {
		clear(w.lagged[b][k])
	}
	input := state.Input32(0)
	sizes := make([]float64, c.rows)
	for len(rows) > 0 {
		now := rows[:min(len(rows), c.rows)]
		rows = rows[len(now):]
		clear(input)
		for i, r := range now {
			sizes[i] = largest(r)
			c.put(input, i, 0, r.x, sizes[i])
			c.put(input, i, 1, r.y, sizes[i])
		}
		if err := state.Run(); err != nil {
			return fmt.Errorf("ccf: arm %s: %w", c.arm.name, err)
		}
		out := state.Output32(0)
		for i, r := range now {
			c.chiSquare(w.lagged[r.star][k], out, i, r, sizes[i])
		}
	}
	return nil
}

// largest returns the size of the largest number of a row, by which it is divided so that float32 holds it.
func largest(r row) float64 {
	m := 0.0
	for j := range r.x {
		m = max(m, math.Abs(r.x[j]), r.y[j])
	}
	return m
}

// chiSquare adds the chi-square of row i of a run, without its constant, to dst, of shape (lags, templates). The run had
// the row divided by size.
func (c *correlator) chiSquare(dst []float64, out []float32, i int, r row, size float64) {
	n := len(c.levels)
	wide := c.rows * n
	if c.arm.continuum {
		for l := range c.lags() {
			to, from := dst[l*n:][:n], out[l*wide+i*n:][:n]
			for t, v := range from {
				to[t] += float64(v) * size
			}
		}
		return
	}
	x, y := sum(r.x)/size, sum(r.y)/size
	for l := range c.lags() {
		to, first, second := dst[l*n:][:n], out[l*wide+i*n:][:n], out[(c.lags()+l)*wide+i*n:][:n]
		for t, v := range c.levels {
			// The brightness b that minimises b^2 q - 2 b p is p/q.
			if p, q := float64(first[t])+v*x, float64(second[t])+v*v*y; q > 0 {
				to[t] -= p / q * p * size
			}
		}
	}
}

func sum(x []float64) (s float64) {
	for _, v := range x {
		s += v
	}
	return s
}

// guess finds the minima of one star.
func (w *worker) guess(g *Guess, parts []summary, lagged [][]float64) {
	f, n := w.f, w.f.t.Len()
	constant := 0.0
	clear(w.chi)
	for k, p := range parts {
		if p.exposures == 0 {
			continue
		}
		constant += p.constant
		g.Pixels += p.pixels
		f.correlators[k].add(w.chi, lagged[k], n)
	}
	s := newSearch(w.chi, len(f.velocities), n)
	if total := s.sum + constant; math.IsNaN(total) || math.IsInf(total, 0) {
		*g = Guess{Star: g.Star, Err: fmt.Errorf("ccf: star %q: chi-square is not finite: look for errors that are very small beside the flux", g.Star)}
		return
	}
	g.Template = s.template
	g.ChiSquare = constant + s.least[s.template]
	for _, m := range s.minima(f, max(1, g.ChiSquare/float64(g.Pixels))) {
		params := make([]float64, len(f.order))
		for i, k := range f.order {
			params[i] = f.t.params[m.template][k]
		}
		g.Starts = append(g.Starts, spectra.Start{Vel: s.velocity(f.velocities, m), Vsini: f.t.vsini[m.template], Params: params})
	}
	g.Vel, g.Vsini, g.Params = g.Starts[0].Vel, g.Starts[0].Vsini, g.Starts[0].Params
	g.Curve = make([]float64, len(f.velocities))
	for k, p := range parts {
		if p.exposures == 0 {
			continue
		}
		a := ArmGuess{Arm: f.t.arms[k].name, Exposures: p.exposures, Curve: f.correlators[k].curve(lagged[k], n, g.Template)}
		for v := range a.Curve {
			a.Curve[v] += p.constant
			g.Curve[v] += a.Curve[v]
		}
		g.Arms = append(g.Arms, a)
	}
}

// add adds what an arm has at lags to chi, of shape (velocities, templates). Lags are in descending order.
func (c *correlator) add(chi, lagged []float64, n int) {
	for v, tap := range c.taps {
		to := chi[v*n:][:n]
		at := c.lags() - 1 - c.first[v]
		a, b, d, e := lagged[at*n:][:n], lagged[(at-1)*n:][:n], lagged[(at-2)*n:][:n], lagged[(at-3)*n:][:n]
		for t := range to {
			to[t] += tap[0]*a[t] + tap[1]*b[t] + tap[2]*d[t] + tap[3]*e[t]
		}
	}
}

// curve returns the values of one template at the velocities.
func (c *correlator) curve(lagged []float64, n, template int) []float64 {
	out := make([]float64, len(c.taps))
	for v, tap := range c.taps {
		at := c.lags() - 1 - c.first[v]
		for k, w := range tap {
			out[v] += w * lagged[(at-k)*n+template]
		}
	}
	return out
}

// unusual returns an error that names what single precision or the logarithm of a continuum cannot take: fluxes that are mostly below 0, or
// whose squares overflow.
func unusual(star *spectra.Star) error {
	for _, s := range star.Spectra {
		below, most := 0, 0.0
		for _, f := range s.Flux {
			below += map[bool]int{true: 1}[f < 0]
			most = max(most, math.Abs(f))
		}
		switch {
		case most > 1e100:
			return fmt.Errorf("ccf: star %q: fluxes are up to %.2g, and chi-square of such numbers is beyond the range of 64-bit numbers: scale fluxes and errors, for example to a median of 1", star.Name, most)
		case 2*below > len(s.Flux):
			return fmt.Errorf("ccf: star %q: %d of %d fluxes are below 0, which no star has: check the sign of the column and how the background was subtracted", star.Name, below, len(s.Flux))
		}
	}
	return nil
}
