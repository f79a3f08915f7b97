// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/xpcs/correlate"
)

// Job is a correlation of one movie. Frames, Map and FrameTime are needed, and one of Multitau and
// Twotime.
type Job struct {
	Frames    *frames.File
	Map       *nexus.QMap // q map with its Maps
	FrameTime float64     // time from the beginning of a frame to that of the next, in s
	CountTime float64     // exposure time of a frame in s. Default 0, for unknown
	Start     string      // time at which the measurement began, kept as a note
	// Metadata is what is known about the frames, to compare the geometry of the map with. Default: what their file says.
	Metadata *frames.Metadata

	Multitau, Twotime bool
	// Pixels keeps the correlation of every pixel, so that other q maps can be used later.
	Pixels bool
	// NoAgeErrors leaves out of two-time correlations the data from which errors of g2 at ages
	// follow.
	NoAgeErrors bool
	Settings    correlate.Settings
	Gate        correlate.Gate

	// Progress is called with the number of frames read and their total, repeated readings
	// included, and with the correlation that is running, unless it is nil.
	Progress func(what string, done, all int)
}

// Done says what a Job has done.
type Done struct {
	Result   *nexus.Result // contents of the file, without maps and pixels
	Frames   int           // number of correlated frames, after selection
	Replaced []correlate.Replacement
	Empty    int     // number of frames without any count in bins
	Area     float64 // largest number of pixels of a speckle in a bin, 1 if speckles are not wider than a pixel; 0 without a multi-tau correlation
	Dark     Dark
	Hot      Hot
	Flat     *correlate.Flat // a frame, counted from that of the movie, in which all pixels read the same number; nil if there is none
	Stuck    []int           // Stuck lists the pixels, as row * width + column, whose numbers scatter far less than those of photons
	Lost     error
	Missing  string // frames of a series of files that are missing or empty, in words; empty if none are
	// Misplaced says where the geometry of the q map and that of the frames differ; empty if they agree or one is not known.
	Misplaced string
	Bad       []int // Bad lists the pixels of bins, as row * width + column, that have no count in most frames and were left out
	// Flickering lists the pixels of bins, as row * width + column, that have no count in some of the frames, as where a counter is full
	// now and then, and were left out because a quarter of the frames or more would have been bad.
	Flickering []int
	Dead       []int   // Dead lists the pixels of bins that never count where those around count much, and were left out
	Negative   []int   // Negative lists the pixels of bins whose mean is below 0, and were left out
	Unlit      []int   // Unlit lists the pixels of bins that are dead by all frames of a faint movie, and were not left out
	Blank      []int   // Blank lists the pixels of bins in areas without any count among lit ones, which were not left out
	mark       float64 // number that marks pixels without a count by the type of the frames; 0 if there is none
	Marked     string  // marks of pixels without a count that the frames have, in words; empty if there are none
}

// Dark is the dynamic bin with the largest share of static bins without any count. The ratio of an
// empty static bin is 0, as in other programs, and makes g2 of the dynamic bin too small.
type Dark struct{ Bin, Static, Of int }

// darkest returns the Dark of a correlation.
func darkest(maps correlate.Maps, saxs []float64) (worst Dark) {
	bins := map[int32]*Dark{}
	owner := map[int32]int32{}
	for i, s := range maps.Static {
		if d := maps.Dynamic[i]; d > 0 {
			owner[s] = d
		}
	}
	for s, d := range owner {
		if bins[d] == nil {
			bins[d] = &Dark{Bin: int(d)}
		}
		if bins[d].Of++; saxs[s-1] == 0 {
			bins[d].Static++
		}
	}
	for _, d := range bins {
		if more := d.Static*worst.Of - worst.Static*d.Of; d.Static > 0 && (worst.Bin == 0 || more > 0 || more == 0 && d.Bin < worst.Bin) {
			worst = *d
		}
	}
	return worst
}

// segments is the number of blocks along the diagonal of a two-time map whose g2 result files hold.
const segments = 5

