package assembly

import (
	"math"
	"sort"
	"sync"
)

// gaps draws how far it is from one connection of a neuron to the next: g with
// probability p (1-p)^(g-1). Numbers of 32 bits are looked up in a table; beyond its
// end the law begins anew, for it has no memory.
type gaps struct {
	upTo  []uint32 // 2^32 P(gap <= i+1)
	guide []uint32 // where upTo exceeds i << guideShift
	log   float64  // 1/log(1-p), used where the table would be too long
}

const guideShift = 20

// tables remembers the tables by their probability.
var tables sync.Map

func gapsOf(p float64) *gaps {
	if g, ok := tables.Load(p); ok {
		return g.(*gaps)
	}
	g, _ := tables.LoadOrStore(p, newGaps(p))
	return g.(*gaps)
}

func newGaps(p float64) *gaps {
	const longest = 1 << 15
	g := &gaps{log: 1 / math.Log1p(-p)}
	if p*longest < 3 {
		return g
	}
	for i := 1; i <= longest; i++ {
		u := -math.Expm1(float64(i)/g.log) * (1 << 32)
		if u >= 1<<32-1 {
			break
		}
		g.upTo = append(g.upTo, uint32(u))
	}
	g.guide = make([]uint32, 1<<(32-guideShift))
	for i := range g.guide {
		u := uint32(i) << guideShift
		g.guide[i] = uint32(sort.Search(len(g.upTo), func(k int) bool { return g.upTo[k] > u }))
	}
	return g
}

// next turns a random number into a gap; again says that more is to be added to it.
func (g *gaps) next(u uint32) (gap int, again bool) {
	if g.upTo == nil {
		return 1 + int(math.Log((float64(u)+0.5)/(1<<32))*g.log), false
	}
	k := int(g.guide[u>>guideShift])
	for k < len(g.upTo) && g.upTo[k] <= u {
		k++
	}
	if k == len(g.upTo) {
		return k, true
	}
	return k + 1, false
}

// walk calls visit with each target of a source neuron, in order.
func (g *gaps) walk(seed uint64, source, n int, visit func(j int)) {
	d := dice{mix(seed ^ mix(uint64(source)+0x6A09E667F3BCC909))}
	at := -1
	for {
		z := d.next()
		for range 2 {
			gap, again := g.next(uint32(z))
			z >>= 32
			if at += gap; at >= n {
				return
			}
			if !again {
				visit(at)
			}
		}
	}
}

// Bernoulli appends the connections of a source neuron: each target with the
// probability of the fibre, independently.
//
// A device draws a row per thread block: the gaps of a stretch of counters, and
// their prefix sum.
func Bernoulli(dst []int32, f Fibre, source int) []int32 {
	switch {
	case f.P <= 0:
		return dst
	case f.P >= 1:
		for j := range f.N {
			dst = append(dst, int32(j))
		}
		return dst
	}
	gapsOf(f.P).walk(f.Seed, source, f.N, func(j int) { dst = append(dst, int32(j)) })
	return dst
}
