// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package correlate

import (
	"github.com/euryale-dev/euryale/internal/roofline"
)

// Identities of arrays in declared work.
const (
	workRaw = iota + 1
	workFrames
	workValid
	workPartial
	workIndex
	workTotals
	workImage
	workGroups
	workKept
	workDivided
	workMap
	workProducts
	workLevels = 100 // and four for each level
)

// frameWork declares the kernels that take n frames of a file to float32 and find their means; valid pixels count.
func frameWork(n, size, valid, width int) []roofline.Launch {
	all, parts := float64(n*size), (valid+4095)/4096
	from := roofline.Stream("from_uint16", (n*size+255)/256, 256, roofline.Array{ID: workRaw, Bytes: float64(width) * all}, roofline.Array{ID: workFrames, Bytes: 4 * all, Write: true})
	from.Work.Float32, from.Work.Integers, from.Work.Accesses = all, 8*all, 2*all
	if valid == 0 {
		return []roofline.Launch{from}
	}
	counted, blocks := float64(n*valid), float64(n*parts)
	sums := roofline.Stream("valid_sums", n*parts, 256, roofline.Array{ID: workFrames, Bytes: 4 * counted}, roofline.Array{ID: workValid, Bytes: 4 * float64(valid)}, roofline.Array{ID: workPartial, Bytes: 8 * blocks, Write: true})
	sums.Work.Sectors = 8*counted/32 + blocks // frames share the places of pixels, which each reads
	sums.Work.Float64, sums.Work.Integers, sums.Work.Accesses = 2*counted, 8*counted, 2*counted+20*256*blocks
	sums.Work.Trips, sums.Work.Serial, sums.Shared = 4, 9*70, 8*256
	means := roofline.Stream("means", n, 256, roofline.Array{ID: workPartial, Bytes: 8 * blocks}, roofline.Array{ID: workTotals, Bytes: 16 * float64(n), Write: true})
	means.Work.Sectors = blocks/4 + 2*float64(n)
	means.Work.Trips, means.Work.Serial, means.Shared = 1+float64(parts/256), 9*70+200, 8*256
	means.Work.Float64, means.Work.Accesses = blocks+256*float64(n), blocks+20*256*float64(n)
	return []roofline.Launch{from, sums, means}
}

// imageWork declares the sums of all pixels over n frames.
func imageWork(n, size int) roofline.Launch {
	all := float64(n * size)
	l := roofline.Stream("add_image", (size+255)/256, 256, roofline.Array{ID: workFrames, Bytes: 4 * all}, roofline.Array{ID: workImage, Bytes: 8 * float64(size)}, roofline.Array{ID: workImage, Bytes: 8 * float64(size), Write: true})
	l.Work.Float64, l.Work.Integers, l.Work.Accesses = 2*all, 2*all, all+2*float64(size)
	l.Work.Trips = float64(n)/4 + 1 // the compiler loads four numbers at once
	return l
}

// levelWork declares a level of the sums: n frames of pixels in bins, which for the first level come from frames; next says that
// frames are summed for the next level.
func levelWork(level, n, pixels, width, per int, next bool) roofline.Launch {
	p, r, lags := float64(pixels), float64(n), len(lagsAt(level, per))
	sums, w, id := 8*float64(lags)*p, float64(width), workLevels+4*level
	past := 2 * float64(per) * w * p
	l := roofline.Stream("next_level", (pixels+127)/128, 128, roofline.Array{ID: id, Bytes: past}, roofline.Array{ID: id, Bytes: past, Write: true},
		roofline.Array{ID: id + 1, Bytes: sums}, roofline.Array{ID: id + 1, Bytes: sums, Write: true}, roofline.Array{ID: id + 2, Bytes: w * p, Write: true})
	use := func(id int, bytes float64, write bool) {
		l.Work.Use(id, bytes, write)
		l.Work.Sectors += bytes / 32
	}
	if level == 0 {
		l.Kernel = "first_level"
		use(workIndex, 4*p, false)
		use(workFrames, 4*p*r, false)
		use(workTotals, 16*p, false)
		use(workTotals, 16*p, true)
	} else {
		use(id-1, w*p*r, false)
	}
	if next {
		use(id+3, w*p*float64(n/2), true)
	}
	// A product takes an addition and the conversion of the earlier frame, which rounding to R does not allow to keep.
	products, conversions := float64(lags), float64(lags+3)
	if width == 8 {
		conversions = 0
	}
	l.Work.Float64 = p * r * (products + conversions)
	l.Work.Integers, l.Work.Accesses = p*r*float64(2*per+12), p*(r*2+float64(4*per+2*lags+6))
	l.Work.Trips, l.Work.Serial = r+1, 16*r
	l.Registers = 4*per + 2*lags*2/2 + 40
	return l
}

// multitauWork declares the launches of a block of n frames in the middle of a movie. Levels that do not get a frame of every block get, in all, one from
// one block: each of them half as often as the one before.
func multitauWork(n, size, pixels, levels, width int, s Settings) []roofline.Launch {
	list := frameWork(n, size, size, width)
	for l := range levels {
		some := n >> l
		if some == 0 {
			some = 1
		}
		list = append(list, levelWork(l, some, pixels, s.Precision/8, s.PerLevel, l+1 < levels))
		if n>>l == 0 {
			break
		}
	}
	return append(list, imageWork(n, size))
}

