// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

// set reads what the content means.
func (c *content) set(s Settings) (*Set, error) {
	set := &Set{Name: c.name, Form: c.form, Notes: c.notes}
	v, err := c.main(s)
	if err != nil {
		return nil, err
	}
	c.adopt(v)
	if err := c.grazing(); err != nil {
		return nil, err
	}
	if c.rowsAreX = c.alsOrder(v); c.rowsAreX {
		set.note("the loader of ALS 11.0.1.2 made this file, which calls the axis of the rows pix_x: the order of the axes is taken, and not their names")
	}
	l, err := c.layOut(v)
	if err != nil {
		return nil, err
	}
	t, err := l.take(set, s)
	if err != nil {
		return nil, err
	}
	switch {
	case l.axis(row) >= 0 && l.axis(column) >= 0:
		return set, l.images(set, t, s)
	case l.axis(qAxis) >= 0:
		return set, l.curves(set, t, s)
	case l.axis(qyAxis) >= 0 && l.axis(qxAxis) >= 0:
		return set, l.maps(set, t, s)
	}
	return nil, defect(c.name, "name the axes energy, polarization, exposure, pix_y and pix_x, or energy, chi and q", "the array %s has the axes %s: neither rows and columns nor q are among them", v.name, strings.Join(v.dims, ", "))
}

// adopt takes the attributes of the main variable with those of the file.
func (c *content) adopt(v *variable) {
	all := maps.Clone(v.attrs)
	delete(all, "units")
	for k, t := range c.attrs {
		if _, own := all[k]; !own {
			all[k] = t
		}
	}
	c.attrs = all
}

// alsOrder reports whether the loader of ALS 11.0.1.2 made a file: it has words of that beamline's headers, and x before y.
func (c *content) alsOrder(v *variable) bool {
	x, y := slices.Index(v.dims, "pix_x"), slices.Index(v.dims, "pix_y")
	if x < 0 || x > y {
		return false
	}
	for _, key := range []string{"EPU Polarization", "CCD Shutter Inhibit", "CCD Camera Shutter Inhibit", "AI 3 Izero"} {
		if _, ok := c.text(key); ok {
			return true
		}
	}
	return false
}

// grazing refuses reflection geometries.
func (c *content) grazing() error {
	for _, key := range []string{"incidence_angle", "incident_angle", "grazing_angle", "alpha_i", "alphai"} {
		if x, ok := c.number(key); ok && x > 0 && x < 30 {
			return defect(c.name, "give a measurement in transmission", "the beam meets the sample at a grazing angle of %g degrees (%s): the Born approximation in transmission leaves reflection and refraction out", x, key)
		}
	}
	return nil
}

// describe names the axes for the summary.
func (l *layout) describe(set *Set, s Settings) {
	var parts []string
	names := map[role]string{row: "y", column: "x", energy: "energy", polarization: "polarization", exposure: "exposure", system: "frame", chiAxis: "chi", qAxis: "q", qyAxis: "qy", qxAxis: "qx"}
	for _, r := range []role{system, energy, polarization, exposure, chiAxis, qAxis, qyAxis, qxAxis} {
		if i := l.axis(r); i >= 0 {
			n := l.main.shape[i]
			if r == energy {
				n = len(set.Energies())
			}
			parts = append(parts, fmt.Sprintf("%s %d", names[r], n))
		}
	}
	if set.Kind == Images {
		parts = append(parts, fmt.Sprintf("y %d, x %d", set.Rows, set.Columns))
	}
	set.axes = "[" + strings.Join(parts, ", ") + "]"
}

// tally counts the pixels of the file that are left out, and where the first ones are.
type tally struct {
	n     [4]int
	first [4]string

	whole int       // pixels with whole numbers that are not saturated
	kinds []float64 // different numbers below 0, at most mostMarkers+1
	// under are the numbers that lie below the pedestal, by how much.
	under []float64
}

// mostMarkers is the largest number of different numbers below 0 that mark pixels, such as -1 for gaps and -2 for bad ones.
const mostMarkers = 2

const (
	notFinite = iota
	negative
	saturated
	partial
)

var reasons = [4]string{"are not finite", "are negative counts", "are saturated", "are not whole"}

