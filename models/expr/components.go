// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"cmp"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/autodiff/formula"
)

// Complete adds what the components of the formula bring: bounds of parameters that are above 0, where they have none, and derived quantities such as widths and
// heights, where their names are free. Parse calls it.
func (p *Problem) Complete() {
	f, err := formula.Parse(p.Expr)
	if err != nil {
		return // told where the formula is used
	}
	for _, part := range f.Parts() {
		for _, name := range part.Positive {
			full := part.Parameter(name)
			_, bounded := p.Bounds[full]
			_, prior := p.Priors[full]
			if _, fixed := p.Fixed[full]; bounded || prior || fixed || p.Tied[full] != "" || slices.Contains(p.Flat, full) {
				continue
			}
			if p.Bounds == nil {
				p.Bounds = map[string]Bounds{}
			}
			p.Bounds[full] = Bounds{0, inf}
		}
		for name, text := range part.DerivedFormulas() {
			_, column := p.Data[name]
			if column || p.Derived[name] != "" || slices.Contains(f.Names(), name) {
				continue
			}
			if p.Derived == nil {
				p.Derived = map[string]string{}
			}
			p.Derived[name] = text
		}
	}
}

// componentStarts are starts that the data suggest for the components of the formula: peaks are found one after another, each in what the ones before leave.
func (p *Problem) componentStarts() (starts []map[string]float64) {
	f, err := formula.Parse(p.Expr)
	if err != nil || len(f.Parts()) == 0 {
		return nil
	}
	y, err := p.Observed()
	if err != nil {
		return nil
	}
	for _, variable := range p.Numeric() {
		parts := slices.DeleteFunc(f.Parts(), func(part formula.Part) bool { return part.Variable != variable })
		x := p.Data[variable].Values
		if len(parts) == 0 || len(x) < 4 || slices.Min(x) == slices.Max(x) {
			continue
		}
		s := sortedCurve(x, y)
		var peaks []formula.Part
		rest := map[string]float64{}
		for _, part := range parts {
			switch part.Kind {
			case formula.Peak:
				peaks = append(peaks, part)
			case formula.StepKind:
				s.step(rest, part)
			case formula.DecayKind:
				rest[part.Parameter("decay")] = (s.x[len(s.x)-1] - s.x[0]) / 3
			}
		}
		found := s.peaks(len(peaks))
		for _, order := range orders(found) {
			start := map[string]float64{}
			for name, v := range rest {
				start[name] = v
			}
			for k, part := range peaks {
				if k < len(order) {
					order[k].into(start, part)
				}
			}
			starts = append(starts, start)
		}
	}
	return starts
}

// curve is y along ascending x.
type curve struct{ x, y []float64 }

func sortedCurve(x, y []float64) *curve {
	order := make([]int, len(x))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(x[a], x[b]) })
	c := &curve{}
	for _, i := range order {
		c.x, c.y = append(c.x, x[i]), append(c.y, y[i])
	}
	return c
}

// step is where y crosses the middle between its ends.
func (c *curve) step(into map[string]float64, part formula.Part) {
	n := len(c.x)
	span := c.x[n-1] - c.x[0]
	middle := (c.y[0] + c.y[n-1]) / 2
	at := c.x[n/2]
	for i := 1; i < n; i++ {
		if (c.y[i-1] < middle) != (c.y[i] < middle) {
			at = c.x[i]
			break
		}
	}
	into[part.Parameter("amplitude")] = c.y[n-1] - c.y[0]
	into[part.Parameter("center")], into[part.Parameter("sigma")] = at, span/20
}

// foundPeak is a peak in data, with its width sigma if it were normal.
type foundPeak struct{ center, sigma, height float64 }

// into writes the start of a component.
func (f foundPeak) into(start map[string]float64, part formula.Part) {
	start[part.Parameter("amplitude")] = f.height * f.sigma * math.Sqrt(2*math.Pi)
	start[part.Parameter("center")], start[part.Parameter("sigma")] = f.center, f.sigma
	for name, v := range map[string]float64{"gamma": f.sigma, "fraction": 0.5, "beta": 1.5, "q": 1} {
		if slices.Contains(part.Params, name) {
			start[part.Parameter(name)] = v
		}
	}
	switch part.Name {
	case "doniach", "skewed_gaussian":
		start[part.Parameter("gamma")] = 0.1
	case "exponential_gaussian":
		start[part.Parameter("gamma")] = 1 / f.sigma
	}
}

// peaks finds n peaks above the straight line between the ends, the highest first. Each is taken away before the next is looked for.
func (c *curve) peaks(n int) (found []foundPeak) {
	m := len(c.x)
	end := max(1, m/20)
	lo, hi := mean(c.y[:end]), mean(c.y[m-end:])
	rest := make([]float64, m)
	for i, x := range c.x {
		u := (x - c.x[0]) / (c.x[m-1] - c.x[0])
		rest[i] = c.y[i] - (1-u)*lo - u*hi
	}
	sign := 1.0
	if slices.Max(rest) < -slices.Min(rest) { // dips
		sign = -1
	}
	for range n {
		s := smooth(rest)
		top := 0
		for i := range s {
			if sign*s[i] > sign*s[top] {
				top = i
			}
		}
		half := s[top] / 2
		left, right := top, top
		for left > 0 && sign*s[left] > sign*half {
			left--
		}
		for right < m-1 && sign*s[right] > sign*half {
			right++
		}
		width := 2 * min(nonzero(c.x[top]-c.x[left], c.x[right]-c.x[top]), nonzero(c.x[right]-c.x[top], c.x[top]-c.x[left])) // the side that no other peak widens
		f := foundPeak{c.x[top], width / (2 * math.Sqrt(2*math.Ln2)), s[top]}
		if !(f.sigma > 0) {
			f.sigma = (c.x[m-1] - c.x[0]) / float64(m)
		}
		found = append(found, f)
		for i, x := range c.x {
			u := (x - f.center) / f.sigma
			rest[i] -= f.height * math.Exp(-u*u/2)
		}
	}
	return found
}

func nonzero(a, b float64) float64 {
	if a > 0 {
		return a
	}
	return b
}

func mean(v []float64) float64 {
	s := 0.0
	for _, x := range v {
		s += x / float64(len(v))
	}
	return s
}

// smooth takes means of about a hundredth of the values, at least three.
func smooth(v []float64) []float64 {
	half := max(1, len(v)/200)
	out := make([]float64, len(v))
	for i := range v {
		out[i] = mean(v[max(0, i-half):min(len(v), i+half+1)])
	}
	return out
}

// orders are the ways in which found peaks may belong to components: by height, and from either side.
func orders(found []foundPeak) (all [][]foundPeak) {
	all = append(all, found)
	if len(found) < 2 {
		return all
	}
	up := slices.Clone(found)
	slices.SortFunc(up, func(a, b foundPeak) int { return cmp.Compare(a.center, b.center) })
	down := slices.Clone(up)
	slices.Reverse(down)
	return append(all, up, down)
}
