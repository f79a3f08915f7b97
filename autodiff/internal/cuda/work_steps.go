// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"strings"

	"github.com/euryale-dev/euryale/internal/roofline"
)

// count replaces the work of the last kernel of a step.
func (s *Step) count(w roofline.Work) { s.list[len(s.list)-1].Work = w }

// revise changes what was counted of the last kernel of a step, whose text has loops that are not counted by themselves.
func (s *Step) revise(change func(w *roofline.Work)) {
	if !s.g.options.Count {
		return
	}
	w := &s.list[len(s.list)-1].Work
	w.Unknown = ""
	change(w)
}

// arrays notes that all elements of the inputs and of the result are read and written once, side by side.
func (s *Step) arrays() (w roofline.Work) {
	for _, x := range s.Value.In {
		buf := x.Layout.Root.Place.Buf
		bytes := float64(x.Size() * s.g.width(buf))
		w.Use(buf, bytes, false)
		w.Sectors += bytes / 32
	}
	bytes := float64(s.Size() * s.g.width(s.Place.Buf))
	w.Use(s.Place.Buf, bytes, true)
	w.Sectors += bytes / 32
	return w
}

// textWork counts a kernel that runs a text for i = 0 ... n-1: what all arrays hold is read or written once, side by side.
func (s *Step) textWork(n int, text string, k Launch) (w roofline.Work) {
	if !s.g.options.Count {
		return w
	}
	w = s.arrays()
	per := costOf(text, "") // for the functions that it calls
	for _, m := range marks.FindAllString(numbers.ReplaceAllString(text, "0"), -1) {
		if m == "/" {
			per.special--
		}
	}
	w.Special = max(0, per.special) * float64(n)
	w.Integers = (s.g.stepping(n) + integers(text, !s.g.short(n))) * float64(n)
	w.Accesses = float64(n * strings.Count(text, "["))
	w.Trips = turns(n, k)
	if strings.Contains(text, "for (") || strings.Contains(text, "while (") {
		w.Unknown = "loops of threads"
	}
	return w
}

// picked counts that elements of the first input lie anywhere, inner of them side by side: their places are not known when kernels are made.
func (s *Step) picked(inner int) {
	s.revise(func(w *roofline.Work) {
		width, n := s.g.width(s.Place.Buf), float64(s.Size())
		w.Sectors += n/float64(inner)*float64((inner*width+31)/32) - float64(s.Value.In[0].Size()*width)/32
		w.Conflicts += n / warp * float64(max(0, warp/inner-1))
		w.Trips *= 2 // the index, and what is there
	})
}

// windows counts loops over the elements of windows of a x b elements that each of n threads visits, by instructions of images of ptxas 12.9.
func (s *Step) windows(n, a, b int) {
	s.revise(func(w *roofline.Work) {
		all := float64(n * a * b)
		w.Accesses = all + float64(n)
		w.Integers = 12*float64(n) + 10*all
		w.Float32 += 3 * all
	})
}

// reduced counts threads, or warps for team 32, that add up terms of a sum in float64, with neighbours beside them.
func (x *product) reduced(team int) {
	s := x.s
	k := s.list[len(s.list)-1]
	n := float64(x.m * x.n * x.depth * x.batches)
	results := x.m * x.n * x.batches * x.parts
	s.revise(func(w *roofline.Work) {
		*w = s.arrays()
		width := float64(s.g.precision / 8)
		w.Sectors = (n + float64(x.m*x.n*x.batches)) * width / 32
		if team > 1 { // threads read the vector side by side too, and not all the same number of it
			w.Sectors += n * width / 32
		} else {
			w.Sectors += n / warp
		}
		w.Float64, w.Accesses, w.Integers = 3*n, 2*n, 6*n
		turn := turns(results*team, k)
		w.Trips = turn * float64((x.share+team*unrolled-1)/(team*unrolled))
		w.Serial = turn * 5 * shuffle
		x.partial(w)
	})
}

// partial notes the parts of sums that a kernel writes in place of results.
func (x *product) partial(w *roofline.Work) {
	if x.parts > 1 {
		n := float64(8 * x.parts * x.s.Size())
		w.Use(scratchArray, n, true)
		w.Sectors += n / 32
	}
}