// words says how many pixels are left out, and why.
func (t *tally) words(reason int) string {
	if t.n[reason] == 1 {
		return "1 pixel " + strings.Replace(strings.Replace(reasons[reason], "are ", "is ", 1), "negative counts", "a negative count", 1)
	}
	return count(t.n[reason], "pixel") + " " + reasons[reason]
}

// largest are the largest numbers of detectors, which mark saturated pixels.
var largest = []float64{math.MaxUint16, math.MaxInt32, math.MaxUint32}

// images reads the frames of a detector.
func (l *layout) images(set *Set, t *taken, s Settings) error {
	set.Kind = Images
	set.Rows, set.Columns = l.length(row)/s.bin(), l.length(column)/s.bin()
	if set.Rows < 1 || set.Columns < 1 {
		return set.defect("choose a smaller bin", "images of %d x %d pixels cannot be binned by %d", l.length(row), l.length(column), s.bin())
	}
	if r, c := l.length(row)%s.bin(), l.length(column)%s.bin(); r+c > 0 {
		set.note("binning by %d leaves out the last %s and %s", s.bin(), count(r, "row"), count(c, "column"))
	}
	if err := l.c.geometry(set, s); err != nil {
		return err
	}
	units := strings.ToLower(l.main.attrs["units"])
	set.DarksOff = l.c.rates
	set.Rates = l.c.rates || strings.Contains(units, "/s") || strings.Contains(units, "rate") || strings.Contains(units, "s^-1")
	pedestal := s.Pedestal
	if pedestal == 0 && !s.NoPedestal {
		pedestal = l.c.pedestal
	}
	if pedestal != 0 {
		set.note("a pedestal of %g is subtracted from every pixel", pedestal)
	}
	p := &painter{set: set, layout: l, taken: t, bin: s.bin(), pedestal: pedestal, saturation: s.Saturation}
	counts, seen, err := p.paint(l.main)
	if err != nil {
		return err
	}
	readout := p.readout(seen, counts)
	for i, number := range t.want {
		if number < 0 {
			continue
		}
		set.Frames = append(set.Frames, Frame{Readout: readout * float64(s.bin()*s.bin()), Energy: t.energies[i], Polarization: at(t.polarizations, i), Exposure: at(t.exposures, i), Flux: at(t.flux, i),
			Transmission: at(t.transmission, i), Dark: at(t.dark, i) * float64(s.bin()*s.bin()), Counts: counts[number]})
	}
	if err := p.errors(); err != nil {
		return err
	}
	if err := set.spared(seen, counts, p); err != nil {
		return err
	}
	set.dropEmpty()
	set.tell(seen, l)
	if err := set.wholesome(); err != nil {
		return err
	}
	l.describe(set, s)
	return nil
}

// painter reads the pixels of images.
type painter struct {
	set        *Set
	layout     *layout
	taken      *taken
	bin        int
	pedestal   float64
	saturation float64
	square     bool // sums are those of squares
	below      int  // number of errors below 0
	firstBelow string
}

// paint adds the pixels of a variable with the axes of the main one up to frames.
func (p *painter) paint(v *variable) ([][]float64, *tally, error) {
	l, n := p.layout, p.set.Rows*p.set.Columns
	out := make([][]float64, p.taken.n)
	for i := range out {
		out[i] = make([]float64, n)
	}
	axes, _ := l.frames()
	strides, pitch := make([]int, len(v.shape)), l.length(row)*l.length(column)
	for i := range strides {
		switch l.roles[i] {
		case row:
			strides[i] = l.length(column)
		case column:
			strides[i] = 1
		}
	}
	each := pitch
	for k := len(axes) - 1; k >= 0; k-- {
		strides[axes[k]] = each
		each *= v.shape[axes[k]]
	}
	t, width := &tally{}, l.length(column)
	p.set.smallest = math.Inf(1)
	err := v.blocks(func(offset, shape []int) bool { return p.needed(axes, offset, shape, strides, pitch) }, func(offset, shape []int, x []float64) error {
		walk(offset, shape, strides, func(i, at int) {
			frame, pixel := at/pitch, at%pitch
			number := p.taken.want[frame]
			y, z := pixel/width/p.bin, pixel%width/p.bin
			if number < 0 || y >= p.set.Rows || z >= p.set.Columns {
				return
			}
			value := p.value(x[i], t, frame, pixel, width)
			out[number][y*p.set.Columns+z] += value
		})
		return nil
	})
	return out, t, err
}

