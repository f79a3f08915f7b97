// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/kernels"
)

// Scan runs a program for each step of a compiler.Scan: out holds the last carries and then the results
// of all steps, in holds the first carries, the stacked inputs and what the steps share.
func Scan[T Real](c *Call, out []T, in [][]T) error {
	r, made := c.work.(*scan[T])
	if !made {
		r = newScan(c, in)
		c.work = r
	}
	return r.run(c, out, in)
}

// scan is a machine for the steps. Arrays that have a place are read and written where they lie among the stacked ones;
// others are copied before and after each step.
type scan[T Real] struct {
	*compiler.Scan
	m       *Machine[T]
	carries []carry[T]
	xs, ys  []stacked[T]
	factors []*kernels.Factor // of products by what the steps share
}

// carry is what one step hands to the next.
type carry[T Real] struct {
	array, next   []T // in the memory of the machine
	place, nextIn *place[T]
	now, then     []T // where the carry and the next one are
	kept          int // result that holds the carry of each step; -1 for none
}

// stacked is an input or a result, of which each step has an element.
type stacked[T Real] struct {
	array   []T // in the memory of the machine; nil for indices
	indices []int64
	place   *place[T]
	first   int // of a result: where its elements begin among those of all results
}

func newScan[T Real](c *Call, in [][]T) *scan[T] {
	s := &scan[T]{Scan: c.Obj.(*compiler.Scan)}
	p := s.Body
	s.m = NewMachine[T](p, Settings{Threads: c.Threads, Isolate: c.Isolate, Level: c.Level})
	for i, buf := range p.InBufs[s.Carries+s.Inputs:] {
		switch i += s.Carries + s.Inputs; {
		case p.IsInts(buf):
			copy(s.m.Indices(buf), c.Ints[i])
		case len(in[i]) > 0:
			s.m.Bind(buf, in[i])
		}
	}
	for i := range s.Carries {
		from, to := p.InBufs[i], p.OutBufs[i]
		k := carry[T]{array: s.m.Reals(from), next: s.m.Reals(to), place: s.m.place(from), nextIn: s.m.place(to), kept: -1}
		if k.place == nil || k.nextIn == nil {
			k.place, k.nextIn = nil, nil
		}
		s.carries = append(s.carries, k)
	}
	for k, buf := range p.InBufs[s.Carries : s.Carries+s.Inputs] {
		x := stacked[T]{array: s.m.Reals(buf), indices: s.m.Indices(buf)}
		if k != s.Number {
			x.place = s.m.place(buf)
		}
		s.xs = append(s.xs, x)
	}
	first := 0
	for r, buf := range p.OutBufs[s.Carries:] {
		y := stacked[T]{array: s.m.Reals(buf), place: s.m.place(buf), first: first}
		first += s.Steps * len(y.array)
		if i := s.carryOf(buf); i >= 0 && y.place != nil && s.carries[i].place != nil && s.Count < 0 && s.Until < 0 {
			s.carries[i].kept = r
		}
		s.ys = append(s.ys, y)
	}
	s.shareFactors()
	return s
}

// shareFactors lets products by a matrix that the steps share pack it once a run.
func (s *scan[T]) shareFactors() {
	for i, j := range s.m.jobs {
		if v := s.Body.Jobs[i].Step; v != nil && v.Op.Code == compiler.MatMul && len(v.Shape) == 2 && len(v.In[1].Shape) == 2 &&
			slices.Contains(s.Body.InBufs[s.Carries+s.Inputs:], v.In[1].Layout.Root.Place.Buf) {
			j.call.factor = &kernels.Factor{}
			s.factors = append(s.factors, j.call.factor)
		}
	}
}

// carryOf returns the carry that a result is a copy of, or -1.
func (s *scan[T]) carryOf(result int) int {
	for _, j := range s.Body.Jobs {
		if j.Loop == nil {
			continue
		}
		for _, o := range j.Loop.Ops {
			if o.Op.Code == compiler.Copy && o.Dst.Kind == compiler.InStep && o.Dst.Buf == result && o.Arg[0].Kind == compiler.InStep && o.Arg[0].Off == 0 {
				return slices.Index(s.Body.InBufs[:s.Carries], o.Arg[0].Buf)
			}
		}
	}
	return -1
}

