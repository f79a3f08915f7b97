// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package ccf

import (
	"math"
	"slices"
)

const (
	// plausible is how far above the least chi-square, in units of its excess over the number of pixels, another velocity
	// is worth a start.
	plausible = 25
	// apart is the least distance of velocities, in km/s, that are worth a start each.
	apart = 50
)

// search looks for minima of chi, of shape (velocities, templates).
type search struct {
	chi      []float64
	n        int
	least    []float64 // of each template
	at       []int     // velocity of it
	envelope []int     // the best template at each velocity
	template int       // the best one
	sum      float64   // of all, which is finite if they are
}

type minimum struct {
	template, at int
	chi          float64
}

func newSearch(chi []float64, velocities, n int) *search {
	s := &search{chi: chi, n: n, least: make([]float64, n), at: make([]int, n), envelope: make([]int, velocities)}
	for t := range s.least {
		s.least[t] = math.Inf(1)
	}
	for v := range velocities {
		best := 0
		row := chi[v*n:][:n]
		for t, x := range row {
			s.sum += x
			if x < s.least[t] {
				s.least[t], s.at[t] = x, v
			}
			if x < row[best] {
				best = t
			}
		}
		s.envelope[v] = best
	}
	for t, x := range s.least {
		if x < s.least[s.template] {
			s.template = t
		}
	}
	return s
}

// minima chooses the starts, the best first. scale is by how much chi-square differences are too large because the
// templates do not fit.
func (s *search) minima(f *Finder, scale float64) []minimum {
	best := minimum{s.template, s.at[s.template], s.least[s.template]}
	out := []minimum{best}
	distinct := func(m minimum) bool {
		for _, o := range out {
			if math.Abs(f.velocities[m.at]-f.velocities[o.at]) < apart && slices.Equal(f.t.params[m.template], f.t.params[o.template]) {
				return false
			}
		}
		return true
	}
	for _, other := range []struct {
		near bool
		most int
	}{{false, 1 + f.s.Starts/3}, {true, f.s.Starts}, {false, f.s.Starts}} {
		candidates := s.near()
		if !other.near {
			candidates = s.far(f, best, best.chi+plausible*scale)
		}
		for _, m := range candidates {
			if len(out) >= min(other.most, f.s.Starts) {
				break
			}
			if distinct(m) {
				out = append(out, m)
			}
		}
	}
	slices.SortStableFunc(out[1:], byChi)
	return out
}

// near returns the minima of all templates.
func (s *search) near() []minimum {
	out := make([]minimum, 0, s.n)
	for t, x := range s.least {
		out = append(out, minimum{t, s.at[t], x})
	}
	slices.SortStableFunc(out, byChi)
	return out
}

// far returns the local minima of the best chi-square of all templates that are not about the best velocity and not
// above a limit.
func (s *search) far(f *Finder, best minimum, limit float64) []minimum {
	var out []minimum
	value := func(v int) float64 { return s.chi[v*s.n+s.envelope[v]] }
	last := len(s.envelope) - 1
	for v := range s.envelope {
		x := value(v)
		if x > limit || math.Abs(f.velocities[v]-f.velocities[best.at]) < apart {
			continue
		}
		if (v == 0 || x < value(v-1)) && (v == last || x <= value(v+1)) {
			out = append(out, minimum{s.envelope[v], v, x})
		}
	}
	slices.SortStableFunc(out, byChi)
	return out
}

func byChi(a, b minimum) int {
	switch {
	case a.chi < b.chi:
		return -1
	case a.chi > b.chi:
		return 1
	}
	return a.template - b.template
}

// velocity returns that of the parabola through a minimum and its neighbours; at the ends of the range, and where the
// parabola has no minimum, that of the grid.
func (s *search) velocity(velocities []float64, m minimum) float64 {
	v := m.at
	if v == 0 || v == len(velocities)-1 {
		return velocities[v]
	}
	left, middle, right := s.chi[(v-1)*s.n+m.template], s.chi[v*s.n+m.template], s.chi[(v+1)*s.n+m.template]
	bend := left - 2*middle + right
	if !(bend > 0) {
		return velocities[v]
	}
	step := (velocities[v+1] - velocities[v-1]) / 2
	return velocities[v] + step*(left-right)/(2*bend)
}