// leastUnder is the share of the pixels below the pedestal, and mostSD the distance below it in standard deviations, between which the readout
// makes them.
const leastUnder, mostSD = 1e-3, 5.0

// fewestUnder is the smallest number of such pixels, and mostUnder their largest share: noise has as many above the pedestal.
const fewestUnder, mostUnder = 10, 0.6

// readout returns the variance of the readout of a pixel if numbers lie below the pedestal as it makes them. What lies farther below is left
// out, and all of it if few do.
func (p *painter) readout(t *tally, patterns [][]float64) float64 {
	if len(t.under) == 0 {
		return 0
	}
	slices.Sort(t.under)
	variance := math.Ceil(p.scatterOfDim(patterns, t.under[len(t.under)/2]/0.6745))
	limit := mostSD * math.Sqrt(variance)
	if n := float64(len(t.under)); n < max(fewestUnder, leastUnder*float64(t.whole)) || n > mostUnder*float64(t.whole) || limit > p.pedestal {
		variance, limit = 0, 0
	}
	bad := 0
	for _, x := range t.under {
		if x > limit {
			bad++
		}
	}
	t.n[negative] += bad
	limit *= float64(p.bin) // of a sum
	for _, list := range patterns {
		for i, x := range list {
			if x < -limit {
				list[i] = math.NaN()
			}
		}
	}
	if variance > 0 {
		p.set.note("%d pixels are below the pedestal, as noise of the readout with a standard deviation of about %.2g makes them: they are kept, and the variance of that noise is added to all numbers and to what is expected of them", len(t.under)-bad, math.Sqrt(variance))
	}
	return variance
}

// scatterOfDim returns by how much the variance of a pixel is above its mean, from the differences of neighbours in a row of which less light
// arrives than in half of them. typical is about the standard deviation of the readout.
func (p *painter) scatterOfDim(patterns [][]float64, typical float64) float64 {
	type pair struct{ mean, square float64 }
	var all []pair
	pixels := float64(p.bin * p.bin)
	for _, list := range patterns {
		for i := 1; i < len(list); i++ {
			a, b := list[i-1], list[i]
			if i%p.set.Columns == 0 || math.IsNaN(a+b) {
				continue
			}
			mean, d := (a+b)/2, a-b
			if usual := 2 * (max(0, mean) + pixels*typical*typical); d*d < mostSD*mostSD*usual {
				all = append(all, pair{mean, d * d / 2})
			}
		}
	}
	slices.SortFunc(all, func(a, b pair) int { return cmp.Compare(a.mean, b.mean) })
	sum, n := 0.0, max(1, len(all)/2)
	for _, x := range all[:min(n, len(all))] {
		sum += x.square - x.mean
	}
	return max(typical*typical, sum/float64(n)/pixels)
}

// needed reports whether a block has pixels of frames that are wanted.
func (p *painter) needed(axes, offset, shape, strides []int, pitch int) bool {
	var o, n, st []int
	for _, a := range axes {
		o, n, st = append(o, offset[a]), append(n, shape[a]), append(st, strides[a])
	}
	found := false
	walk(o, n, st, func(i, at int) { found = found || p.taken.want[at/pitch] >= 0 })
	return found
}

// value returns what a pixel of the file counts, NaN for what is left out.
func (p *painter) value(x float64, t *tally, frame, pixel, width int) float64 {
	say := func(reason int) {
		if t.n[reason] == 0 {
			t.first[reason] = fmt.Sprintf("row %d, column %d of pattern %d", pixel/width, pixel%width, frame+1)
		}
		t.n[reason]++
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		say(notFinite)
		return math.NaN()
	}
	if p.square {
		if x < 0 {
			if p.below == 0 {
				p.firstBelow = fmt.Sprintf("the error at row %d, column %d of pattern %d is %g", pixel/width, pixel%width, frame+1, x)
			}
			p.below++
		}
		return x * x
	}
	if p.saturation > 0 && x >= p.saturation || slices.Contains(largest, x) {
		say(saturated)
		return math.NaN()
	}
	if x != math.Trunc(x) {
		say(partial)
		return x
	}
	t.whole++
	raw := x
	if x -= p.pedestal; x < 0 && !p.set.Rates {
		if raw > 0 && p.pedestal > 0 { // whether that is noise of the readout shows once all are known
			if t.under = append(t.under, -x); t.first[negative] == "" {
				t.first[negative] = fmt.Sprintf("row %d, column %d of pattern %d", pixel/width, pixel%width, frame+1)
			}
			return x
		}
		say(negative)
		if len(t.kinds) < mostMarkers+1 && !slices.Contains(t.kinds, x) {
			t.kinds = append(t.kinds, x)
		}
		return math.NaN()
	}
	p.set.smallest = min(p.set.smallest, x)
	return x
}