// keptWork declares the launches that keep the pixels of bins of n frames for two-time correlations.
func keptWork(n, size, pixels, groups, bins, width int) []roofline.Launch {
	f, kept := float64(n), float64(n*pixels)
	list := frameWork(n, size, size, width)
	means := roofline.Stream("group_means", (groups+7)/8*n, 256, roofline.Array{ID: workFrames, Bytes: 4 * kept}, roofline.Array{ID: workGroups, Bytes: 4 * float64(pixels)},
		roofline.Array{ID: workTotals, Bytes: 8 * f * float64(groups), Write: true})
	means.Work.Sectors = 8*kept/32 + 3*f*float64(groups)
	means.Work.Float64, means.Work.Integers, means.Work.Accesses = 2*kept, 8*kept, 2*kept
	means.Work.Trips, means.Work.Serial = 2*float64(pixels/max(1, groups)/32+1), 5*70
	of := roofline.Stream("bin_means", (bins+31)/32*n, 32, roofline.Array{ID: workTotals, Bytes: 8 * f * float64(groups)}, roofline.Array{ID: workTotals + 1000, Bytes: 16 * f * float64(bins), Write: true})
	of.Work.Trips = 2 * float64(groups/max(1, bins))
	keep := roofline.Stream("keep", (pixels+255)/256*n, 256, roofline.Array{ID: workFrames, Bytes: 4 * kept}, roofline.Array{ID: workGroups, Bytes: 4 * float64(pixels)}, roofline.Array{ID: workKept, Bytes: 4 * kept, Write: true})
	keep.Work.Sectors = 12 * kept / 32
	keep.Work.Integers, keep.Work.Accesses, keep.Work.Trips = 12*kept, 3*kept, 2
	return append(list, means, of, keep, imageWork(n, size))
}

// mapWork declares the launches that make a two-time map of float32 of a bin of pixels with our own products.
func mapWork(n, pixels int) (list []roofline.Launch) {
	row := min(deviceDepth, (pixels+15)/16*16)
	tiles := (n + 63) / 64
	f, blocks := float64(n), tiles*(tiles+1)/2
	for from := 0; from < pixels; from += row {
		some := float64(min(row, pixels-from)) * f
		divide := roofline.Stream("divide", n, 256, roofline.Array{ID: workKept, Bytes: 4 * some}, roofline.Array{ID: workDivided, Bytes: 4 * f * float64(row), Write: true})
		divide.Work.Sectors += some / 8
		divide.Work.Float64, divide.Work.Accesses, divide.Work.Integers = 12*some, 4*some, 6*some
		divide.Work.Trips, divide.Work.Serial = 2*float64(row/256+1), 10*70
		p := roofline.Launch{Kernel: "products", Grid: blocks, Block: 256, Shared: 2 * 16 * 65 * 4, Registers: 96}
		w, strips := &p.Work, float64(row/16)
		loads, threads := 2*64*16*strips*float64(blocks), 256*float64(blocks)
		w.Use(workDivided, 4*f*float64(row), false)
		w.Use(workMap, 4*f*(f+1), false)
		w.Use(workMap, 4*f*(f+1), true)
		w.Sectors = loads/8 + 2*8*64*64*float64(blocks)/32
		w.Float32 = threads * strips * 16 * 16
		w.Float64, w.Integers = threads*strips*32, threads*strips*60
		w.Accesses = threads * strips * (16*8 + 16)
		w.Trips, w.Serial = strips+1, strips*(2*barrier+16*30)
		list = append(list, divide, p)
	}
	finish := roofline.Stream("finish", (n+255)/256*n, 256, roofline.Array{ID: workMap, Bytes: 4 * f * (f + 1)}, roofline.Array{ID: workMap, Bytes: 8 * f * f, Write: true})
	finish.Work.Sectors = f*f/4 + f*f/2 // the mirrored half is written by single sectors
	finish.Work.Float64, finish.Work.Accesses, finish.Work.Integers = 6*f*f, 2*f*f, 8*f*f
	return append(list, finish)
}

// barrier are the cycles of a barrier of a block, as of generated kernels.
const barrier = 30

func init() {
	const side, frames, block = 1024, 4000, blockFrames
	per := Settings{}.defaults()
	roofline.Register(
		roofline.Figure{Name: "multi-tau correlation, 4000 frames of 1 Mpx in 16 bits, per frame", Measured: 134e-6, Bus: 2 * side * side, Share: 1.0 / block,
			Do: func() ([]roofline.Launch, error) {
				delays := Delays(frames, per.PerLevel)
				return multitauWork(block, side*side, side*side, delays[len(delays)-1].Level+1, 2, per), nil
			},
			Note: "By the model 0.3 s of the run of 4000 frames are neither kernels nor the bus. The measured time is that from the start and includes page-locking of 256 MB, lists of the pixels of 360 bins and arrays of the sums, none of which has been timed."},
		roofline.Figure{Name: "two-time correlation, 2000 frames of 1 Mpx, per frame", Measured: 128e-6, Bus: 2 * side * side, Share: 1.0 / block,
			Do: func() ([]roofline.Launch, error) {
				return keptWork(block, side*side, 2*side*side/36, 20, 2, 2), nil
			},
			Note: "As of multi-tau; here 0.17 s of the run of 2000 frames are neither kernels nor the bus."},
	)
}
