// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"errors"
	"fmt"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	device "github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// tunedProduct is the number of multiplications from which on a product is timed. Tests make it smaller.
var tunedProduct = 1 << 21

// tilings are the ways to cut a product that are timed; the others must give the results of the first.
var tilings = []tiling{middleTiling, largeTiling, smallTiling}

// tunable is a product that may be cut in several ways.
type tunable struct {
	job   int
	name  string
	shape []int // batches, rows, columns, terms
}

// tune times the products of a program and generates its kernels again with what was fastest. One for which the
// device has no memory is cut as without it.
func (c *Code) tune() error {
	tiles := map[int]tiling{}
	for _, x := range c.source.products {
		t := &tuning{d: c.d, p: c.p, o: c.options, x: x}
		best, err := t.best()
		switch {
		case errors.Is(err, errNarrow) || errors.Is(err, device.ErrOutOfMemory) || errors.Is(err, drv.OutOfMemory):
			continue
		case err != nil:
			return fmt.Errorf("autodiff: could not time a product of matrices on %v: %w", c.d, err)
		}
		tiles[x.job] = best
		c.tuned++
	}
	c.source = generate(c.p, c.options, tiles)
	return nil
}

// errNarrow says that a product reads or writes arrays of 16 bits, for which there are no random numbers.
var errNarrow = errors.New("the product uses 16-bit arrays")

// tuning is the timing of one product on arrays of its own.
type tuning struct {
	d          *device.Device
	p          *compiler.Program
	o          Settings
	x          tunable
	buffers    []*device.Buffer
	addresses  []uint64 // of arrays and tables, by their numbers
	part, fail *device.Buffer
}

// best returns the fastest way to cut the product.
func (t *tuning) best() (tiling, error) {
	defer func() {
		for _, b := range t.buffers {
			b.Free()
		}
	}()
	first := t.generator(tilings[0])
	v := t.p.Jobs[t.x.job].Step
	arrays, out, err := t.allocate(v, first)
	if err != nil {
		return tiling{}, err
	}
	job := device.Tuning{Family: t.x.name, Type: t.real(), Shape: t.x.shape, Inputs: arrays, Outputs: []device.TuneArray{out}}
	for _, way := range tilings {
		job.Variants = append(job.Variants, t.variant(way))
	}
	r, err := t.d.Tune(context.Background(), job)
	return tilings[r.Winner], err
}

func (t *tuning) real() device.Type {
	if t.o.Bits == 32 {
		return device.Float32
	}
	return device.Float64
}

// generator makes the kernels of the product alone, cut in some way.
func (t *tuning) generator(way tiling) *generator {
	g := newGenerator(t.p, t.o)
	g.narrow = narrow(t.p, t.o)
	g.tiles = map[int]tiling{t.x.job: way}
	return g
}

// variant compiles the product when it runs for the first time.
func (t *tuning) variant(way tiling) device.Variant {
	var kernels []kernel
	var table *device.Buffer
	return device.Variant{Name: fmt.Sprintf("%d x %d", way.size(), way.size()), Run: func(s *device.Stream) error {
		if kernels == nil {
			g := t.generator(way)
			list := g.step(t.x.job, t.p.Jobs[t.x.job].Step)
			text, addresses := g.all(t.o, [][]Launch{list})
			find, err := load(t.d, text)
			if err != nil {
				return err
			}
			var at []uint64
			for _, id := range addresses {
				at = append(at, t.addresses[id])
			}
			if table, err = t.alloc(8 * len(at)); err != nil {
				return err
			}
			if err := s.CopyIn(context.Background(), table, 0, at); err != nil {
				return err
			}
			for _, l := range list {
				f, err := find(l.Kernel)
				if err != nil {
					return err
				}
				kernels = append(kernels, kernel{f: f, grid: device.Dim{X: l.Grid}, block: device.Dim{X: l.Block}, table: l.table})
			}
		}
		for _, k := range kernels {
			if err := k.f.Launch(s, k.grid, k.block, 0, table.At(8*k.table), t.part, t.fail, int32(1)); err != nil {
				return err
			}
		}
		return nil
	}}
}

// allocate takes memory for the arrays that the product reads and writes, and for its tables.
func (t *tuning) allocate(v *compiler.Value, g *generator) (in []device.TuneArray, out device.TuneArray, err error) {
	g.step(t.x.job, v) // for its tables and the size of its scratch memory
	t.addresses = make([]uint64, len(t.p.Buffers)+len(g.tables))
	array := func(buf int) (device.TuneArray, error) {
		if g.narrow[buf] {
			return device.TuneArray{}, errNarrow
		}
		b, err := t.alloc(t.p.Size(buf) * t.o.Bits / 8)
		if err != nil {
			return device.TuneArray{}, err
		}
		t.addresses[buf] = uint64(b.Uintptr())
		return device.TuneArray{Part: b.At(0), Type: t.real(), Count: t.p.Size(buf)}, nil
	}
	for _, x := range v.In {
		if buf := x.Layout.Root.Place.Buf; t.addresses[buf] == 0 { // both factors may be one array
			a, err := array(buf)
			if err != nil {
				return nil, out, err
			}
			in = append(in, a)
		}
	}
	if out, err = array(v.Place.Buf); err != nil {
		return nil, out, err
	}
	var tables []int64
	for _, x := range g.tables {
		tables = append(tables, x...)
	}
	ints, err := t.alloc(8 * len(tables))
	if err != nil {
		return nil, out, err
	}
	at := uint64(ints.Uintptr())
	for i, x := range g.tables {
		t.addresses[len(t.p.Buffers)+i] = at
		at += uint64(8 * len(x))
	}
	for _, b := range []struct {
		to    **device.Buffer
		bytes int
	}{{&t.part, 8 * g.partials}, {&t.fail, 8}} {
		if *b.to, err = t.alloc(b.bytes); err != nil {
			return nil, out, err
		}
	}
	s, ctx := t.d.Default(), context.Background()
	return in, out, errors.Join(s.CopyIn(ctx, ints, 0, tables), s.CopyIn(ctx, t.fail, 0, []int32{0, 0}))
}

func (t *tuning) alloc(bytes int) (*device.Buffer, error) {
	b, err := t.d.Default().AllocTagged(max(8, bytes), "tuning")
	if err == nil {
		t.buffers = append(t.buffers, b)
	}
	return b, err
}