// errors reads the standard deviations of the pixels.
func (p *painter) errors() error {
	var v *variable
	for _, x := range p.layout.c.vars {
		if isNamed(x, errorNames) && slices.Equal(x.dims, p.layout.main.dims) && slices.Equal(x.shape, p.layout.main.shape) {
			v = x
		}
	}
	if v == nil {
		return nil
	}
	smallest := p.set.smallest
	p.square = true
	squares, _, err := p.paint(v)
	p.set.smallest = smallest
	if p.below > 0 && err == nil {
		return p.set.defect("write errors of at least 0, and NaN for pixels without one", "%s, the first of %d below 0", p.firstBelow, p.below)
	}
	for i := range squares {
		for k, x := range squares[i] {
			squares[i][k] = math.Sqrt(x)
		}
		p.set.Frames[i].Errors = squares[i]
	}
	if err != nil {
		return err
	}
	for i := range p.set.Frames {
		f := &p.set.Frames[i]
		for k, d := range f.Errors {
			if tooSure(f.Counts[k], d) {
				return p.set.defect("nothing is known so well: write the right error, or NaN for pixels without one", "the error at row %d, column %d of pattern %d is %g, and the number %g", k/p.set.Columns, k%p.set.Columns, i+1, d, f.Counts[k])
			}
		}
	}
	return nil
}

// tooSure reports whether the error of a number is so small that nothing could have measured it: the number would outweigh all others.
func tooSure(x, sd float64) bool { return sd > 0 && sd < 1e-9*math.Abs(x) }

// spared refuses a pedestal or a saturation that leaves out most pixels.
func (s *Set) spared(t *tally, patterns [][]float64, p *painter) error {
	all := 0
	for _, x := range patterns {
		all += len(x) * p.bin * p.bin
	}
	switch {
	case p.saturation > 0 && 2*t.n[saturated] > all:
		return s.defect(`give the count at which the detector saturates, such as 65535, or leave "saturation" out`, "with a saturation of %g, %d of %d pixels are saturated", p.saturation, t.n[saturated], all)
	case p.pedestal > 0 && 2*t.n[negative] > all:
		return s.defect(`give the number that a pixel without light has, or "pedestal": 0 if that is subtracted already`, "after a pedestal of %g is subtracted, %d of %d pixels are below 0", p.pedestal, t.n[negative], all)
	}
	if s.Rates || t.n[partial] > 0 {
		return nil
	}
	if below := t.n[negative]; p.pedestal == 0 && len(t.kinds) > mostMarkers && 50*below > t.whole && below < t.whole {
		return s.defect(`give the raw counts, or "pedestal": -N if the constant N was subtracted from each pixel`, "%d of %d pixels are below 0, with different numbers, so that something was subtracted: what is left without them is too high", below, t.whole)
	}
	if most, n := s.plateau(patterns); p.saturation == 0 && p.bin == 1 && n >= plateauPixels {
		most += p.pedestal
		return s.defect(fmt.Sprintf(`give "saturation": %.17g to leave these pixels out, or a larger number if they are right`, most), "%d neighbouring pixels have the largest count of all, %.17g, as where a detector saturates", n, most)
	}
	return nil
}

// A detector that saturates below the largest number of its type has many neighbouring pixels with one largest count. Of Poisson counts
// about any means of leastPlateau and above, plateauPixels never share the largest one. Hot pixels may, but are apart.
const leastPlateau, plateauPixels = 200, 10

// plateau returns the largest count of all patterns, and how many pixels have it beside another one that has it; 0 if all have.
func (s *Set) plateau(patterns [][]float64) (most float64, n int) {
	for _, x := range patterns {
		for _, v := range x {
			if v > most {
				most = v
			}
		}
	}
	other := false
	for _, x := range patterns {
		for i, v := range x {
			other = other || v < most
			beside := i%s.Columns > 0 && x[i-1] == most || (i+1)%s.Columns > 0 && x[i+1] == most || i >= s.Columns && x[i-s.Columns] == most || i+s.Columns < len(x) && x[i+s.Columns] == most
			if v == most && beside {
				n++
			}
		}
	}
	if most < leastPlateau || !other {
		n = 0
	}
	return most, n
}