// mostCounted is the number up to which float32 has all whole ones.
const mostCounted = 1 << 24

func (s *scan[T]) run(c *Call, out []T, in [][]T) error {
	for i, buf := range s.Body.InBufs[s.Carries+s.Inputs:] {
		if s.Body.IsInts(buf) {
			copy(s.m.Indices(buf), c.Ints[s.Carries+s.Inputs+i])
		}
	}
	results := out
	for i := range s.carries {
		results = results[len(s.carries[i].array):]
	}
	steps := s.steps(in)
	if s.Count >= 0 || s.Until >= 0 {
		clear(results)
	}
	s.begin(in, results, steps)
	for _, f := range s.factors {
		f.Forget()
	}
	for t := range steps {
		if s.Until >= 0 && !slices.ContainsFunc(s.carries[s.Until].now, func(v T) bool { return v != 0 }) {
			break
		}
		if s.Until >= 0 && t >= mostCounted && sizeOf[T]() == 4 {
			return fmt.Errorf("autodiff: the loop has more than %d steps, which float32 cannot count: set Settings.Precision to 64", mostCounted)
		}
		s.give(c, in, results, t, steps)
		if err := s.m.Run(); err != nil {
			return fmt.Errorf("in step %d of %d of a scan: %w", s.Place(t, steps), s.Steps, err)
		}
		s.take(results, s.Place(t, steps))
	}
	for i := range s.carries {
		out = out[copy(out, s.carries[i].now):]
	}
	return nil
}

// steps returns the number of steps to run.
func (s *scan[T]) steps(in [][]T) int {
	if s.Count < 0 {
		return s.Steps
	}
	steps := 0
	for _, n := range in[s.Count][:len(s.carries[s.Count].array)] {
		if n > T(steps) { // NaN is not a number of steps
			steps = int(min(n, T(s.Steps)))
		}
	}
	return steps
}

// begin puts the first carries where the first step reads them.
func (s *scan[T]) begin(in [][]T, results []T, steps int) {
	for i := range s.carries {
		k := &s.carries[i]
		k.now, k.then = k.array, k.next
		if k.kept >= 0 && steps > 0 {
			k.now = s.element(results, k.kept, s.Place(0, steps))
		}
		copy(k.now, in[i])
	}
}

// element returns the element of a result that a step writes.
func (s *scan[T]) element(results []T, result, place int) []T {
	y := &s.ys[result]
	n := len(y.array)
	return results[y.first+place*n : y.first+(place+1)*n]
}

// give gives the machine what step t reads, and tells it where to write.
func (s *scan[T]) give(c *Call, in [][]T, results []T, t, steps int) {
	at := s.Place(t, steps)
	for k := range s.xs {
		x, n := &s.xs[k], len(s.xs[k].array)
		switch {
		case k == s.Number:
			x.array[0] = T(at)
		case x.array == nil:
			copy(x.indices, c.Ints[s.Carries+k][at*len(x.indices):])
		case x.place != nil:
			s.m.put(x.place, in[s.Carries+k][at*n:(at+1)*n])
		default:
			copy(x.array, in[s.Carries+k][at*n:])
		}
	}
	for r := range s.ys {
		if p := s.ys[r].place; p != nil {
			s.m.put(p, s.element(results, r, at))
		}
	}
	for i := range s.carries {
		if k := &s.carries[i]; k.place != nil {
			if k.kept >= 0 && t+1 < steps {
				k.then = s.element(results, k.kept, s.Place(t+1, steps))
			} else if k.kept >= 0 {
				k.then = k.next
			}
			s.m.put(k.place, k.now)
			s.m.put(k.nextIn, k.then)
		}
	}
}

// take stores what a step has made and that has no place.
func (s *scan[T]) take(results []T, at int) {
	for r := range s.ys {
		if y := &s.ys[r]; y.place == nil {
			copy(s.element(results, r, at), y.array)
		}
	}
	for i := range s.carries {
		k := &s.carries[i]
		switch {
		case k.place == nil:
			copy(k.array, k.next)
		case k.kept >= 0:
			k.now = k.then
		default:
			k.now, k.then = k.then, k.now
		}
	}
}
