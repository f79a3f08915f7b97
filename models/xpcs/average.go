// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

// AverageSettings say which repeats of a measurement are averaged, and how. The zero value is the default.
type AverageSettings struct {
	Bin    int     // dynamic bin, from 1, whose g2 at long delays decides whether a repeat is good. Default 1
	Window int     // number of the longest delays whose mean g2 decides. Default 10
	Low    float64 // smallest mean of a good repeat. Default 0.95
	High   float64 // largest mean of a good repeat. Default 1.05
	// All takes all repeats to be good.
	All bool

	// Customary divides the mean of the errors by the square root of the number of repeats, as
	// viewers do. Otherwise errors add in quadrature, which is right for errors that differ.
	Customary bool
	// Pixels also averages the correlations of pixels, if all repeats have them.
	Pixels bool
	// NonZero leaves out pixels of a repeat that are 0 in it.
	NonZero bool

	// Map is another q map, with its images, into whose bins the pixels are grouped, unless it is
	// nil. It needs Pixels.
	Map *nexus.QMap

	// Progress is called with the number of files read and their total, unless it is nil.
	Progress func(done, all int)
}

// Repeat says what was found about one file.
type Repeat struct {
	File     string
	Baseline float64 // mean of g2 at the longest delays
	Used     bool
	Why      string // reason why it was not used
	// Unusable says that it was not used because it cannot be: its Baseline is not the reason.
	Unusable bool
}

func (s AverageSettings) defaults() AverageSettings {
	if s.Bin == 0 {
		s.Bin = 1
	}
	if s.Window == 0 {
		s.Window = 10
	}
	if s.Low == 0 && s.High == 0 {
		s.Low, s.High = 0.95, 1.05
	}
	if s.Progress == nil {
		s.Progress = func(int, int) {}
	}
	return s
}

// Average averages the multi-tau results of repeats of a measurement that have the same delays and
// bins, and writes a result file. Repeats whose g2 does not decay to the baseline are left out; a
// file that cannot be read is left out too, and its Repeat says so. If none is left, nothing is
// written and the error says so.
func Average(ctx context.Context, files []string, out string, s AverageSettings) ([]Repeat, error) {
	s = s.defaults()
	switch {
	case len(files) == 0:
		return nil, errors.New("xpcs: there are no files to average: name at least one")
	case s.Bin < 1 || s.Window < 1 || !(s.Low < s.High):
		return nil, fmt.Errorf("xpcs: the bin is %d, the window %d and the baseline from %g to %g: want positive numbers and an ascending range", s.Bin, s.Window, s.Low, s.High)
	case s.Map != nil && !s.Pixels:
		return nil, errors.New("xpcs: another q map needs the correlations of pixels: set Pixels (--pixels)")
	}
	if s.Map != nil {
		if err := s.Map.Check(); err != nil {
			return nil, err
		}
	}
	a := average{s: s}
	defer a.close()
	var repeats []Repeat
	for i, file := range files {
		if err := ctx.Err(); err != nil {
			return repeats, err
		}
		r := Repeat{File: file, Baseline: math.NaN()}
		if err := a.add(file, &r); err != nil {
			r.Why, r.Unusable = err.Error(), math.IsNaN(r.Baseline)
		} else {
			r.Used = true
		}
		repeats = append(repeats, r)
		s.Progress(i+1, len(files))
	}
	if len(a.used) == 0 {
		return repeats, fmt.Errorf("xpcs: none of %d files was good; the first, %s, was left out: %s", len(files), repeats[0].File, repeats[0].Why)
	}
	return repeats, a.write(ctx, out)
}

// average is sums over the repeats that are good.
type average struct {
	s           AverageSettings
	used        []string        // files
	strays      []nexus.Stray   // single readings of all files that are no photons
	open        []*nexus.Result // of the first ones, which stay open for the pixels
	first       *nexus.Result
	cov, skew   [][]float64 // sums for each bin; cov is nil unless all repeats have it
	pixels      []int
	g2, err     *nexus.Matrix
	pairs       []float64 // sums of the expected coincidences
	saxs, trace []float64
	image       []float64
}

func (a *average) close() {
	for _, r := range a.open {
		r.Close()
	}
}

// mostOpen is the largest number of files that stay open, which systems limit.
const mostOpen = 64

// with calls f with the result of a file that is used.
func (a *average) with(i int, f func(r *nexus.Result) error) error {
	if i < len(a.open) {
		return f(a.open[i])
	}
	r, err := nexus.Open(a.used[i])
	if err != nil {
		return err
	}
	defer r.Close()
	return f(r)
}

