// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/errtext"
)

// Stray is a reading that no statistics of photons make, as of a cosmic ray or of a pixel that is hot for some frames. Euryale writes such readings in addition to what viewers read.
type Stray struct {
	Bin, Frame, Row, Column int     // dynamic bin from 1, and frame, row and column of the movie from 0
	Counts, Mean            float64 // the reading, and the mean counts of the pixel in the other frames
	Frames                  int     // frames in which the pixel stands out, this one among them; a rough number, 0 if unknown

	// Shift is what the pixels with stray readings of the bin change in g2 at the delay in frames where that is most standard errors of g2, and Errors
	// is how many. Shift and Errors are NaN, and Delay is 0, if g2 is not known.
	Shift  float64
	Delay  int
	Errors float64
	// Entries is about how many standard errors the reading changes the entries of its frame in the two-time correlation of the bin.
	Entries float64
}

// strayErrors and strayEntries are the numbers of standard errors of g2, and of the entries of one frame of C2, from which stray readings are told.
const (
	strayErrors  = 1
	strayEntries = 3
)

// Moves reports whether the stray readings of the bin change g2 by more than its standard error or, where g2 is not known, the two-time correlation of
// their frame by more than chance does.
func (s *Stray) Moves() bool {
	if math.IsNaN(s.Errors) {
		return s.Entries > strayEntries
	}
	return s.Errors > strayErrors
}

// hotFrames is the number of frames in which a pixel stands out from which it is called hot: cosmic rays seldom hit one twice.
const hotFrames = 3

// hot reports whether the pixel stands out in many frames.
func (s *Stray) hot() bool { return s.Frames >= hotFrames }

// DescribeStrays says in words which stray readings move g2 or C2, and what to do about them; both are "" if none does.
func DescribeStrays(all []Stray) (text, remedy string) {
	var moving []Stray
	frames, pixels, hot := map[int]bool{}, map[[2]int]bool{}, 0
	worst := Stray{Errors: math.NaN()}
	for _, s := range all {
		if !s.Moves() {
			continue
		}
		moving = append(moving, s)
		if s.hot() {
			hot++
		} else {
			frames[s.Frame] = true
		}
		pixels[[2]int{s.Row, s.Column}] = true
		if s.Errors > worst.Errors || math.IsNaN(worst.Errors) {
			worst = s
		}
	}
	if len(moving) == 0 {
		return "", ""
	}
	slices.SortStableFunc(moving, func(a, b Stray) int { return cmp.Compare(b.Counts, a.Counts) })
	s, n := moving[0], len(moving)
	switch text = fmt.Sprintf("pixel (row %d, column %d) has %.6g counts in frame %d and %.3g in the others", s.Row, s.Column, s.Counts, s.Frame, s.Mean); {
	case hot == n && n == 1:
		text = fmt.Sprintf("pixel (row %d, column %d) is hot in about %d frames, with up to %.6g counts (in frame %d) and %.3g in the others", s.Row, s.Column, s.Frames, s.Counts, s.Frame, s.Mean)
	case hot == n:
		text = fmt.Sprintf("%d pixels are hot in some frames, of which that at row %d, column %d is brightest, in about %d frames, with up to %.6g counts (in frame %d) and %.3g in the others", n, s.Row, s.Column, s.Frames, s.Counts, s.Frame, s.Mean)
	case n > 1:
		text = fmt.Sprintf("%d pixels have single readings far above all others, of which the largest is at row %d, column %d, with %.6g counts in frame %d and %.3g in the others", n, s.Row, s.Column, s.Counts, s.Frame, s.Mean)
	}
	text += ", which photons do not do, but cosmic rays and faults of the detector"
	if !math.IsNaN(worst.Errors) {
		text += fmt.Sprintf(": g2 of bin %d changes by %.2g at a delay of %s, %.3g of its standard errors", worst.Bin, worst.Shift, errtext.Count(worst.Delay, "frame"), worst.Errors)
	}
	if len(frames) == 0 {
		return text, fmt.Sprintf("mask %s (qmap --mask also reads a list of pixels), and correlate again", errtext.Agree(len(pixels), "the pixel", "the pixels"))
	}
	if hot > 0 {
		text += fmt.Sprintf("; %d of the pixels %s hot in several frames", hot, errtext.Agree(hot, "is", "are"))
		return text, "mask the pixels (qmap --mask also reads a list of pixels), and correlate again"
	}
	remedy = fmt.Sprintf("correlate again without %s (--skip %s), or mask %s", errtext.Agree(len(frames), "this frame", "these frames"), someFrames(frames), errtext.Agree(len(pixels), "the pixel", "the pixels"))
	return text, remedy
}

