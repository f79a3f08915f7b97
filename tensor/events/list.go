// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package events holds frames of a detector of which most pixels are 0: a [List] names the others. Readers of files fill such lists
// and correlators read them.
//
//	var e events.List
//	e.Reset()
//	e.Pixel, e.Count = append(e.Pixel, 1, 5), append(e.Count, 4, 1)
//	e.End() // of the first frame
//	e.End() // the second frame has no events
//	for f := range e.Frames() {
//		for i := e.Start[f]; i < e.Start[f+1]; i++ {
//			fmt.Println(f, e.Pixel[i], e.Count[i])
//		}
//	}
package events

import "slices"

// List lists the pixels of some frames that are not 0.
type List struct {
	Start []int     // start of each frame in Pixel and Count, and the end of the last one
	Pixel []uint32  // pixel as row * width + column; each at most once in a frame, in ascending order where files are read
	Count []float32 // intensity of the pixel, not 0
}

// Reset removes all frames.
func (e *List) Reset() {
	e.Start, e.Pixel, e.Count = append(e.Start[:0], 0), e.Pixel[:0], e.Count[:0]
}

// End ends a frame, which consists of the events appended since the previous one.
func (e *List) End() { e.Start = append(e.Start, len(e.Pixel)) }

// Frames returns the number of frames.
func (e *List) Frames() int { return max(len(e.Start)-1, 0) }

// Join appends the frames of another list.
func (e *List) Join(b *List) {
	from := len(e.Pixel)
	for _, end := range b.Start[1:] {
		e.Start = append(e.Start, from+end)
	}
	e.Pixel, e.Count = append(e.Pixel, b.Pixel...), append(e.Count, b.Count...)
}

// Gather appends the events of dense frames of size pixels, one after another.
func (e *List) Gather(frames []float32, size int) {
	for ; len(frames) > 0; frames = frames[size:] {
		for i, v := range frames[:size] {
			if v != 0 {
				e.Pixel, e.Count = append(e.Pixel, uint32(i)), append(e.Count, v)
			}
		}
		e.End()
	}
}

// Scatter writes the frames to dense ones of size pixels, one after another, which must be 0 before.
func (e *List) Scatter(frames []float32, size int) {
	for f := range e.Frames() {
		for i := e.Start[f]; i < e.Start[f+1]; i++ {
			frames[f*size+int(e.Pixel[i])] = e.Count[i]
		}
	}
}

// Tidy sorts the events of the frame that has not ended by pixel, and adds up those of one pixel.
func (e *List) Tidy() {
	from := e.Start[len(e.Start)-1]
	p, c := e.Pixel[from:], e.Count[from:]
	ascending := true
	for i := 1; i < len(p) && ascending; i++ {
		ascending = p[i] > p[i-1]
	}
	if ascending {
		return
	}
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return int(p[a]) - int(p[b]) })
	oldP, oldC := slices.Clone(p), slices.Clone(c)
	n := 0
	for _, i := range order {
		if n > 0 && p[n-1] == oldP[i] {
			c[n-1] += oldC[i]
			continue
		}
		p[n], c[n] = oldP[i], oldC[i]
		n++
	}
	e.Pixel, e.Count = e.Pixel[:from+n], e.Count[:from+n]
}
