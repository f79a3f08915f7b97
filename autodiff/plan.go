package autodiff

import (
	"math"
	"slices"
)

// buffer is one array of a program.
type buffer struct {
	value  *value
	size   int
	offset int // in elements of its arena
	kind   bufferKind
}

type bufferKind uint8

const (
	none     bufferKind = iota
	inputBuf            // at the start of the arena, in the order of Settings.Inputs
	outputBuf
	tempBuf
	constBuf
	intBuf // of indices: in an arena of its own
)

// align is the granularity of temporaries in elements: a cache line of float64.
const align = 8

// most is how many elements a planner counts; sums of more stay there.
const most = math.MaxInt / 32

// planner assigns arrays to values that must be in memory; arrays whose times of
// use do not meet share space.
type planner struct {
	buffers []buffer // buffer 0 is none
	arena   int      // elements of the real arena
	consts  int
	ints    int
	free    []span
}

type span struct{ at, size int }

func (p *planner) add(v *value, kind bufferKind) {
	b := buffer{value: v, size: v.size(), kind: kind}
	if v.isInt {
		b.kind, b.offset = intBuf, p.ints
		p.ints = min(p.ints+b.size, most)
	} else if kind == constBuf {
		b.offset = p.consts
		p.consts = min(p.consts+(b.size+align-1)&^(align-1), most)
	} else if kind != tempBuf {
		b.offset = p.arena
		p.arena = min(p.arena+b.size, most)
	}
	v.place.buf = len(p.buffers)
	p.buffers = append(p.buffers, b)
}

// temporaries plans the arrays between jobs by first fit.
func (p *planner) temporaries(jobs []*job, keep map[*value]bool) {
	last := map[*value]int{}
	for i, j := range jobs {
		for _, v := range j.values() {
			for _, x := range v.in {
				last[x.layout.root] = i
			}
		}
	}
	p.arena = (p.arena + align - 1) &^ (align - 1)
	ends := make([][]int, len(jobs)+1)
	for i, j := range jobs {
		for _, v := range j.values() {
			if !v.place.escapes || v.place.buf != 0 {
				continue
			}
			p.add(v, tempBuf)
			if v.isInt {
				continue
			}
			b := &p.buffers[v.place.buf]
			b.offset = p.take(b.size)
			if end, used := last[v]; !keep[v] && used {
				ends[end] = append(ends[end], v.place.buf)
			} else if !keep[v] {
				ends[i] = append(ends[i], v.place.buf)
			}
		}
		for _, k := range ends[i] {
			p.release(span{p.buffers[k].offset, roundUp(p.buffers[k].size)})
		}
	}
}

func roundUp(n int) int { return max(align, (n+align-1)&^(align-1)) }

func (p *planner) take(n int) int {
	n = roundUp(n)
	for i, s := range p.free {
		if s.size >= n {
			p.free[i] = span{s.at + n, s.size - n}
			if s.size == n {
				p.free = slices.Delete(p.free, i, i+1)
			}
			return s.at
		}
	}
	at := p.arena
	p.arena = min(p.arena+n, most)
	return at
}

// release gives space back and joins it with its neighbours.
func (p *planner) release(s span) {
	i, _ := slices.BinarySearchFunc(p.free, s, func(a, b span) int { return a.at - b.at })
	p.free = slices.Insert(p.free, i, s)
	if i+1 < len(p.free) && s.at+s.size == p.free[i+1].at {
		p.free[i].size += p.free[i+1].size
		p.free = slices.Delete(p.free, i+1, i+2)
	}
	if i > 0 && p.free[i-1].at+p.free[i-1].size == p.free[i].at {
		p.free[i-1].size += p.free[i].size
		p.free = slices.Delete(p.free, i, i+1)
	}
}

func (j *job) values() []*value {
	if j.step != nil {
		return []*value{j.step}
	}
	return j.cluster.values
}

// largest returns the value with the largest array.
func (p *planner) largest() *value {
	largest := buffer{}
	for _, b := range p.buffers {
		if b.value != nil && b.size >= largest.size {
			largest = b
		}
	}
	return largest.value
}

// size returns the number of elements of an array.
func (p *planner) size(buf int) int { return p.buffers[buf].size }

// isInts reports whether an array holds indices.
func (p *planner) isInts(buf int) bool { return p.buffers[buf].kind == intBuf }
