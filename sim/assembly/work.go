// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import "github.com/euryale-dev/euryale/internal/roofline"

// stepSize is what the work of a step of an area with one stimulus and recurrent connections depends on.
type stepSize struct {
	brains, neurons, winners int
	slots                    int // neurons that have won at least once, for which weights are stored
	weight                   int // bytes of a weight
}

// stepWork declares the launches of a step in which winners hardly change, so that no rows are drawn.
func stepWork(s stepSize) []roofline.Launch {
	const (
		x = iota + 1
		counts
		weights
		keys
		hist
		tallies
		results
	)
	b, n, k := float64(s.brains), float64(s.brains*s.neurons), float64(s.brains*s.winners)
	launch := func(kernel string, blocks, block int, arrays ...roofline.Array) roofline.Launch {
		return roofline.Stream(kernel, blocks*s.brains, block, arrays...)
	}
	in := roofline.Array{ID: x, Bytes: 8 * n}
	gather := launch("gather", blocksFor(s.neurons, threads), threads, roofline.Array{ID: counts, Bytes: 16 * n}, roofline.Array{ID: x, Bytes: 8 * n, Write: true})
	gather.Work.Sectors += 4 * n / 32 // the counts of a stimulus are read twice
	gather.Work.Float64, gather.Work.Integers, gather.Work.Accesses, gather.Work.Trips = 7*n, 60*n, 20*n, 6
	pairs := float64(s.slots) * k
	correct := launch("correct", blocksFor(s.slots, 32), 256, roofline.Array{ID: weights, Bytes: float64(s.weight) * pairs}, roofline.Array{ID: x, Bytes: 16 * float64(s.slots) * b})
	correct.Work.Float64, correct.Work.Integers, correct.Work.Accesses = 4*pairs, 8*pairs, 2*pairs
	correct.Work.Trips, correct.Work.Serial, correct.Shared = 2*float64(s.winners)/8/4+3, 300, 2048
	list := []roofline.Launch{gather, correct}
	one := func(kernel string, bytes float64, trips, serial float64) roofline.Launch {
		l := launch(kernel, 1, threads, roofline.Array{ID: keys, Bytes: bytes * b}, roofline.Array{ID: keys + 1, Bytes: bytes * b, Write: true})
		l.Work.Integers, l.Work.Accesses, l.Work.Trips, l.Work.Serial = 200*256*b, 40*256*b, trips, serial
		return l
	}
	scan := func(kernel string, each int) roofline.Launch {
		l := launch(kernel, blocksFor(s.neurons, each), threads, in)
		l.Work.Float64, l.Work.Integers, l.Work.Accesses = 2*n, 25*n, 2*n
		l.Work.Trips, l.Work.Serial = 9, 600
		return l
	}
	for range 4 { // 11 bits each
		c := scan("count", 8*threads)
		c.Shared = histBytes
		c.Work.Conflicts = n // inputs of most neurons are nearly the same, and fall into one counter
		c.Work.Use(hist, histBytes*b, true)
		list = append(list, c, one("find", histBytes, 3, 8*2*70+400))
	}
	list = append(list, scan("tally", tile), one("offsets", 8*float64(tilesOf(s.neurons)), 2, 8*2*70))
	collect := scan("collect", tile)
	collect.Work.Conflicts = n / 32 * 15 // a thread reads eight numbers that follow each other
	collect.Work.Sectors = 2 * n         // so that a warp asks for a sector with each thread; half of them come twice
	collect.Work.Use(results, 12*k, true)
	learn := roofline.Launch{Kernel: "learn", Grid: (s.winners + 31) / 32 * max(1, min((s.winners+7)/8, 1<<12)) * 2 * s.brains, Block: 256}
	grown := k * float64(s.winners)
	learn.Work.Use(weights, float64(s.weight)*grown, false)
	learn.Work.Use(weights, float64(s.weight)*grown, true)
	learn.Work.Sectors = 2 * grown * min(1, float64(s.weight)/32*float64(max(s.slots, s.winners))/float64(s.winners))
	learn.Work.Float64, learn.Work.Integers, learn.Work.Accesses = 6*grown, 30*grown, 4*grown
	learn.Work.Conflicts, learn.Work.Trips = grown/32*16, 5
	return append(list, collect, learn)
}

func init() {
	figure := func(name string, measured float64, s stepSize, note string) roofline.Figure {
		return roofline.Figure{Name: name, Measured: measured, Calls: 17, Waits: 1, Note: note, // 14 kernels and three copies of tables and results
			Do: func() ([]roofline.Launch, error) { return stepWork(s), nil }}
	}
	// Slots are those of assemblies that were formed in twelve steps.
	roofline.Register(
		figure("a step of a million neurons, k = 1000", 350e-6, stepSize{1, 1e6, 1000, 3844, 8}, "Choosing winners and preparing what they learn on the processor, between two waits, is not modelled."),
		figure("a step of 256 brains of ten thousand neurons", 2.5e-3, stepSize{256, 1e4, 100, 234, 8}, "Winners are chosen and learning is prepared on the processor for 256 brains, which is not modelled."))
}
