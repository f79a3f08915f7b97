// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
)

const (
	// alignment is the multiple of bytes at which arrays begin that are not side by side with others.
	alignment = 256
	// small is the number of elements below which inputs and outputs lie side by side, so that one copy
	// moves many.
	small = 1024
)

// layout says where the arrays of a program are in the memory of a device. All offsets are bytes.
type layout struct {
	at     []int  // of each array, in the memory of reals or in that of indices
	joined []bool // whether an array lies side by side with those before and after it
	consts int    // where the constants begin
	edge   int    // where they end, and temporaries begin
	reals  int    // bytes of reals
}

// layOut places the arrays of a program: small inputs and outputs side by side, constants, large inputs
// and outputs, and then temporaries, which share space if they are never needed at the same time.
// width returns the bytes of an element, together the last of the jobs that are one kernel with each job.
func layOut(p *compiler.Program, together []int, width func(buf int) int) *layout {
	l := &layout{at: make([]int, len(p.Buffers)), joined: make([]bool, len(p.Buffers))}
	end := 0
	place := func(buf, multiple int) {
		end = roundUp(end, multiple)
		l.at[buf] = end
		end += p.Size(buf) * width(buf)
	}
	each := func(f func(buf int)) {
		for i, b := range p.Buffers {
			switch {
			case b.Kind == compiler.IntBuf:
				l.at[i] = 8 * b.Offset
			case b.Value != nil:
				f(i)
			}
		}
	}
	each(func(i int) {
		if l.joined[i] = p.Buffers[i].Kind.Edge() && p.Size(i) < small; l.joined[i] {
			place(i, width(i))
		}
	})
	l.consts = roundUp(end, alignment)
	end = l.consts
	each(func(i int) {
		if p.Buffers[i].Kind == compiler.ConstBuf {
			place(i, constantAt(p.Size(i)))
		}
	})
	l.edge = end
	each(func(i int) {
		if p.Buffers[i].Kind.Edge() && !l.joined[i] {
			place(i, alignment)
		}
	})
	l.reals = l.temporaries(p, together, roundUp(end, alignment), width)
	return l
}

// constantAt is the multiple at which a constant begins.
func constantAt(size int) int {
	if size < small {
		return 16
	}
	return alignment
}

// temporaries places the arrays between jobs, each from the job that writes it to the last that reads
// it, and returns the end of all. Jobs of one kernel are one job in this.
func (l *layout) temporaries(p *compiler.Program, together []int, from int, width func(buf int) int) int {
	last := make([]int, len(p.Buffers))
	for i, j := range p.Jobs {
		for _, b := range append(j.Writes(), j.Reads()...) {
			last[b] = together[i]
		}
	}
	space := compiler.Space{End: from}
	room := func(b int) int { return roundUp(max(1, p.Size(b)*width(b)), alignment) }
	ends := make([][]int, len(p.Jobs))
	for i, j := range p.Jobs {
		for _, b := range j.Writes() {
			if k := p.Buffers[b].Kind; k == compiler.IntBuf || k.Edge() {
				continue
			}
			l.at[b] = space.Take(room(b))
			ends[last[b]] = append(ends[last[b]], b)
		}
		for _, b := range ends[i] {
			space.Release(l.at[b], room(b))
		}
	}
	return space.End
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
