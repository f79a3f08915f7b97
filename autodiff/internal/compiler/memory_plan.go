// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package compiler

import "math"

// buffer is one array of a program.
type buffer struct {
	Value  *Value
	Size   int
	Offset int // position in its arena, in elements
	Kind   bufferKind
}

type bufferKind uint8

const (
	none     bufferKind = iota
	inputBuf            // an input, at the start of the arena in the order of Settings.Inputs
	outputBuf
	tempBuf
	ConstBuf
	IntBuf // an array of indices, in an arena of its own
)

// Edge reports whether an array is an input or an output: these come first in the arena.
func (k bufferKind) Edge() bool { return k == inputBuf || k == outputBuf }

// align is the granularity of temporaries in elements: a cache line of float64.
const align = 8

// most is the largest number of elements that a planner counts; larger sums saturate there.
const most = math.MaxInt / 32

// planner assigns arrays to the values that must be in memory. Arrays that are never in use at the
// same time share space.
type planner struct {
	Buffers []buffer // all arrays; buffer 0 stands for none
	Arena   int      // size of the arena of reals, in elements
	Consts  int
	Ints    int
}

func (p *planner) add(v *Value, kind bufferKind) {
	b := buffer{Value: v, Size: v.Size(), Kind: kind}
	if v.IsInt {
		b.Kind, b.Offset = IntBuf, p.Ints
		p.Ints = min(p.Ints+b.Size, most)
	} else if kind == ConstBuf {
		b.Offset = p.Consts
		p.Consts = min(p.Consts+(b.Size+align-1)&^(align-1), most)
	} else if kind != tempBuf {
		b.Offset = p.Arena
		p.Arena = min(p.Arena+b.Size, most)
	}
	v.Place.Buf = len(p.Buffers)
	p.Buffers = append(p.Buffers, b)
}

// temporaries plans the arrays between jobs by first fit.
func (p *planner) temporaries(jobs []*Job, keep map[*Value]bool, values int) {
	last := make([]int, values) // by value: the number of the last job that reads it, from 1 on
	for i, j := range jobs {
		for _, v := range j.values() {
			for _, x := range v.In {
				last[x.Layout.Root.id] = i + 1
			}
		}
	}
	space := Space{End: (p.Arena + align - 1) &^ (align - 1)}
	ends := make([][]int, len(jobs)+1)
	for i, j := range jobs {
		for _, v := range j.values() {
			if !v.Place.escapes || v.Place.Buf != 0 {
				continue
			}
			p.add(v, tempBuf)
			if v.IsInt {
				continue
			}
			b := &p.Buffers[v.Place.Buf]
			b.Offset = space.Take(RoundUp(b.Size))
			if end := last[v.id]; !keep[v] && end > 0 {
				ends[end-1] = append(ends[end-1], v.Place.Buf)
			} else if !keep[v] {
				ends[i] = append(ends[i], v.Place.Buf)
			}
		}
		for _, k := range ends[i] {
			space.Release(p.Buffers[k].Offset, RoundUp(p.Buffers[k].Size))
		}
	}
	p.Arena = space.End
}

// RoundUp returns the least multiple of a cache line that holds n elements.
func RoundUp(n int) int { return max(align, (n+align-1)&^(align-1)) }

func (j *Job) values() []*Value {
	if j.Step != nil {
		return []*Value{j.Step}
	}
	return j.cluster.values
}

// Largest returns the value with the largest array.
func (p *planner) Largest() *Value {
	largest := buffer{}
	for _, b := range p.Buffers {
		if b.Value != nil && b.Size >= largest.Size {
			largest = b
		}
	}
	return largest.Value
}

// Edge returns how many reals the inputs and outputs hold, which come first in the arena.
func (p *planner) Edge() (n int) {
	for _, b := range p.Buffers {
		if b.Kind.Edge() {
			n = max(n, b.Offset+b.Size)
		}
	}
	return n
}

// Size returns the number of elements of an array.
func (p *planner) Size(buf int) int { return p.Buffers[buf].Size }

// IsInts reports whether an array holds indices.
func (p *planner) IsInts(buf int) bool { return p.Buffers[buf].Kind == IntBuf }