func (j Job) check() error {
	switch {
	case j.Frames == nil || j.Map == nil || j.Map.Maps == nil:
		return errors.New("xpcs: the frames, the q map or its images are missing: a correlation needs Frames and a Map with its Maps")
	case !j.Multitau && !j.Twotime:
		return errors.New("xpcs: no correlation is asked for: set Multitau, Twotime or both")
	case !(j.FrameTime > 0) || math.IsInf(j.FrameTime, 0):
		return fmt.Errorf("xpcs: the time from frame to frame is %g s: want a positive number", j.FrameTime)
	}
	return j.Map.Check()
}

// Correlate correlates a movie and writes the result file out. A bad frame is replaced, and Done
// says which and why.
func Correlate(ctx context.Context, j Job, out string) (*Done, error) {
	if err := j.check(); err != nil {
		return nil, err
	}
	never, sometimes, err := withoutCount(Movie(j.Frames), j.Map.Maps)
	if err != nil {
		return nil, err
	}
	if j.Map, err = without(j.Map, slices.Concat(never, sometimes)); err != nil {
		return nil, err
	}
	var dead, negative []int
	if j.Map, dead, negative, err = dim(Movie(j.Frames), j.Map); err != nil {
		return nil, err
	}
	j.Map = measured(j.Map)
	m := j.Map.Maps
	maps := correlate.Maps{Height: m.Height, Width: m.Width, Dynamic: m.Dynamic, Static: m.Static}
	movie, err := Movie(j.Frames).Mend(maps, j.Gate)
	if err != nil {
		return nil, err
	}
	if j.Twotime { // before the hours that a multi-tau correlation may take
		if err := correlate.CheckTwotime(movie.Movie, maps, j.Settings); err != nil {
			return nil, err
		}
	}
	w, err := nexus.Create(out)
	if err != nil {
		return nil, err
	}
	defer w.Discard()
	done := &Done{Result: j.result()}
	done.Marked, done.Missing, done.Bad, done.Flickering = j.Frames.Marked, j.Frames.Missing, never, sometimes
	done.Dead, done.Negative, done.mark = dead, negative, j.Frames.Mark
	if done.Misplaced = misplaced(j.Map, j.Metadata); j.Metadata == nil {
		done.Misplaced = misplaced(j.Map, j.Frames.Metadata())
	}
	if done.Misplaced != "" {
		done.Result.Attrs[nexus.AttrMisplaced] = done.Misplaced
	}
	if j.Frames.Lost != nil {
		done.Lost = j.Frames.Lost
	}
	if j.Multitau {
		if err := j.multitau(ctx, movie.Movie, maps, w, done); err != nil {
			return nil, err
		}
	}
	if j.Twotime {
		err := j.twotime(ctx, movie.Movie, maps, w, done)
		if err != nil && j.Multitau && ad.IsDeviceFault(err) { // hours may have gone into what is finished
			done.Result.Attrs["incomplete"] = "the two-time correlation was not finished"
			if e := w.Close(done.Result); e != nil {
				return nil, errors.Join(err, e)
			}
			return nil, fmt.Errorf("xpcs: the two-time correlation failed: %w: %s has the multi-tau correlation and %s; correlate again with --overwrite, or to another folder", err, out, finished(done.Result.Twotime))
		}
		if err != nil {
			return nil, err
		}
	}
	done.Replaced = movie.Replaced()
	if n := len(done.Replaced); n > 0 {
		done.Result.Attrs["replaced_frames"] = fmt.Sprintf("%d of %d frames of the movie %s bad and %[3]s replaced", n, movie.Frames, errtext.Agree(n, "was", "were"))
		done.Result.Attrs[nexus.AttrReplaced] = listed(runsOf(done.replacedFrames(), 1))
	}
	return done, w.Close(done.Result)
}

// finished says which two-time maps there are.
func finished(t *nexus.Twotime) string {
	if t == nil {
		return "no two-time map"
	}
	return fmt.Sprintf("the two-time maps of bins %v", t.Bins)
}

