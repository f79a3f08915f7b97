// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/internal/roofline"
)

// scratchArray is the identity of the memory of partial results, which is no array of a program.
const scratchArray = -1

// Cycles that threads wait for each other or for results, on all cards: those of a load from shared memory, of a barrier and of a shuffle
// with the addition after it. Reference for loads: Luo et al., arXiv:2402.13499; the others are assumed to be about as long.
const (
	sharedLoad = 30
	barrier    = 30
	shuffle    = 35
)

// treeSerial are the cycles in which a block combines the numbers of its threads.
const treeSerial = 8 * (sharedLoad + barrier + 10)

// Instructions of threads that the compiler adds to what the text says, counted in images of ptxas 12.9.
const (
	wideStepping   = 8  // a turn of a loop with strides of the grid: a sum, a comparison and a branch with 64-bit numbers
	narrowStepping = 4  // the same with 32-bit numbers
	locating       = 3  // the address of an element
	dividing       = 6  // a quotient and a remainder of 32-bit numbers by a constant
	longDivision   = 30 // the same of 64-bit numbers
)

// stepping returns the instructions of a turn of a loop that counts to n.
func (g *generator) stepping(n int) float64 {
	return pick(g.short(n), float64(narrowStepping), wideStepping)
}

// Launches lists the launches of a run of a program, with their work.
func Launches(p *compiler.Program, o Settings) ([]roofline.Launch, error) {
	o.Count = true
	s := Generate(p, o)
	return s.work(), s.err
}

// work lists the launches of a run.
func (s *Source) work() (list []roofline.Launch) {
	for _, job := range s.Jobs {
		for _, l := range job {
			if l.repeated == nil {
				list = append(list, l.described())
				continue
			}
			for _, inner := range l.repeated.source.work() {
				inner.Times = max(1, inner.Times) * l.repeated.Steps
				list = append(list, inner)
			}
		}
	}
	return list
}

func (l Launch) described() roofline.Launch {
	out := roofline.Launch{Kernel: l.Kernel, Grid: l.Grid, Block: l.Block, Resident: l.Resident, Shared: l.Shared, Work: l.Work}
	if l.Library != nil || l.external != nil {
		out.Work.Unknown = "calls of libraries"
	}
	return out
}

// width returns the bytes of an element of an array.
func (g *generator) width(buf int) int {
	switch {
	case g.p.IsInts(buf):
		return 8
	case g.narrow[buf]:
		return 2
	}
	return g.precision / 8
}

// walk says which element of a loop, counted flat, the threads of a kernel visit k-th, neighbouring threads one after another.
type walk func(k int) int

func straight(k int) int { return k }

// loopWork counts what a loop does, of all elements in the order of a walk: what a sum needs, or everything for nil. Elements are loaded and stored
// in packs of so many.
func (g *generator) loopWork(l *compiler.Loop, only *compiler.Reduce, in walk, pack int) (w roofline.Work) {
	v := &visit{g: g, l: l, in: in, threads: l.N, pack: pack, written: map[int]bool{}, seen: map[compiler.Operand]bool{}}
	return v.work(only)
}

// tiledLoopWork counts what a loop in tiles does, of all elements.
func (g *generator) tiledLoopWork(l *compiler.Loop, t *tiled) roofline.Work {
	v := &visit{g: g, l: l, pack: 1, written: map[int]bool{}, seen: map[compiler.Operand]bool{}, tiles: t}
	v.in, v.threads = along(l, t.last)
	return v.work(nil)
}

// work counts what a sum needs, or everything for nil.
func (v *visit) work(only *compiler.Reduce) roofline.Work {
	l := v.l
	need := needs(l, only)
	for _, x := range l.Loads {
		if need.reg[x.Reg] {
			v.strided(x.Buf, x.Off, x.Strides)
		}
	}
	for _, f := range l.Fills {
		if need.reg[f.Reg] {
			v.read(f.From)
		}
	}
	for i, m := range l.Ops {
		if need.op[i] {
			v.instruction(m, only == nil)
		}
	}
	for i := range l.Sums {
		if s := &l.Sums[i]; only == nil || only == s {
			v.summand(s)
		}
	}
	if v.indexed && v.tiles == nil && len(l.Dims) > 1 {
		for _, n := range l.Dims[1:] {
			v.w.Integers += pick(v.g.short(l.N), division(n), longDivision) * float64(l.N)
		}
	}
	return v.w
}

// visit is the counting of a loop.
type visit struct {
	g       *generator
	l       *compiler.Loop
	in      walk
	threads int // that walk
	pack    int
	written map[int]bool
	seen    map[compiler.Operand]bool
	indexed bool
	tiles   *tiled // of a loop in tiles
	w       roofline.Work
}