// someFrames lists the first few frames as --skip reads them.
func someFrames(frames map[int]bool) string {
	const few = 10
	var list []int
	for f := range frames {
		list = append(list, f)
	}
	slices.Sort(list)
	var text []string
	for _, f := range list[:min(few, len(list))] {
		text = append(text, fmt.Sprint(f))
	}
	if len(list) > few {
		return strings.Join(text, ",") + ",... of " + fmt.Sprint(len(list))
	}
	return strings.Join(text, ",")
}

// keyStrays is the group of stray readings: one-dimensional datasets with a number for each.
const keyStrays = "/xpcs/stray_readings"

// strays writes stray readings.
func (s saver) strays(all []Stray) {
	if len(all) == 0 {
		return
	}
	whole, real := make([][]int32, 6), make([][]float64, 5)
	for _, v := range all {
		for k, x := range []int{v.Bin, v.Frame, v.Row, v.Column, v.Delay, v.Frames} {
			whole[k] = append(whole[k], int32(x))
		}
		for k, x := range []float64{v.Counts, v.Mean, v.Shift, v.Errors, v.Entries} {
			real[k] = append(real[k], x)
		}
	}
	for k, name := range []string{"bin", "frame", "row", "column", "delay_frames", "frames"} {
		s.Write(keyStrays+"/"+name, whole[k], hdf5.Layout{})
	}
	for k, name := range []string{"counts", "mean_counts", "g2_shift", "g2_shift_in_errors", "c2_shift_in_errors"} {
		s.floats(key{keyStrays + "/" + name}, real[k])
	}
}

// strays reads stray readings, nil if the file has none.
func (l *loader) strays() (all []Stray) {
	var whole [][]int
	for _, name := range []string{"bin", "frame", "row", "column", "delay_frames"} {
		v := l.ints(key{keyStrays + "/" + name})
		if name == "bin" && v == nil {
			return nil
		}
		whole = append(whole, v)
		if l.err == nil && len(v) != len(whole[0]) {
			l.fail("%s/%s has %s for %s: want one for each", keyStrays, name, errtext.Count(len(v), "number"), errtext.Count(len(whole[0]), "reading"))
		}
	}
	frames := l.ints(key{keyStrays + "/frames"})
	if frames == nil { // of an earlier version
		frames = make([]int, len(whole[0]))
	}
	if l.err == nil && len(frames) != len(whole[0]) {
		l.fail("%s/frames has %s for %s: want one for each", keyStrays, errtext.Count(len(frames), "number"), errtext.Count(len(whole[0]), "reading"))
	}
	var real [][]float64
	for _, name := range []string{"counts", "mean_counts", "g2_shift", "g2_shift_in_errors", "c2_shift_in_errors"} {
		v := l.floats(key{keyStrays + "/" + name}, true)
		if l.err == nil && len(v) != len(whole[0]) {
			l.fail("%s/%s has %s for %s: want one for each", keyStrays, name, errtext.Count(len(v), "number"), errtext.Count(len(whole[0]), "reading"))
		}
		real = append(real, v)
	}
	if l.err != nil {
		return nil
	}
	for i := range whole[0] {
		all = append(all, Stray{Bin: whole[0][i], Frame: whole[1][i], Row: whole[2][i], Column: whole[3][i], Delay: whole[4][i], Frames: frames[i], Counts: real[0][i], Mean: real[1][i], Shift: real[2][i], Errors: real[3][i], Entries: real[4][i]})
	}
	return all
}

// StraysOf returns the stray readings of a dynamic bin.
func StraysOf(all []Stray, bin int) (of []Stray) {
	for _, s := range all {
		if s.Bin == bin {
			of = append(of, s)
		}
	}
	return of
}

// OpenStrays reads the stray readings of a result file alone, nil if it has none.
func OpenStrays(name string) ([]Stray, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l := &loader{file: f}
	all := l.strays()
	return all, l.err
}