func (j Job) result() *nexus.Result {
	q := *j.Map
	r := &nexus.Result{
		Flavour: nexus.Nexus, Start: j.Start, FrameTime: j.FrameTime, CountTime: j.CountTime,
		Energy: q.Energy, PixelX: q.PixelSize, PixelY: q.PixelSize, QMap: &q,
		Attrs: map[string]string{"program": "euryale", "frames": j.Frames.Name},
	}
	if !(r.CountTime > 0) { // pyXpcsViewer opens no file without
		r.CountTime, r.Attrs["count_time"] = j.FrameTime, "not known; the time from frame to frame stands for it"
	}
	if r.Start == "" { // nor without
		r.Start = "unknown"
	}
	return r
}

func (j Job) settings(what string) correlate.Settings {
	s := j.Settings
	if j.Progress != nil {
		s.Progress = func(done, all int) { j.Progress(what, done, all) }
	}
	return s
}

func (j Job) multitau(ctx context.Context, movie correlate.Movie, maps correlate.Maps, w *nexus.Writer, done *Done) error {
	s := j.settings("multi-tau")
	s.Covariance, s.Photons = true, true
	if j.Pixels {
		part, err := movie.Select(s.Selection)
		if err != nil {
			return err
		}
		if s.PerLevel <= 0 {
			s.PerLevel = 4
		}
		delays := len(correlate.Delays(part.Frames, s.PerLevel))
		s.PerPixel = func(_ int, products, earlier, later []float64) error {
			return w.AddPixels(delays, maps.Height, maps.Width, products, later, earlier)
		}
		s.MaxBytes = math.MaxInt64 / 4 // the pixels of a delay are wanted together
	}
	r, err := correlate.Multitau(ctx, movie, maps, s)
	if err != nil {
		return err
	}
	res := done.Result
	done.Frames, done.Dark = r.Frames, darkest(maps, r.SAXS)
	res.Multitau = &nexus.Multitau{
		G2: matrix(r.G2), Err: matrix(r.Err),
		Stride: max(s.Stride, 1), Average: max(s.Average, 1),
	}
	correlated(res.Multitau, r)
	if r.Coincidences != nil {
		res.Multitau.Coincidences = matrix(r.Coincidences)
	}
	done.Area = slices.Max(r.Area)
	for _, d := range r.Delay {
		res.Multitau.Delay = append(res.Multitau.Delay, float64(d.Frames))
	}
	for _, p := range r.Parts {
		res.Multitau.Partial = append(res.Multitau.Partial, matrix(p.G2))
		res.Multitau.PartialErr = append(res.Multitau.PartialErr, matrix(p.Err))
		res.Multitau.PartialFrames = append(res.Multitau.PartialFrames, float64(p.Frames))
	}
	j.intensities(r, done)
	return nil
}

// intensities takes over the intensities of a correlation.
func (j Job) intensities(r *correlate.Result, done *Done) {
	res, m := done.Result, j.Map.Maps
	done.Empty = r.Empty
	for _, n := range r.Photons {
		res.Photons = append(res.Photons, nexus.PhotonNoise{Bin: n.Bin, Mean: n.Mean, Ratio: n.Ratio, RatioErr: n.RatioErr, DeadTime: n.DeadTime, Adjacent: n.Adjacent, AdjacentErr: n.AdjacentErr, Limit: n.Limit, AtLimit: n.AtLimit, Gap: n.Gap.Reading, GapShare: n.Gap.Share, Factor: n.Factor, Counts: n.Counts, ByCounts: n.ByCounts, ByCountsErr: n.ByCountsErr})
		done.Stuck = append(done.Stuck, n.Stuck...)
	}
	slices.Sort(done.Stuck)
	for _, v := range r.Strays {
		s := nexus.Stray{Bin: v.Bin, Frame: j.Settings.First + v.Frame*j.Settings.Span(), Row: v.Pixel / m.Width, Column: v.Pixel % m.Width, Counts: v.Counts, Frames: v.Frames, Mean: v.Mean, Shift: v.Shift, Errors: v.Errors, Entries: v.Entries}
		if len(r.Delay) > 0 && !math.IsNaN(v.Errors) {
			s.Delay = r.Delay[v.Delay].Frames
		}
		res.Strays = append(res.Strays, s)
	}
	if f := r.Flat; f != nil {
		done.Flat = &correlate.Flat{Frame: j.Settings.First + f.Frame*j.Settings.Span(), Counts: f.Counts, Others: f.Others}
		res.Attrs[nexus.AttrBadFrames], _ = done.flat()
	}
	done.Hot, done.Unlit = hotPixels(m, r.Image, r.Frames), deadPixels(m, r.Image, r.Frames)
	done.Blank = emptyAreas(m, r.Image, r.Frames, done.Unlit)
	res.SAXS = filled(r.SAXS)
	res.Segments = &nexus.Matrix{Rows: 1, Cols: len(res.SAXS), Data: res.SAXS} // the viewer wants one part at least
	if len(r.SAXSParts) > 0 {
		res.Segments = matrix(each(r.SAXSParts, filled))
	}
	res.Image = &nexus.Matrix{Rows: m.Height, Cols: m.Width, Data: r.Image}
	res.Trace = &nexus.Trace{Mean: r.Trace}
	for i := range r.Trace {
		res.Trace.Frame = append(res.Trace.Frame, float64(j.Settings.First+i*j.Settings.Span()))
	}
}

