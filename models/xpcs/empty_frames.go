// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
)

// runsListed is the largest number of runs of frames that a note lists.
const runsListed = 6

// empty names the frames without any count in bins, and what to do about them. Those at the end are of a measurement that stopped earlier;
// those between others were lost on the way from the detector, or the beam was off.
func (d *Done) empty() string {
	if d.Empty == 0 {
		return ""
	}
	line := fmt.Sprintf("%d of %s %s no counts in any bin", d.Empty, errtext.Count(d.Frames, "frame"), errtext.Agree(d.Empty, "has", "have"))
	t := d.Result.Trace
	if t == nil || d.Empty == d.Frames || !d.bright() {
		return line
	}
	var frames []int
	for i, mean := range t.Mean {
		if mean == 0 {
			frames = append(frames, int(t.Frame[i]))
		}
	}
	runs := runsOf(frames, stepOf(t.Frame))
	if tail := d.tail(runs); tail != "" {
		line += "; " + tail
		runs = runs[:len(runs)-1]
	}
	if len(runs) == 0 || len(runs) > runsListed {
		return line
	}
	return line + fmt.Sprintf("; if frames were dropped there, replace them with --skip %s", listed(runs))
}

// counted is the number of counts of a frame from which chance makes none without any.
const counted = 30

// bright reports whether the frames with counts have so many that one without any is not chance.
func (d *Done) bright() bool {
	sum := 0.0
	for _, mean := range d.Result.Trace.Mean {
		sum += mean
	}
	pixels := 0
	for _, b := range d.Result.QMap.Maps.Static {
		if b > 0 {
			pixels++
		}
	}
	return sum/float64(d.Frames-d.Empty)*float64(pixels) > counted
}

// tail says what to do where the last run of frames ends with the movie, and is "" where it does not or is a single frame.
func (d *Done) tail(runs [][2]int) string {
	t := d.Result.Trace
	if t == nil || len(runs) == 0 || len(t.Frame) == 0 {
		return ""
	}
	end, step := runs[len(runs)-1], stepOf(t.Frame)
	if end[1] < int(t.Frame[len(t.Frame)-1]) || end[1] == end[0] {
		return ""
	}
	return fmt.Sprintf("the last %d, from frame %d on, hold nothing, as where a measurement ended early: leave them out with --end %[2]d", (end[1]-end[0])/step+1, end[0])
}

// stepOf returns the number of frames from one of a trace to the next.
func stepOf(frame []float64) int {
	if len(frame) < 2 {
		return 1
	}
	return int(frame[1] - frame[0])
}

// runsOf returns the first and the last frame of each run of frames.
func runsOf(frames []int, step int) (runs [][2]int) {
	for _, f := range frames {
		if n := len(runs); n > 0 && runs[n-1][1]+step == f {
			runs[n-1][1] = f
			continue
		}
		runs = append(runs, [2]int{f, f})
	}
	return runs
}

// listed returns runs as --skip takes them, such as 10,200-210.
func listed(runs [][2]int) string {
	var parts []string
	for _, r := range runs {
		if r[0] == r[1] {
			parts = append(parts, fmt.Sprint(r[0]))
			continue
		}
		parts = append(parts, fmt.Sprintf("%d-%d", r[0], r[1]))
	}
	return strings.Join(parts, ",")
}