func (a *average) add(file string, about *Repeat) error {
	for _, u := range a.used {
		if sameFile(u, file) {
			return fmt.Errorf("it is the same file as %s, which is averaged already: name each file once", u)
		}
	}
	r, err := nexus.Open(file)
	if err != nil {
		return err
	}
	if err := a.judge(r, about); err != nil {
		r.Close()
		return err
	}
	var image, trace []float64
	if m, err := r.ReadImage(); err == nil && m != nil {
		image = m.Data
	}
	if r.Trace != nil {
		trace = r.Trace.Mean
	}
	if a.used = append(a.used, file); len(a.open) < mostOpen {
		a.open = append(a.open, r)
	} else {
		defer r.Close()
	}
	m := r.Multitau
	if a.first == nil {
		a.first, a.g2, a.err = r, nexus.NewMatrix(m.G2.Rows, m.G2.Cols), nexus.NewMatrix(m.G2.Rows, m.G2.Cols)
		a.saxs, a.trace, a.image = zeros(r.SAXS), zeros(trace), zeros(image)
		a.pairs = zeros(coincidences(m))
		a.cov, a.skew, a.pixels = each(m.Cov, zeros), empty(m.G2.Cols, len(m.Delay)), make([]int, m.G2.Cols)
	}
	a.covariance(m)
	a.pairs = joined(a.pairs, coincidences(m))
	plus(a.g2.Data, m.G2.Data)
	a.strays = append(a.strays, r.Strays...)
	if m.Err != nil {
		for i, e := range m.Err.Data {
			if a.s.Customary {
				a.err.Data[i] += e
			} else {
				a.err.Data[i] += e * e
			}
		}
	}
	a.saxs, a.trace, a.image = joined(a.saxs, r.SAXS), joined(a.trace, trace), joined(a.image, image)
	return nil
}

// sameFile reports whether two names are of one file.
func sameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// judge returns why a repeat is not used, and notes its baseline.
func (a *average) judge(r *nexus.Result, about *Repeat) error {
	m := r.Multitau
	switch {
	case m == nil:
		return errors.New("it has no multi-tau correlation: correlate its frames by the multi-tau method")
	case a.s.Bin > m.G2.Cols:
		return fmt.Errorf("it has no bin %d: %s", a.s.Bin, errtext.Choose(m.G2.Cols, "bin", 1, m.G2.Cols))
	}
	y, _ := m.Bin(a.s.Bin)
	tail := y[max(len(y)-a.s.Window, 0):]
	sum := 0.0
	for _, v := range tail {
		sum += v
	}
	if about.Baseline = sum / float64(len(tail)); !a.s.All && !(about.Baseline >= a.s.Low && about.Baseline <= a.s.High) {
		return fmt.Errorf("g2 of bin %d ends at %.4g on average of %s, not within %g to %g", a.s.Bin, about.Baseline, errtext.Count(len(tail), "delay"), a.s.Low, a.s.High)
	}
	if a.first == nil {
		return nil
	}
	f := a.first
	switch {
	case !slices.Equal(f.Delays(), r.Delays()): // in seconds: frame times, strides and averages of frames count too
		return fmt.Errorf("its delays differ from those of %s: average files of one kind of measurement", f.File)
	case m.G2.Cols != f.Multitau.G2.Cols || (m.Err == nil) != (f.Multitau.Err == nil):
		return fmt.Errorf("it has %s, but %s has %d, or one of them has no errors: correlate both with one q map", errtext.Count(m.G2.Cols, "bin"), f.File, f.Multitau.G2.Cols)
	case r.QMap.Hash != f.QMap.Hash && r.QMap.Hash != "" && f.QMap.Hash != "":
		return fmt.Errorf("its q map differs from that of %s: correlate both with one", f.File)
	}
	return nil
}

func plus(to, v []float64) {
	for i := range to {
		to[i] += v[i]
	}
}

// coincidences returns the expected coincidences, nil if they are not known.
func coincidences(m *nexus.Multitau) []float64 {
	if m.Coincidences == nil {
		return nil
	}
	return m.Coincidences.Data
}

// zeros returns as many zeros as v has numbers, nil for nil.
func zeros(v []float64) []float64 {
	if v == nil {
		return nil
	}
	return make([]float64, len(v))
}

// joined adds v to sums of the same length; sums that a repeat has nothing to add to are dropped.
func joined(to, v []float64) []float64 {
	if to == nil || len(to) != len(v) {
		return nil
	}
	plus(to, v)
	return to
}

