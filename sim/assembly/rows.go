// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"fmt"
	"slices"
	"unsafe"
)

// rows are the synapses of a fibre onto a lazy area, by source neuron, in the order of their targets. Synapses lie in
// chunks of one cache line, which are never moved: a new one is written behind the last of its row.
type rows interface {
	sources() int                                                         // number of source neurons
	holds(targets int) bool                                               // whether so many targets can be told apart
	begin(targets []int32, weights []float32) bool                        // adds a source neuron; false if there are too many different weights
	link(sources []int32, j int32)                                        // gives source neurons a synapse of weight 1 onto neuron j
	visit(sources []int32)                                                // says which source neurons add and among are about
	add(x []float64) (chunks int)                                         // adds weights to x, in which target j is j+1
	among(dst []place, marked []uint8) ([]place, int)                     // appends synapses onto marked targets, of which j is j+1
	strengthen(grown []place, sum []float64, g growth) (strengthened int) // fewer than all if there are too many different weights
	each(source int32, visit func(to int32, weight float32))
	widened() rows
	clone() rows
	bytes() int
}

// rowsOf are rows of synapses of 32 bits, or of 64 where there are too many targets or different weights for these.
type rowsOf[E uint32 | uint64] struct {
	first  []uint32
	end    []place // of each source neuron, where its next synapse goes
	slabs  []*slab[E]
	own    []*slab[E] // slabs that are not shared with a copy of the brain, nil for the others
	chunks uint32     // number of chunks; the first is not used
	list   []uint32   // chunks that the visited rows had
	*codes
}

const (
	chunkSynapses = 15      // synapses in a chunk, which ends with the number of the next chunk of the row, or 0
	slabChunks    = 128     // chunks that are allocated together
	maxChunks     = 1 << 28 // number of chunks that a place of 32 bits can tell apart
)

type chunk[E uint32 | uint64] [chunkSynapses + 1]E

type slab[E uint32 | uint64] [slabChunks]chunk[E]

// place is where a synapse is: its chunk times 16, and the place in the chunk.
type place uint32

func newRows() rows { return &rowsOf[uint32]{chunks: 1, codes: newCodes()} }

func (r *rowsOf[E]) sources() int           { return len(r.first) }
func (r *rowsOf[E]) holds(targets int) bool { return uint64(targets) < uint64(^E(0)>>codeBits[E]()) }
func (r *rowsOf[E]) mask() E                { return 1<<codeBits[E]() - 1 }

// codeBits is the number of low bits of a synapse that tell its weight: 12 or 31. The others are the target plus 1, or 0 for no
// synapse.
func codeBits[E uint32 | uint64]() int {
	var e E
	return 12 + 19*(int(unsafe.Sizeof(e))/8)
}

func (r *rowsOf[E]) at(c uint32) *chunk[E] { return &r.slabs[c/slabChunks][c%slabChunks] }

// writable returns a chunk that no copy of the brain shares.
func (r *rowsOf[E]) writable(c uint32) *chunk[E] {
	s := r.own[c/slabChunks]
	if s == nil {
		s = r.copied(c / slabChunks)
	}
	return &s[c%slabChunks]
}

func (r *rowsOf[E]) copied(i uint32) *slab[E] {
	s := *r.slabs[i]
	r.slabs[i], r.own[i] = &s, &s
	return &s
}

// another returns the number of a new chunk.
func (r *rowsOf[E]) another() uint32 {
	c := r.chunks
	if c == maxChunks {
		panic(fmt.Sprintf("assembly: a fibre between areas has more than %d synapses, which is as many as it can have: use fewer neurons or a smaller probability of connections", int64(maxChunks)*chunkSynapses))
	}
	if r.chunks++; int(c/slabChunks) >= len(r.slabs) {
		s := new(slab[E])
		r.slabs, r.own = append(r.slabs, s), append(r.own, s)
	}
	return c
}

func (r *rowsOf[E]) begin(targets []int32, weights []float32) bool {
	for _, w := range weights {
		if uint64(r.code(w)) > uint64(r.mask()) {
			return false
		}
	}
	c := r.another()
	r.first = append(r.first, c)
	to, k := r.writable(c), 0
	for n, j := range targets {
		if k == chunkSynapses {
			c = r.another()
			to[chunkSynapses] = E(c)
			to, k = r.writable(c), 0
		}
		to[k] = E(j+1) << (codeBits[E]())
		if weights != nil {
			to[k] |= E(r.code(weights[n]))
		}
		k++
	}
	r.end = append(r.end, place(c)<<4|place(k))
	return true
}