// tileWork counts a product in tiles: jobs blocks, each with strips of both matrices.
func (x *product) tileWork(t tiling, jobs int) (w roofline.Work) {
	if !x.s.g.options.Count {
		return w
	}
	size, threads, width := t.size(), t.edge*t.edge, x.s.g.precision/8
	strips := (min(x.share, x.depth) + strip - 1) / strip
	each := strip * size / threads
	n := float64(jobs*threads) * float64(strips)
	w = x.s.arrays()
	w.Sectors = 0
	quads := float64(2 * t.quads * strip)
	sums := float64(16 * t.quads * t.quads * strip)
	if x.s.g.precision == 64 {
		w.Float64 = n * sums
	} else {
		w.Float32 = n * sums
	}
	w.Accesses = n * (quads*float64(width)/4 + 4*float64(each))
	w.Conflicts = n / warp * quads / 2 * float64(width/4) // a warp reads 256 bytes of the second matrix at once
	w.Integers = n * float64(each) * (2*16 + x.finding)
	for _, f := range []factor{x.a, x.b} {
		w.Sectors += n / warp * float64(each*width)
		if f.along { // a warp reads pieces of several lines
			w.Conflicts += n / warp * float64(each) * (warp/strip - 1)
		}
	}
	w.Trips = float64(strips)
	w.Serial = float64(strips) * (strip*sharedLoad + 2*sharedLoad + barrier + 60)
	w.Sectors += float64(x.m*x.n*x.batches*width) / 32
	x.partial(&w)
	return w
}

// scanWork counts a kernel of lines that blocks share, in tiles: what it reads and writes, and how long a block works on a tile.
func (c scan) scanWork(s *Step, n, lines, pieces, length int, only bool) roofline.Work {
	w := s.arrays()
	all := float64(lines * n)
	width := float64(s.g.precision / 8)
	tiles := float64((length+scanTile-1)/scanTile) * float64((lines*pieces+mostGrid-1)/mostGrid)
	w.Trips = tiles
	w.Float64, w.Integers, w.Accesses = 2*all, 12*all, 1*all
	if only {
		w.Arrays = w.Arrays[:len(w.Arrays)-1]
		w.Sectors -= all * width / 32
		w.Use(scratchArray, float64(16*lines*pieces), true)
	}
	// Elements go through shared memory to threads that have eight of them each, and back.
	w.Accesses += 3 * all
	w.Float64 += 4 * all
	w.Integers += 16 * all
	w.Serial = tiles * (4*barrier + 4*sharedLoad + 8*16 + 5*2*shuffle + block/warp*(sharedLoad+16) + 8*16)
	if c.safe != "true" || !c.alone() {
		w.Float64 += 8 * all
		w.Serial += tiles * 8 * 40
	}
	return w
}

// fftWork counts the kernel of a pass: blocks that load some lines of m numbers, transform them in stages, each with so many butterflies
// in a thread, and store them.
func (f *fourier) fftWork(p pass, k Launch, m, lines, groups int, radix []int, chirped bool) (w roofline.Work) {
	if !f.g.options.Count {
		return w
	}
	w = f.arrays() // scratch memory is as large
	all := float64(groups * lines * m)
	w.Sectors = 0
	for _, step := range []int{p.inStep, p.outStep} {
		sectors, conflicts := f.lineSectors(p, step, lines)
		w.Sectors += sectors
		w.Conflicts += conflicts
	}
	turn := float64(groups) / float64(k.Grid)
	each := float64(lines*m) / float64(k.Block) // elements of a thread
	w.Integers, w.Accesses = 2*15*all, 2*3*all
	w.Trips = turn * each / unrolled
	w.Serial = turn * (2*barrier + each*sharedLoad/unrolled)
	passes := pick(chirped, 2.0, 1)
	if chirped {
		w.Float32 += 18 * all
	}
	before, real := 1, 0.0
	for _, r := range radix {
		n := all / float64(r) * passes // butterflies
		loads, banks := f.stageConflicts(r, m, before)
		real += n * float64(2*r*bitsOf(r))
		w.Integers += n * float64(12+4*r)
		w.Accesses += n * float64(2*r)
		w.Conflicts += n / warp * float64(banks+loads)
		w.Serial += turn * passes * (2*barrier + each/float64(r)*(2*sharedLoad+40) + 2*sharedLoad)
		if before > 1 {
			real += n * float64(6*(r-1))
			w.Accesses += n * float64(r-1)
			w.Serial += turn * passes * each / float64(r) * 2 * sharedLoad
		}
		before *= r
	}
	if f.g.precision == 64 {
		w.Float64 += real
	} else {
		w.Float32 += real
	}
	return w
}

// stageConflicts returns the turns beyond the first of a warp's accesses in a butterfly of a stage: for roots, and for what is stored in shared memory.
func (f *fourier) stageConflicts(r, m, before int) (roots, banks int) {
	bytes := f.g.precision / 4
	each := m / r
	for q := range r {
		var root, to []int
		for t := range min(warp, each) {
			k := t % before
			root = append(root, ((q-1)*before+k)*bytes)
			to = append(to, ((t-k)*r+k+q*before)*bytes)
		}
		banks += roofline.Banks(to, bytes) - 1
		if q > 0 && before > 1 {
			_, lines := roofline.Pattern(root, bytes)
			roots += lines - 1
		}
	}
	return roots, banks
}

