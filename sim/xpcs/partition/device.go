// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package partition

import (
	"context"
	_ "embed"
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

//go:embed cu/partition.cu
var kernelText string

// plane divides the pixels of a detector on a GPU.
type plane struct {
	cuda.Launcher
	cuda.Buffers
	ctx    context.Context
	pixels int
	axes   [2]Axis
	x      [2]*cuda.Buffer // values after offset and folding
	mask   *cuda.Buffer
}

// newOnDevice is New on the GPU that the backend names; ok is false if that is the processor. p has the mask without pixels that are not numbers.
func newOnDevice(ctx context.Context, p *Partition, axes [2]Axis, s Settings) (ok bool, err error) {
	pixels := len(p.Mask)
	cells := max(s.Dynamic[0]*s.Dynamic[1], s.Static[0]*s.Static[1])
	bytes := 2*8*pixels + pixels + 3*4*pixels + 4*cells + 8*(max(s.Static[0], s.Static[1])+1) + 1<<20
	d, err := ad.DeviceFor(s.Backend, ad.Need{Name: "a partition", Work: 2 * 8 * pixels, Least: bytes})
	if err != nil || d == nil {
		return false, err
	}
	v := &plane{Launcher: cuda.Launcher{Stream: d.Default()}, Buffers: cuda.Buffers{Device: d}, ctx: ctx, pixels: pixels, axes: axes}
	defer v.Free()
	if v.Module, err = d.Compile(rtc.Source{Name: "partition.cu", Text: kernelText}); err != nil {
		return true, err
	}
	v.mask = v.put(p.Mask)
	for k, a := range axes {
		v.x[k] = v.put(a.Values)
		if a.Name == "phi" && (a.Offset != 0 || a.Fold > 1) {
			folds := int32(0)
			if a.folds() {
				folds = 1
			}
			v.run("turn", cuda.Blocks(pixels, 256), v.x[k], int64(pixels), a.Offset, folds, a.sector())
		}
	}
	if p.Dynamic, err = v.cells(p.Mask, s.Dynamic); err != nil {
		return true, err
	}
	p.Static, err = v.cells(p.Mask, s.Static)
	return true, err
}

// take allocates.
func (v *plane) take(bytes int) *cuda.Buffer {
	b, err := v.Take(bytes, "a partition")
	v.Fail(err)
	return b
}

// put allocates and fills a buffer.
func (v *plane) put(data any) *cuda.Buffer {
	b, err := v.Put(v.ctx, v.Stream, data, "a partition")
	v.Fail(err)
	return b
}

// get fetches from a buffer.
func (v *plane) get(to any, from *cuda.Buffer) {
	if !v.Failed() {
		v.Fail(v.Stream.CopyOut(v.ctx, to, from, 0))
	}
}

// run starts a kernel with 256 threads in a block.
func (v *plane) run(name string, grid cuda.Dim, args ...any) { v.Run(name, grid, 256, args...) }

// cells divides along both axes and crosses the divisions.
func (v *plane) cells(mask []bool, n [2]int) (*Cells, error) {
	var of [2]*cuda.Buffer
	c := &Cells{Of: make([]int32, v.pixels), N: n}
	for k := range of {
		var err error
		if of[k], c.Centers[k], err = v.divide(k, mask, n[k]); err != nil {
			return nil, err
		}
	}
	grid, count := cuda.Blocks(v.pixels, 256), int64(v.pixels)
	marks := make([]int32, n[0]*n[1])
	there := v.put(marks)
	v.run("mark", grid, of[0], of[1], count, int32(n[1]), there)
	v.get(marks, there)
	for k, some := range marks {
		if some != 0 {
			c.Cell = append(c.Cell, k)
			marks[k] = int32(len(c.Cell))
		}
	}
	if !v.Failed() {
		v.Fail(v.Stream.CopyIn(v.ctx, there, 0, marks))
	}
	v.run("number", grid, of[0], of[1], count, int32(n[1]), there, of[0])
	v.get(c.Of, of[0])
	for _, b := range []*cuda.Buffer{of[0], of[1], there} {
		if b != nil {
			b.Free()
		}
	}
	return c, v.Done()
}

// divide is Divide along an axis; the bins stay on the GPU.
func (v *plane) divide(axis int, mask []bool, n int) (of *cuda.Buffer, centers []float64, err error) {
	a, pixels := v.axes[axis], v.pixels
	if err := a.check(mask, n); err != nil {
		return nil, nil, err
	}
	log, blocks := int32(0), (pixels+4095)/4096
	if a.isLog() {
		log = 1
	}
	lows, highs, counts := make([]float64, blocks), make([]float64, blocks), make([]int32, blocks)
	l, h, s := v.take(8*blocks), v.take(8*blocks), v.take(4*blocks)
	v.run("bounds", cuda.Dim{X: blocks}, v.x[axis], v.mask, int64(pixels), log, l, h, s)
	v.get(lows, l)
	v.get(highs, h)
	v.get(counts, s)
	of = v.take(4 * pixels)
	if v.Failed() {
		return nil, nil, v.Done()
	}
	low, high, some := math.Inf(1), math.Inf(-1), false
	for k := range blocks {
		low, high, some = min(low, lows[k]), max(high, highs[k]), some || counts[k] > 0
	}
	if !some {
		return of, make([]float64, n), v.Stream.Fill(of, 0, 4*pixels, 0)
	}
	edges, centers, err := a.divided(low, high, n)
	if err != nil {
		return nil, nil, err
	}
	at := v.put(edges)
	v.run("divide", cuda.Blocks(pixels, 256), v.x[axis], v.mask, int64(pixels), at, int32(n), high, float64(n)/(edges[n]-edges[0]), of)
	if a.folds() {
		b := &Bins{Of: make([]int32, pixels), Centers: centers}
		v.get(b.Of, of)
		a.centerFolded(b)
	}
	return of, centers, v.Done()
}
