// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Bins say how the numbers of a frame follow from what its pixels receive: each is a mean over pixels with weights, or the contrast of two
// such means.
type Bins struct {
	// From, Pixel and Weight are the rows of a sparse matrix: number i is the sum of Weight[k] times the rate of Pixel[k] for k from From[i]
	// to From[i+1]-1.
	From, Pixel []int
	Weight      []float64
	// Less makes the numbers (a - b)/(a + b), where a is the mean of these bins and b that of Less.
	Less *Bins
	// Q in 1/nm and Chi in degrees say where the bins are; Chi is NaN for bins of all directions.
	Q, Chi []float64
	// Rows is the number of directions, by which the bins are ordered before q. Default 1.
	Rows int
	// Interpolated says that numbers were interpolated between pixels that others share.
	Interpolated bool
	// Also are further numbers of the same bins at other angles of the electric field, with which the numbers are averaged.
	Also []Sight
}

// Sight is what bins show at an angle of the electric field in degrees.
type Sight struct {
	Angle float64
	Bins  *Bins
}

// length returns the number of bins.
func (b *Bins) length() int { return len(b.From) - 1 }

// of returns the numbers of the bins from the rates of the pixels.
func (b *Bins) of(rates *ad.Node) *ad.Node {
	mean := func(b *Bins) *ad.Node {
		return ad.NewSparseMatrix(rates.Size(), b.From, b.Pixel, b.Weight).Along(rates, 0)
	}
	if b.Less == nil {
		return mean(b)
	}
	x, y := mean(b), mean(b.Less)
	const least = 1e-300 // where no pixel is, and the number is not compared
	return ad.Div(ad.Sub(x, y), ad.Maximum(ad.Add(x, y), ad.Scalar(least)))
}

// spread returns the sum of squared weights of interpolated bins, whose sums are not in their gains, and 1 for others.
func (b *Bins) spread(i int) float64 {
	if b == nil || !b.Interpolated {
		return 1
	}
	sum := 0.0
	for _, w := range b.Weight[b.From[i]:b.From[i+1]] {
		sum += w * w
	}
	return sum
}

// pixels returns how many pixels, or points of a fan, a frame follows from.
func (d *Data) pixels() int {
	if d.Fan != nil {
		return len(d.Fan.Q)
	}
	return d.Detector.Rows * d.Detector.Columns
}

// length returns the number of numbers of a frame.
func (d *Data) length(f *Frame) int {
	if f.Bins != nil {
		return f.Bins.length()
	}
	return d.pixels()
}

// sight is what frames share that show the same rates: they differ in their exposures and noise only.
type sight struct {
	frame *Frame
	from  int // place of its first number among those of all sights
}

// sights returns those of the frames, and for each frame the number of its sight.
func (d *Data) sights(from int) (all []sight, of []int) {
	for i := range d.Frames {
		f := &d.Frames[i]
		at := slices.IndexFunc(all, func(s sight) bool { return s.frame.shows(f) })
		if at < 0 {
			at = len(all)
			all = append(all, sight{f, from})
			from += d.length(f)
		}
		of = append(of, at)
	}
	return all, of
}

// shows reports whether two frames show the same rates.
func (f *Frame) shows(g *Frame) bool {
	return f.Energy == g.Energy && f.Angle == g.Angle && f.Flux == g.Flux && f.Transmission == g.Transmission && f.Dark == g.Dark && f.Bins == g.Bins
}

// part holds the numbers that share a likelihood. The expectation of number i is gain[i] times the rate at place[i] plus offset[i].
type part struct {
	noise *noise
	model int // number of the model, for the name of the scale
	place []int
	gain  []float64
	// offset is nil for 0 everywhere, and errors and freedom for noise that has none.
	offset, errors, freedom []float64
	values                  []float64
	// relative is the width of each number over that of its noise, whose scale the residuals say; nil for 1. See [Task.unequal].
	relative []float64
	// spread is the variance of each number over that of independent ones, where numbers are interpolated; nil for 1.
	spread []float64
	from   []origin // nil once exposures are joined
	// pedestal is what every frame holds beside its counts, if that is searched for; frames is the number of frames of pixels that a number
	// adds up.
	pedestal *ad.Node
	frames   []float64
}

// origin is where a number comes from.
type origin struct{ model, frame, bin int }

// expected returns the expectations of a part, given the rates of all sights.
func (p *part) expected(rates *ad.Node) *ad.Node {
	x := ad.Mul(ad.Gather(rates, ad.Ints(p.place), 0), ad.Const(p.gain))
	if p.offset != nil {
		x = ad.Add(x, ad.Const(p.offset))
	}
	if p.pedestal != nil {
		x = ad.Add(x, ad.Mul(p.pedestal, ad.Const(p.frames)))
	}
	if p.noise.positive {
		x = ad.Maximum(x, ad.Scalar(leastCounts))
	}
	return x
}

// selection holds the numbers that a likelihood takes.
type selection struct {
	parts []*part
	left  map[string]int // numbers that are left out, by the reason
	used  []used         // of each frame
}

// used says what of a frame is compared.
type used struct {
	Numbers int
	Left    map[string]int
}

// size returns how many numbers there are.
func (s *selection) size() (n int) {
	for _, p := range s.parts {
		n += len(p.values)
	}
	return n
}