func (j Job) twotime(ctx context.Context, movie correlate.Movie, maps correlate.Maps, w *nexus.Writer, done *Done) error {
	s := j.settings("two-time")
	t := &nexus.Twotime{Stride: max(s.Stride, 1), Average: max(s.Average, 1), Smooth: "sqmap"}
	if s.Smooth == "dynamic" {
		t.Smooth = "dqmap"
	}
	s.Ages = !j.NoAgeErrors
	if !j.Multitau { // which has them already
		s.Photons, s.Intensities = true, func(r *correlate.Result) { j.intensities(r, done) }
	}
	var full [][]float64
	var half []float32
	var blocks [][][]float64
	err := correlate.Twotime(ctx, movie, maps, s, func(m *correlate.Map) error {
		t.Bins = append(t.Bins, m.Bin)
		full = append(full, slices.Clone(m.Diagonals()))
		if m.Frames >= 2*segments {
			blocks = append(blocks, m.Blocks(segments))
		}
		done.Frames = m.Frames
		half = m.HalfTo(half)
		if err := w.AddMap(half, m.Frames); err != nil || m.Ages == nil {
			return err
		}
		a := m.Ages
		return w.AddAges(&nexus.AgeScatter{Delays: a.Delays, Blocks: a.Blocks, Groups: a.Groups, Wider: a.Wider, Values: a.Values})
	})
	if len(full) == 0 || err != nil && !ad.IsDeviceFault(err) {
		return err
	}
	t.G2 = columns(full)
	step := j.FrameTime * float64(s.Span())
	for i := range t.G2.Rows {
		t.Delay = append(t.Delay, float64(i)*step)
	}
	for k := range segments {
		var of [][]float64
		for _, b := range blocks {
			of = append(of, b[k])
		}
		if len(of) > 0 {
			t.Partial = append(t.Partial, columns(of))
		}
	}
	done.Result.Twotime = t
	return err
}

// correlated takes over the covariance of the points of g2 and what belongs to it.
func correlated(m *nexus.Multitau, r *correlate.Result) {
	m.Cov, m.Skew, m.Pixels = r.Cov, r.Skew, nil
	for i, skew := range r.Skew {
		m.Pixels = append(m.Pixels, max(int(math.Round(r.Samples[i])), 1))
		if skew == nil { // not known; no correction
			m.Skew[i] = make([]float64, len(r.G2))
		}
	}
}

func matrix(rows [][]float64) *nexus.Matrix {
	m := nexus.NewMatrix(len(rows), len(rows[0]))
	for i, row := range rows {
		copy(m.Row(i), row)
	}
	return m
}

// columns returns the matrix that has the given columns.
func columns(cols [][]float64) *nexus.Matrix {
	m := nexus.NewMatrix(len(cols[0]), len(cols))
	for j, c := range cols {
		for i, v := range c {
			m.Set(i, j, v)
		}
	}
	return m
}

// filled leaves out the bins without pixels.
func filled(v []float64) []float64 {
	return slices.DeleteFunc(slices.Clone(v), math.IsNaN)
}

func each(rows [][]float64, f func([]float64) []float64) [][]float64 {
	out := make([][]float64, len(rows))
	for i, r := range rows {
		out[i] = f(r)
	}
	return out
}