func (a *average) write(ctx context.Context, out string) error {
	n := float64(len(a.used))
	for i := range a.g2.Data {
		a.g2.Data[i] /= n
		if a.s.Customary {
			a.err.Data[i] /= n * math.Sqrt(n)
		} else {
			a.err.Data[i] = math.Sqrt(a.err.Data[i]) / n
		}
	}
	for _, v := range [][]float64{a.saxs, a.trace, a.image} {
		for i := range v {
			v[i] /= n
		}
	}
	f := a.first
	maps, err := f.ReadMaps()
	if err != nil {
		return err
	}
	q := *f.QMap
	q.Maps = maps
	r := &nexus.Result{Flavour: nexus.Nexus, Start: f.Start, FrameTime: f.FrameTime, CountTime: f.CountTime, Energy: f.Energy, PixelX: f.PixelX, PixelY: f.PixelY, QMap: &q,
		SAXS: a.saxs, Attrs: map[string]string{"program": "euryale", "averaged_files": fmt.Sprint(len(a.used))},
		Multitau: &nexus.Multitau{Delay: f.Multitau.Delay, G2: a.g2, Stride: f.Multitau.Stride, Average: f.Multitau.Average}}
	if f.Multitau.Err != nil {
		r.Multitau.Err = a.err
	}
	if a.s.Map == nil {
		if a.pairs != nil {
			r.Multitau.Coincidences = &nexus.Matrix{Rows: a.g2.Rows, Cols: a.g2.Cols, Data: a.pairs}
		}
		r.Photons = f.Photons // the detector is the same
		r.Strays = a.strays
		for i := range r.Strays { // of one of the averaged g2, whose errors are smaller
			s := &r.Strays[i]
			s.Shift, s.Errors = s.Shift/n, s.Errors/math.Sqrt(n)
		}
	}
	if a.saxs != nil {
		r.Segments = &nexus.Matrix{Rows: 1, Cols: len(a.saxs), Data: a.saxs} // the viewer wants one part at least
	}
	if a.trace != nil {
		r.Trace = &nexus.Trace{Frame: f.Trace.Frame, Mean: a.trace}
	}
	if a.image != nil {
		r.Image = &nexus.Matrix{Rows: maps.Height, Cols: maps.Width, Data: a.image}
	}
	a.covariances(r.Multitau)
	w, err := nexus.Create(out)
	if err != nil {
		return err
	}
	defer w.Discard()
	if a.s.Pixels {
		if err := a.pixelwise(ctx, r, w); err != nil {
			return err
		}
	}
	return w.Close(r)
}

// covariance adds the covariances of the points and the corrections for skewness of a repeat. Repeats are independent, and both are of the
// first order in one over their number.
func (a *average) covariance(m *nexus.Multitau) {
	if a.cov == nil || m.Cov == nil || a.s.Map != nil {
		a.cov = nil
		return
	}
	for b := range a.cov {
		plus(a.cov[b], m.Cov[b])
		if m.Skew != nil {
			plus(a.skew[b], m.Skew[b])
		}
		if m.Pixels != nil {
			a.pixels[b] += m.Pixels[b]
		}
	}
}

// covariances sets the means.
func (a *average) covariances(m *nexus.Multitau) {
	n := float64(len(a.used))
	if a.cov == nil {
		return
	}
	m.Cov, m.Skew = a.cov, a.skew
	for b := range m.Cov {
		for _, v := range [][]float64{m.Cov[b], m.Skew[b]} {
			for i := range v {
				v[i] /= n * n
			}
		}
	}
	if slices.Min(a.pixels) > 0 {
		m.Pixels = a.pixels
	}
}

// empty returns rows of zeros.
func empty(rows, cols int) [][]float64 {
	all := make([][]float64, rows)
	for i := range all {
		all[i] = make([]float64, cols)
	}
	return all
}