// instruction counts an operation of all elements, and its result if it is written.
func (v *visit) instruction(m compiler.Instruction, write bool) {
	for k := range m.Op.Arity {
		v.read(m.Arg[k])
	}
	c := costOf(m.Op.C, m.Op.Helper)
	v.w.Add(c.work(v.g.real(m.Op) == "double" || v.g.precision == 64).Times(float64(v.l.N)))
	if m.Dst.Kind == compiler.InStep {
		v.written[m.Dst.Buf] = true
		if write {
			v.array(m.Dst.Buf, true)
		}
	}
}

// read counts a load of an operand.
func (v *visit) read(o compiler.Operand) {
	if o.Kind == compiler.InRegister || v.written[o.Buf] || v.seen[o] {
		return
	}
	v.seen[o] = true
	switch o.Kind {
	case compiler.InStep:
		v.array(o.Buf, false)
	case compiler.InNumber:
		v.w.Use(o.Buf, float64(v.g.width(o.Buf)), false)
	case compiler.InRow:
		r := v.l.Rows[o.Row]
		v.strided(r.Buf, r.Off, whole(r))
	}
}

// array counts the elements of an array that runs along with the loop.
func (v *visit) array(buf int, write bool) {
	n, width := v.l.N, v.g.width(buf)
	v.w.Use(buf, float64(n*width), write)
	if v.pack > 1 {
		v.w.Sectors += float64((n*width + 31) / 32)
	} else {
		v.sectors(n*width, width, v.threads, v.in)
	}
	v.w.Accesses += float64(n / v.pack)
	v.w.Integers += float64(locating * n / v.pack)
}

// strided counts the elements of an array seen along strides.
func (v *visit) strided(buf, off int, strides []int) {
	if v.l.N == 0 {
		return
	}
	distinct, axes := 1, 0
	for d, s := range strides {
		if s != 0 && v.l.Dims[d] > 1 {
			distinct *= v.l.Dims[d]
			axes++
		}
	}
	v.indexed = v.indexed || axes > 0
	width := v.g.width(buf)
	bytes := min(distinct, max(1, v.g.p.Size(buf))) * width
	v.w.Use(buf, float64(bytes), false)
	in, threads := v.in, v.threads
	if v.tiles.array(buf, off, strides) >= 0 {
		in, threads = along(v.l, v.tiles.axis)
		v.w.Accesses += 2 * float64(v.l.N) // into shared memory and out of it
		v.w.Integers += locating * float64(v.l.N)
	}
	v.sectors(bytes, width, threads, func(k int) int {
		at, rest := off, in(k)
		for d := len(strides) - 1; d >= 0; d-- {
			at += rest % v.l.Dims[d] * strides[d]
			rest /= v.l.Dims[d]
		}
		return at
	})
	v.w.Accesses += float64(v.l.N)
	v.w.Integers += float64((locating + 2*axes) * v.l.N)
}

// nearCache are the bytes up to which an array stays in the cache of each multiprocessor.
const nearCache = 64 << 10

// sectors counts those that warps ask for, in some warps of so many threads: thread k is at place at(k) of an array, bytes of which are used.
func (v *visit) sectors(bytes, width, threads int, at walk) {
	sectors, conflicts := patterned(threads, width, at)
	if bytes <= nearCache {
		sectors = min(sectors, float64(132*((bytes+31)/32)))
	}
	v.w.Sectors += sectors
	v.w.Conflicts += conflicts
}

// patterned returns the sectors that the warps of n threads ask for, and their turns beyond the first, where thread k accesses the element at place
// at(k). It looks at some warps and takes the others to be like them.
func patterned(n, width int, at walk) (sectors, conflicts float64) {
	const looks = 64
	warps := (n + warp - 1) / warp
	some := min(warps, looks)
	for i := range some {
		first := i * warps / some * warp
		var places []int
		for k := first; k < min(first+warp, n); k++ {
			places = append(places, at(k)*width)
		}
		s, l := roofline.Pattern(places, width)
		sectors += float64(s)
		conflicts += float64(l - 1)
	}
	scale := float64(warps) / float64(max(1, some))
	return sectors * scale, conflicts * scale
}

// summand counts what a sum adds of all elements, in float64.
func (v *visit) summand(s *compiler.Reduce) {
	v.read(s.A)
	per := 2.0 // a conversion and an addition
	if s.Of >= compiler.Products {
		v.read(s.B)
		per = 3
	}
	if s.Op.Code != compiler.Sum {
		per += 3 // comparisons
	}
	v.w.Float64 += per * float64(v.l.N)
}

// turns returns how often each thread of a launch goes around a loop over n.
func turns(n int, l Launch) float64 {
	threads := l.Grid * l.Block
	return float64((n + threads - 1) / threads)
}