// dropEmpty removes frames without a number: combinations of energy and exposure that were not measured.
func (s *Set) dropEmpty() {
	n := len(s.Frames)
	s.Frames = slices.DeleteFunc(s.Frames, func(f Frame) bool {
		return !slices.ContainsFunc(f.Counts, func(x float64) bool { return !math.IsNaN(x) })
	})
	if d := n - len(s.Frames); d > 0 {
		s.note("%s without a number left out: combinations that were not measured", count(d, "pattern"))
	}
}

// tell notes the pixels that are left out, and whether the numbers are counts.
func (s *Set) tell(t *tally, l *layout) {
	for reason := range partial {
		if t.n[reason] > 0 {
			s.unusable = append(s.unusable, fmt.Sprintf("%s, the first at %s", t.words(reason), t.first[reason]))
			s.note("%s and left out, the first at %s", t.words(reason), t.first[reason])
		}
	}
	if t.n[partial] > 0 {
		s.part = t.first[partial]
		if !s.Rates {
			s.note("%s of the file are not whole, the first at %s: the numbers are taken for rates", count(t.n[partial], "pixel"), s.part)
		}
		s.Rates = true
	}
}

// highestRate is the number of counts of the brightest hundredth of the pixels in a second above which an exposure is doubtful.
const highestRate = 1e5

// Images with fewer usable pixels than fewestPixels, and than a share of leastShare of all, were spoiled.
const fewestPixels, leastShare = 10, 0.02

// enough refuses images of which hardly any pixel is left.
func (s *Set) enough() error {
	if s.Kind != Images {
		return nil
	}
	n, all := 0, 0
	for _, f := range s.Frames {
		all += len(f.Counts)
		for _, x := range f.Counts {
			if !math.IsNaN(x) {
				n++
			}
		}
	}
	if n >= fewestPixels || float64(n) >= leastShare*float64(all) {
		return nil
	}
	why := ""
	if len(s.unusable) > 0 {
		why = " (" + strings.Join(s.unusable, ", ") + ")"
	}
	return s.defect("compare the file with others of the scan, and look at its masks", "only %d of %d pixels of its patterns can be used%s, too few for a fit", n, all, why)
}

// wholesome refuses sets of which nothing is left, and doubts exposures.
func (s *Set) wholesome() error {
	if len(s.Frames) == 0 {
		why := ""
		if len(s.unusable) > 0 {
			why = ": " + strings.Join(s.unusable, ", ")
		}
		return s.defect("compare the file with others of the scan", "no pixel of any pattern is a number that can be used%s", why)
	}
	if err := s.enough(); err != nil {
		return err
	}
	s.repeated()
	if s.Rates {
		return nil
	}
	for i, f := range s.Frames {
		if f.Exposure == 0 {
			s.note("pattern %d and perhaps others have no exposure: give it with \"exposure\" in s", i+1)
			return nil
		}
		bright := slices.DeleteFunc(slices.Clone(f.Counts), math.IsNaN)
		slices.Sort(bright)
		if most := bright[len(bright)-1-len(bright)/100]; most/f.Exposure > highestRate {
			s.note("the brightest pixels of pattern %d count %.3g in an exposure of %g s, %.2g a second: is the exposure right?", i+1, most, f.Exposure, most/f.Exposure)
			return nil
		}
	}
	return nil
}

// leastAlike is the number of pixels with counts in which two patterns do not agree by chance.
const leastAlike = 20

// repeated doubts a pattern that holds the numbers of another one.
func (s *Set) repeated() {
	for i, f := range s.Frames {
		lit := 0
		for _, x := range f.Counts {
			if x > 0 {
				lit++
			}
		}
		for k := range s.Frames[:i] {
			same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) }
			if lit >= leastAlike && slices.EqualFunc(f.Counts, s.Frames[k].Counts, same) {
				s.note("patterns %d and %d hold the same numbers, which count twice: leave one of them out", k+1, i+1)
				return
			}
		}
	}
}