// why returns why a number is left out, and "" if it is not.
func (d *Data) why(f *Frame, n *noise, i int) string {
	c := f.Counts[i]
	switch {
	case f.Bins == nil && d.Keep != nil && !d.Keep[i]:
		return "masked"
	case math.IsNaN(c) || math.IsInf(c, 0):
		return "not finite"
	case f.Bins != nil && (f.Bins.From[i] == f.Bins.From[i+1] || f.Bins.Less != nil && f.Bins.Less.From[i] == f.Bins.Less.From[i+1]):
		return "without pixels of the detector"
	case n.positive && c+at(f.Offsets, i, 0) < -1e-6:
		return "negative"
	case n.logarithm && !(c > 0):
		return "not above 0"
	case n.errors && !(at(f.Errors, i, 0) > 0):
		return "without an error"
	case n.freedom && !(at(f.Freedom, i, 0) >= 1):
		return "of one pixel"
	}
	return ""
}

// at is a number of a list, or a usual one if the list is nil.
func at(list []float64, i int, usual float64) float64 {
	if list == nil {
		return usual
	}
	return list[i]
}

// selected returns the numbers that are measured: kept by the mask, and such that their noise can have them.
func selected(models []*Model) (s selection, sights int) {
	s.left = map[string]int{}
	for m, model := range models {
		d := model.Data
		all, of := d.sights(sights)
		for k := range d.Frames {
			f := &d.Frames[k]
			n := noises[cmp.Or(f.Noise, "poisson")]
			p := s.part(n, m)
			u := used{Left: map[string]int{}}
			for i := range f.Counts {
				if why := d.why(f, n, i); why != "" {
					s.left[why]++
					u.Left[why]++
					continue
				}
				u.Numbers++
				p.add(f, i, all[of[k]].from+i, origin{m, k, i})
			}
			s.used = append(s.used, u)
		}
		if last := len(all) - 1; last >= 0 {
			sights = all[last].from + d.length(all[last].frame)
		}
	}
	s.parts = slices.DeleteFunc(s.parts, func(p *part) bool { return len(p.values) == 0 })
	return s, sights
}

// part returns the part of a noise of a model, which is new if it is the first. Noise without a scale is that of all models.
func (s *selection) part(n *noise, model int) *part {
	for _, p := range s.parts {
		if p.noise == n && (n.scale == "" || p.model == model) {
			return p
		}
	}
	s.parts = append(s.parts, &part{noise: n, model: model})
	return s.parts[len(s.parts)-1]
}

// add takes number i of a frame, whose rate is at a place.
func (p *part) add(f *Frame, i, place int, from origin) {
	p.place, p.from = append(p.place, place), append(p.from, from)
	p.gain, p.values = append(p.gain, at(f.Gains, i, f.Exposure)), append(p.values, f.Counts[i])
	if f.Bins == nil {
		p.frames = append(p.frames, 1)
	} else {
		p.frames = append(p.frames, 0)
	}
	if f.Offsets != nil && p.offset == nil {
		p.offset = make([]float64, len(p.values)-1)
	}
	if p.offset != nil {
		x := at(f.Offsets, i, 0)
		v := f.Counts[i] + x
		if p.noise.whole {
			v = math.Round(v)
		}
		p.offset, p.values[len(p.values)-1] = append(p.offset, x), v
	}
	if k := len(p.values) - 1; p.noise.positive {
		p.values[k] = max(p.values[k], 0) // rounding of what was subtracted
	}
	if p.noise.law == nil {
		p.spread = append(p.spread, f.Bins.spread(i))
	}
	if p.noise.errors {
		p.errors = append(p.errors, f.Errors[i])
	}
	if p.noise.freedom {
		p.freedom = append(p.freedom, f.Freedom[i])
	}
}

// joined returns the selection with the sums of counts of one place in place of the counts: they hold all that the counts say of the
// parameters.
func (s *selection) joined(places int) selection {
	out := selection{left: s.left, used: s.used}
	for _, p := range s.parts {
		if !p.noise.sums {
			out.parts = append(out.parts, p)
			continue
		}
		q := &part{noise: p.noise, model: p.model}
		where := slices.Repeat([]int{-1}, places)
		for i, place := range p.place {
			k := where[place]
			if k < 0 {
				k = len(q.place)
				where[place] = k
				q.place, q.gain, q.values, q.frames = append(q.place, place), append(q.gain, 0), append(q.values, 0), append(q.frames, 0)
				if p.offset != nil {
					q.offset = append(q.offset, 0)
				}
			}
			q.gain[k], q.values[k], q.frames[k] = q.gain[k]+p.gain[i], q.values[k]+p.values[i], q.frames[k]+p.frames[i]
			if p.offset != nil {
				q.offset[k] += p.offset[i]
			}
		}
		out.parts = append(out.parts, q)
	}
	return out
}

// checkBins returns what is wrong with the bins of a frame.
func (d *Data) checkBins(f *Frame) error {
	b := f.Bins
	n := b.length()
	if n < 1 || len(b.Pixel) != len(b.Weight) || b.From[n] != len(b.Pixel) || len(b.Q) != n || len(b.Chi) != n || b.Less != nil && b.Less.length() != n {
		return fmt.Errorf("measured: a frame has %d bins of %d pixels with %d weights, %d q and %d directions: want as many of each, and at least one bin", n, len(b.Pixel), len(b.Weight), len(b.Q), len(b.Chi))
	}
	return nil
}