// bitsOf is the number of sums in which an element of a butterfly of r takes part.
func bitsOf(r int) int {
	n := 0
	for ; r > 1; r /= 2 {
		n++
	}
	return n
}

// lineSectors returns the sectors of all numbers of lines whose neighbours are step numbers apart, and the turns of warps beyond the first:
// neighbouring threads have neighbouring numbers of a line, or of neighbouring lines.
func (f *fourier) lineSectors(p pass, step, lines int) (sectors, conflicts float64) {
	bytes := f.g.precision / 4
	run := warp // numbers side by side
	if step != 1 {
		run = min(lines, warp)
	}
	n := float64(p.rows() * p.n)
	each := (run*bytes + 31) / 32
	turns := warp / run * ((run*bytes + 127) / 128)
	return n / float64(run) * float64(each), 2 * n / warp * float64(turns-1)
}

// Serial cycles of a tile of elements of a sort: of its ranks within warps, and of what blocks do together.
const (
	rankSerial  = 8 * (8*12 + 2*sharedLoad + 4*shuffle)
	splitSerial = rankSerial + 8*2*sharedLoad + 5*shuffle + 7*2*sharedLoad + 4*barrier + 16*sharedLoad
)

// sortWork counts a kernel of a sort: passes over all elements in so many tiles of a block, which count digits or put elements
// in order.
func (o order) sortWork(tiles, passes float64, split bool) roofline.Work {
	all := float64(o.rows*o.n) * passes
	key := float64(o.digits)
	var w roofline.Work
	if w.Use(scratchArray, float64(o.rows*o.n)*key, false); split {
		w.Use(scratchArray, float64(o.rows*o.n)*(key+4), true)
	}
	w.Sectors = all * key / 32
	w.Trips, w.Serial = tiles*passes, tiles*passes*8*2*sharedLoad
	w.Integers, w.Accesses = 30*all, 3*all
	if split {
		w.Use(scratchArray, float64(o.rows*o.n)*(key+4), false)
		w.Sectors += all * (2*key + 8) / 32 * 1.5 // runs of a digit are short
		w.Integers, w.Accesses = 150*all, 18*all
		w.Serial = tiles * passes * (splitSerial + 8*3*sharedLoad)
	}
	return w
}

// aloneWork counts the kernel in which each block sorts whole lines: a count of all digits, and a split for each.
func (o order) aloneWork() roofline.Work {
	turn := float64((o.rows + mostGrid - 1) / mostGrid)
	tiles := turn * float64((o.n+sortRoom-1)/sortRoom)
	w := o.sortWork(tiles, float64(o.digits), true)
	first := o.sortWork(tiles, 1, false)
	first.Accesses *= float64(o.digits) // a count for each digit
	first.Serial *= float64(o.digits)
	w.Add(first)
	return w
}

// offsetsWork counts the kernel that adds up the counts of the parts of lines, each of which a thread has so many of.
func (o order) offsetsWork(each int) (w roofline.Work) {
	n := float64(sortDigits * o.rows * o.parts)
	w.Use(scratchArray, 4*n, true)
	w.Sectors, w.Accesses, w.Integers = 2*4*n/32, 2*n, 20*n
	w.Trips, w.Serial = 1, 31*sharedLoad+2*barrier+float64(each)*4
	return w
}

// networkWork counts the kernel that sorts lines of at most power elements in shared memory, size elements of each block.
func (o order) networkWork(groups, size, power, threads int) roofline.Work {
	w := o.arrays()
	steps := 0.0
	for s := 2; s <= power; s *= 2 {
		steps += float64(bitsOf(s))
	}
	turn := float64((groups + mostGrid - 1) / mostGrid)
	pairs := float64(groups*size/2) * steps
	w.Integers, w.Accesses = 20*pairs, 6*pairs
	w.Conflicts = pairs / warp
	each := float64((size/2 + threads - 1) / threads)
	w.Trips, w.Serial = turn, turn*steps*(each*(2*sharedLoad+20)+barrier)
	return w
}

// joinWork counts the kernel that joins the states of the pieces of lines.
func (c scan) joinWork(lines, pieces int) (w roofline.Work) {
	n := float64(lines * pieces)
	w.Use(scratchArray, 16*n, true)
	w.Sectors, w.Accesses, w.Integers, w.Float64 = 2*16*n/32, 8*n, 20*n, 4*n
	each := float64((pieces + block - 1) / block)
	w.Trips = 1
	w.Serial = 2*each*(sharedLoad+20) + 5*2*shuffle + block/warp*(sharedLoad+16) + 4*barrier
	return w
}
