// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cpu

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
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

// scan is a machine for the steps.
type scan[T Real] struct {
	*compiler.Scan
	m       *Machine[T]
	carry   [][]T // inputs of the machine
	next    [][]T
	xs      [][]T
	indices [][]int64
	ys      [][]T
}

func newScan[T Real](c *Call, in [][]T) *scan[T] {
	s := &scan[T]{Scan: c.Obj.(*compiler.Scan)}
	p := s.Body
	s.m = NewMachine[T](p, Settings{Threads: c.Threads, Isolate: c.Isolate, Level: c.Level})
	for i, buf := range p.InBufs {
		switch k := i - s.Carries; {
		case k < 0:
			s.carry = append(s.carry, s.m.Reals(buf))
		case k < s.Inputs:
			s.xs, s.indices = append(s.xs, s.m.Reals(buf)), append(s.indices, s.m.Indices(buf))
		case p.IsInts(buf):
			copy(s.m.Indices(buf), c.Ints[i])
		case len(in[i]) > 0:
			s.m.Bind(buf, in[i])
		}
	}
	for i, buf := range p.OutBufs {
		if i < s.Carries {
			s.next = append(s.next, s.m.Reals(buf))
		} else {
			s.ys = append(s.ys, s.m.Reals(buf))
		}
	}
	return s
}

// mostCounted is the number up to which float32 has all whole ones.
const mostCounted = 1 << 24

func (s *scan[T]) run(c *Call, out []T, in [][]T) error {
	for i, buf := range s.Body.InBufs {
		switch {
		case i < s.Carries:
			copy(s.carry[i], in[i])
		case i >= s.Carries+s.Inputs && s.Body.IsInts(buf):
			copy(s.m.Indices(buf), c.Ints[i])
		}
	}
	at := 0
	for _, x := range s.carry {
		at += len(x)
	}
	results := out[at:]
	steps := s.Steps
	if s.Count >= 0 {
		steps = 0
		for _, n := range s.carry[s.Count] {
			if n > T(steps) { // NaN is not a number of steps
				steps = int(min(n, T(s.Steps)))
			}
		}
	}
	if s.Count >= 0 || s.Until >= 0 {
		clear(results)
	}
	for t := range steps {
		if s.Until >= 0 && !slices.ContainsFunc(s.carry[s.Until], func(v T) bool { return v != 0 }) {
			break
		}
		if s.Until >= 0 && t >= mostCounted && sizeOf[T]() == 4 {
			return fmt.Errorf("autodiff: the loop has more than %d steps, which float32 cannot count: set Settings.Precision to 64", mostCounted)
		}
		place := s.Place(t, steps)
		for k, x := range s.xs {
			if k == s.Number {
				x[0] = T(place)
			} else if x != nil {
				copy(x, in[s.Carries+k][place*len(x):])
			} else {
				copy(s.indices[k], c.Ints[s.Carries+k][place*len(s.indices[k]):])
			}
		}
		if err := s.m.Run(); err != nil {
			return fmt.Errorf("in step %d of %d of a scan: %w", place, s.Steps, err)
		}
		rest := results
		for _, y := range s.ys {
			copy(rest[place*len(y):], y)
			rest = rest[s.Steps*len(y):]
		}
		for i, x := range s.next {
			copy(s.carry[i], x)
		}
	}
	for _, x := range s.carry {
		out = out[copy(out, x):]
	}
	return nil
}
