// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "sync"

// fftSweep transforms many lines along one axis, by one of axis, real, long and longReal.
type fftSweep[T float] struct {
	axis       *fftAxis[T] // transform of complex lines
	real       *fftReal[T] // transform of rows of real numbers
	long       *fftLong[T] // transform of rows of complex numbers, one row at a time
	longReal   *fftLongReal[T]
	dst, src   []T
	width, dir int
	lines      int  // lines in one unit
	skip       bool // whether nothing is to be done: an axis of length 1 with nothing to copy
}

func (w *fftSweep[T]) do(s *fftScratch[T], lo, hi int) {
	switch {
	case w.skip:
	case w.long != nil:
		n := 2 * w.long.n
		for i := lo; i < hi; i++ {
			w.long.line(s, w.dst[i*n:(i+1)*n], w.src[i*n:(i+1)*n], w.dir)
		}
	case w.longReal != nil:
		n := w.longReal.n
		half := n/2*2 + 2
		for i := lo; i < hi; i++ {
			if w.dir == 0 {
				w.longReal.forward(s, w.dst[i*half:(i+1)*half], w.src[i*n:(i+1)*n])
			} else {
				w.longReal.inverse(s, w.dst[i*n:(i+1)*n], w.src[i*half:(i+1)*half])
			}
		}
	case w.real != nil && w.dir == 0:
		w.real.forward(s, w.dst, w.src, lo, hi)
	case w.real != nil:
		w.real.inverse(s, w.dst, w.src, lo, hi)
	default:
		w.axis.lines(s, w.dst, w.src, lo, hi, w.width, w.dir)
	}
}

// fftJob is one or two sweeps over units such as planes. Both sweeps process chunk units at a time,
// while these are in the cache.
type fftJob[T float] struct {
	sweeps       [2]fftSweep[T]
	units, chunk int
	last         [2]int // total number of lines of each sweep
}

func (j *fftJob[T]) do(s *fftScratch[T], lo, hi int) {
	for u := lo; u < hi; u += j.chunk {
		end := min(hi, u+j.chunk)
		for i := range j.sweeps {
			if n := j.sweeps[i].lines; n > 0 {
				j.sweeps[i].do(s, u*n, min(end*n, j.last[i]))
			}
		}
	}
}

// fftTeam is the scratch memory of the goroutines of one transform.
type fftTeam[T float] struct {
	members []*fftScratch[T]
	parts   []func() // work of each goroutine
	threads int
	job     fftJob[T]
	spare   []T // spectrum of a real inverse transform
	wait    sync.WaitGroup
}

// run divides the job into equal parts. The bits of a line do not depend on the lines that share its
// block.
func (t *fftTeam[T]) run(threads int) {
	for len(t.members) < max(threads, 1) {
		i := len(t.members)
		t.members = append(t.members, &fftScratch[T]{})
		t.parts = append(t.parts, func() {
			defer t.wait.Done()
			t.part(i)
		})
	}
	t.threads = max(1, min(threads, t.job.units))
	t.wait.Add(t.threads - 1)
	for _, part := range t.parts[1:t.threads] {
		go part()
	}
	t.part(0)
	t.wait.Wait()
}

func (t *fftTeam[T]) part(i int) {
	t.job.do(t.members[i], i*t.job.units/t.threads, (i+1)*t.job.units/t.threads)
}
