// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"fmt"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/roofline"
)

// pairWork are the float64 instructions of a pair in the gradient and the registers of its threads, as images for sm_90 have them
// (ptxas 12.9).
var pairWork = map[Model]struct {
	instructions float64
	registers    int
}{Laminar: {47, 204}, TwoComponent: {61, 238}}

// places lists angle, first row and first column of the blocks of pairs of some angles, and where those of each angle begin.
func places(frames, angles, band, columns int) (blocks, first []int32) {
	first = []int32{0}
	for angle := range angles {
		for i := 0; i < frames; i += blockRows {
			for j := i + 1 + band; j < frames; j += columns * blockThreads {
				blocks = append(blocks, int32(angle), int32(i), int32(j), 0)
			}
		}
		first = append(first, int32(len(blocks)/4))
	}
	return blocks, first
}

// gradientWork lists the launches of a gradient. trips is how many loads a thread waits for in each row, one
// after another.
func (s *Setup) gradientWork(m Measured, trips float64) ([]roofline.Launch, error) {
	theta, err := s.Inputs()
	if err != nil {
		return nil, err
	}
	list, err := ad.Launches(s.deviceNodes(theta), ad.Settings{Inputs: theta, Backend: ad.CUDA{}})
	if err != nil {
		return nil, err
	}
	text, frames, angles := s.pairText(), len(s.Times), len(s.Angles)
	blocks, _ := places(frames, angles, m.Band, text.columns)
	known := pairWork[s.Model]
	g := roofline.Launch{Kernel: "gradient", Grid: len(blocks) / 4, Block: blockThreads, Registers: known.registers}
	w := &g.Work
	if known.instructions == 0 || s.Customary {
		w.Unknown = fmt.Sprintf("instructions of pairs of %v", s.Model)
	}
	pairs := float64(angles * frames * (frames - 1) / 2)
	bytes := pairs * float64(m.Bits/8)
	if m.Weighted {
		bytes *= 2
	}
	sums := float64(text.firstSums())
	const pair, sum = 1 << 20, 1<<20 + 1 // arrays that are not the program's
	w.Use(pair, bytes, false)
	w.Use(sum, 8*sums*float64(g.Grid), true)
	w.Sectors = bytes/32 + pairs/32 + 8*sums*float64(g.Grid)/32 // rows begin within sectors
	each := float64(blockRows * text.columns * blockThreads * g.Grid)
	w.Float64, w.Integers, w.Accesses = known.instructions*each, 12*each, each*4
	w.Trips, w.Serial = blockRows*trips, blockRows*160 // a chain of some 20 float64 instructions of 8 cycles
	c := roofline.Launch{Kernel: "collect", Grid: angles, Block: 256}
	c.Work.Use(sum, 8*sums*float64(g.Grid), false)
	c.Work.Use(sum+1, 8*sums*float64(angles), true)
	c.Work.Sectors = c.Work.Bytes() / 32
	c.Work.Float64, c.Work.Integers, c.Work.Accesses = sums*float64(g.Grid), 4*sums*float64(g.Grid), sums*float64(g.Grid)
	c.Work.Trips = float64(g.Grid/angles)/8/4 + 1
	return append(list, g, c), nil
}

// shearOf is a shear flow of some angles and frames, as it is measured.
func shearOf(angles, frames int) *Setup {
	s := &Setup{Model: Laminar, Q: 0.0054, Gap: 2e6, Times: make([]float64, frames), Angles: make([]float64, angles)}
	for i := range s.Times {
		s.Times[i] = 0.1 * (float64(i) + 0.5)
	}
	return s
}

func init() {
	do := func() ([]roofline.Launch, error) {
		return shearOf(23, 1000).gradientWork(Measured{Bits: 64}, 0)
	}
	then := func() ([]roofline.Launch, error) { // waited for each load of a row
		s := shearOf(23, 1000)
		return s.gradientWork(Measured{Bits: 64}, float64(s.pairText().columns))
	}
	roofline.Register(
		roofline.Figure{Name: "two-time posterior, 23 x 1000^2, four chains, 209,780 gradients", Measured: 48, Do: do, Then: then, Share: 209_780, Calls: 2 * 209_780,
			Note: "Trees and adaptation on the processor, and chains that wait for the longest tree, are not modelled."},
		roofline.Figure{Name: "two-time gradient, 23 x 1000^2: one chain", Measured: 343e-6, Do: do, Then: then, Calls: 2, Waits: 1,
			Note: "Sending parameters, fetching sums and waking the chain are not modelled but for one wait; with four chains they overlap with kernels."},
		roofline.Figure{Name: "two-time gradient, 23 x 1000^2: four chains, for each", Measured: 169e-6, Do: do, Then: then, Calls: 2})
}