func (r *rowsOf[E]) link(sources []int32, j int32) {
	synapse := E(j+1) << (codeBits[E]())
	for _, i := range sources {
		at := r.end[i]
		c := r.writable(uint32(at >> 4))
		if at&15 == chunkSynapses {
			next := r.another()
			c[chunkSynapses] = E(next)
			c, at = r.writable(next), place(next)<<4
		}
		c[at&15] = synapse
		r.end[i] = at + 1
	}
}

// visit lists the chunks of source neurons. That the loop does nothing else lets the processor wait for many cache lines at a
// time.
func (r *rowsOf[E]) visit(sources []int32) {
	list := r.list[:0]
	for _, i := range sources {
		for c := r.first[i]; c != 0; c = uint32(r.at(c)[chunkSynapses]) {
			list = append(list, c)
		}
	}
	r.list = list
}

func (r *rowsOf[E]) add(x []float64) (chunks int) {
	for _, c := range r.list {
		r.at(c).add(x, r.weight)
	}
	return len(r.list)
}

// add is a function by itself because it then keeps to registers.
//
//go:noinline
func (c *chunk[E]) add(x, weight []float64) {
	for _, s := range c[:chunkSynapses] {
		x[s>>codeBits[E]()] += weight[s&(1<<codeBits[E]()-1)]
	}
}

func (r *rowsOf[E]) among(dst []place, marked []uint8) (list []place, chunks int) {
	for n, c := range r.list {
		for listed := true; c != 0; listed = false {
			from := r.at(c)
			dst = slices.Grow(dst, chunkSynapses)
			dst = dst[:len(dst)+from.among(dst[len(dst):len(dst)+chunkSynapses], place(c)<<4, marked)]
			chunks++
			c = uint32(from[chunkSynapses])
			if listed && n+1 < len(r.list) && c == r.list[n+1] {
				break
			} // else the row has got chunks since it was listed
		}
	}
	return dst, chunks
}

// among writes the places of synapses onto marked targets and returns their number. It has no branches, because whether a
// neuron fires is hard to predict.
//
//go:noinline
func (c *chunk[E]) among(dst []place, first place, marked []uint8) (n int) {
	for k, s := range c[:chunkSynapses] {
		dst[n] = first + place(k)
		n += int(marked[s>>codeBits[E]()])
	}
	return n
}

func (r *rowsOf[E]) strengthen(grown []place, sum []float64, g growth) (strengthened int) {
	bits, mask := codeBits[E](), r.mask()
	r.by(g)
	next := r.next
	for n, p := range grown {
		s := &r.writable(uint32(p >> 4))[p&15]
		code := *s & mask
		to := next[code]
		if to.code == unknown {
			to = r.grow(uint32(code))
			if next = r.next; uint64(to.code) > uint64(mask) {
				return n
			}
		}
		sum[*s>>bits] += to.more
		*s = *s&^mask | E(to.code)
	}
	return len(grown)
}

func (r *rowsOf[E]) each(source int32, visit func(to int32, weight float32)) {
	for c := r.first[source]; c != 0; {
		from := r.at(c)
		for _, s := range from[:chunkSynapses] {
			if s != 0 {
				visit(int32(s>>codeBits[E]())-1, float32(r.weight[s&r.mask()]))
			}
		}
		c = uint32(from[chunkSynapses])
	}
}

// widened returns the rows with 64 bits for a synapse, in the same places.
func (r *rowsOf[E]) widened() rows {
	w := &rowsOf[uint64]{first: r.first, end: r.end, chunks: r.chunks, list: r.list, codes: r.codes}
	for _, from := range r.slabs {
		to := new(slab[uint64])
		for c := range from {
			for k, s := range from[c][:chunkSynapses] {
				to[c][k] = uint64(s>>codeBits[E]())<<codeBits[uint64]() | uint64(s&r.mask())
			}
			to[c][chunkSynapses] = uint64(from[c][chunkSynapses])
		}
		w.slabs, w.own = append(w.slabs, to), append(w.own, to)
	}
	return w
}

func (r *rowsOf[E]) clone() rows {
	clear(r.own)
	c := *r
	c.first, c.end, c.slabs, c.own = append([]uint32(nil), r.first...), append([]place(nil), r.end...), append([]*slab[E](nil), r.slabs...), append([]*slab[E](nil), r.own...)
	c.list, c.codes = nil, r.codes.clone()
	return &c
}

func (r *rowsOf[E]) bytes() int {
	var slab slab[E]
	return 4*(cap(r.first)+cap(r.end)+cap(r.list)) + 16*cap(r.slabs) + len(r.slabs)*int(unsafe.Sizeof(slab)) + r.codes.bytes()
}