// pixelwise averages the correlations of pixels, delay by delay, writes them, and groups them into the bins of another q map if there is
// one.
func (a *average) pixelwise(ctx context.Context, r *nexus.Result, w *nexus.Writer) error {
	delays := len(r.Multitau.Delay)
	height, width := r.QMap.Maps.Height, r.QMap.Maps.Width
	next := func(d int) (products, earlier, later []float64, err error) {
		if err := ctx.Err(); err != nil {
			return nil, nil, nil, err
		}
		var sums [3]meanImage
		for i := range a.used {
			err := a.with(i, func(f *nexus.Result) error {
				if !f.HasPixels() {
					return fmt.Errorf("xpcs: %s has no correlations of pixels: correlate its frames again with --save-pixels, which keeps them", f.File)
				}
				p, e, l, err := f.ReadUnnormalized(d)
				if err != nil {
					return fmt.Errorf("xpcs: the correlations of pixels cannot be read: %w", err)
				}
				for k, m := range []*nexus.Matrix{p, e, l} {
					if m.Rows != height || m.Cols != width {
						return fmt.Errorf("xpcs: %s has correlations of %d x %d pixels, but the q map has %d x %d: correlate the frames again", f.File, m.Rows, m.Cols, height, width)
					}
					sums[k].add(m.Data, a.s.NonZero)
				}
				return nil
			})
			if err != nil {
				return nil, nil, nil, err
			}
		}
		products, earlier, later = sums[0].mean(), sums[1].mean(), sums[2].mean()
		return products, earlier, later, w.AddPixels(delays, height, width, products, later, earlier)
	}
	if a.s.Map == nil {
		for d := range delays {
			if _, _, _, err := next(d); err != nil {
				return err
			}
		}
		return nil
	}
	q, err := restricted(a.s.Map, r.QMap.Maps)
	if err != nil {
		return err
	}
	m := q.Maps
	g, err := correlate.Regroup(correlate.Maps{Height: m.Height, Width: m.Width, Dynamic: m.Dynamic, Static: m.Static}, delays, next, correlate.Settings{Covariance: true})
	if err != nil {
		return err
	}
	r.QMap, r.SAXS, r.Segments = q, nil, nil
	r.Multitau.G2, r.Multitau.Err = matrix(g.G2), matrix(g.Err)
	correlated(r.Multitau, g)
	if r.Image != nil {
		r.SAXS = meansOf(r.Image.Data, m.Static)
		r.Segments = &nexus.Matrix{Rows: 1, Cols: len(r.SAXS), Data: r.SAXS}
	}
	return nil
}

// restricted returns a q map without the pixels that are in no bin of the maps that results were made with, and whose correlations
// are not known.
func restricted(q *nexus.QMap, of *nexus.Maps) (*nexus.QMap, error) {
	m := q.Maps
	if m.Height != of.Height || m.Width != of.Width {
		return nil, fmt.Errorf("xpcs: the q map has %d x %d pixels, but the results have %d x %d: use a q map of this detector", m.Height, m.Width, of.Height, of.Width)
	}
	out, n := *q, *m
	n.Mask, n.Dynamic, n.Static = slices.Clone(m.Mask), slices.Clone(m.Dynamic), slices.Clone(m.Static)
	lost := 0
	for i, s := range of.Static {
		if s == 0 && n.Static[i] > 0 {
			n.Mask[i], n.Dynamic[i], n.Static[i] = false, 0, 0
			lost++
		}
	}
	if lost == 0 {
		return q, nil
	}
	out.Maps = &n
	out.Dynamic.Cells, out.Static.Cells = renumbered(n.Dynamic, q.Dynamic.Cells), renumbered(n.Static, q.Static.Cells)
	if len(out.Dynamic.Cells) == 0 {
		return nil, errors.New("xpcs: no pixel of the q map is in a bin of the results: correlate the frames again with this q map")
	}
	out.BinQ, out.BinQ2 = nil, nil
	var err error
	out.Hash, err = hash(&out)
	return measured(&out), err
}

// renumbered numbers the bins that have pixels from 1 on without gaps, and returns their cells.
func renumbered(bins []int32, cells []int) (left []int) {
	number := make([]int32, len(cells)+1)
	for _, b := range bins {
		if b > 0 && int(b) < len(number) {
			number[b] = 1
		}
	}
	for b := 1; b < len(number); b++ {
		if number[b] > 0 {
			left = append(left, cells[b-1])
			number[b] = int32(len(left))
		}
	}
	for i, b := range bins {
		if b > 0 && int(b) < len(number) {
			bins[i] = number[b]
		}
	}
	return left
}

// meansOf returns the mean of an image in each bin that has pixels.
func meansOf(image []float64, bins []int32) []float64 {
	most := slices.Max(bins)
	sum, count := make([]float64, most+1), make([]float64, most+1)
	for i, b := range bins {
		sum[b], count[b] = sum[b]+image[i], count[b]+1
	}
	var means []float64
	for b := int32(1); b <= most; b++ {
		if count[b] > 0 {
			means = append(means, sum[b]/count[b])
		}
	}
	return means
}

// meanImage is a mean over images, pixel by pixel.
type meanImage struct{ sum, count []float64 }

func (m *meanImage) add(v []float64, nonZero bool) {
	if m.sum == nil {
		m.sum, m.count = make([]float64, len(v)), make([]float64, len(v))
	}
	for i, x := range v {
		if x != 0 || !nonZero {
			m.sum[i] += x
			m.count[i]++
		}
	}
}

func (m *meanImage) mean() []float64 {
	for i, n := range m.count {
		if n > 0 {
			m.sum[i] /= n
		}
	}
	return m.sum
}
