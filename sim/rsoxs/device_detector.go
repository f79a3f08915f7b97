// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

// batch is some views of one beam, one for each of energies from to to-1, on one GPU.
type batch struct {
	beam, from, to int
}

// batches returns the views that GPU i of n simulates: those of neighbouring energies and beams.
func (s *Simulator) viewBatches(p *device, i, n, energies int) (list []batch) {
	views := energies * len(s.beams)
	for at, end := views*i/n, views*(i+1)/n; at < end; {
		j, e := at/energies, at%energies
		to := min(e+p.views, energies, e+end-at)
		list = append(list, batch{j, e, to})
		at += to - e
	}
	return list
}

// detected is the memory of a batch on a GPU.
type detected struct {
	*device
	batch
	s          *Simulator
	average    *average
	turnsOn    *cuda.Buffer
	own        bool
	views      *cuda.Buffer
	images     *cuda.Buffer
	sum, count *cuda.Buffer
	n          int // views
	lanes      int // views that lie side by side
	pixels     int
}

// detect sends the views of a batch and takes memory for it.
func (p *device) detect(s *Simulator, b batch, o, changes Optics) (*detected, error) {
	a := s.averages[b.beam]
	d := &detected{device: p, batch: b, s: s, average: a, turnsOn: p.tables.turns[b.beam], n: b.to - b.from, pixels: s.shape[1] * s.shape[2],
		own: s.cfg.Frame == MaterialFrame || len(a.turns) < 3, lanes: 1}
	if d.n >= fewLanes && !a.plain {
		d.lanes = sideBySide
	}
	var numbers []float64
	for e := b.from; e < b.to; e++ {
		var at, along []contrast
		for m, c := range o[e] {
			at = append(at, c.contrast())
			if changes != nil {
				along = append(along, c.tangent(changes[e][m]))
			}
		}
		v := newView(s.layout.lattice, s.beams[b.beam], s.cfg.Energies[e], s.cfg.Interpolation)
		numbers = viewNumbers(numbers, v, at, along)
	}
	each := 3
	if d.own {
		each = min(p.turns, len(a.turns))
	}
	for _, r := range []struct {
		to      **cuda.Buffer
		purpose string
		bytes   int
	}{{&d.views, "views", 8 * len(numbers)}, {&d.images, "images", 8 * d.groups() * d.lanes * each * d.pixels}, {&d.sum, "means", 8 * d.n * d.pixels}, {&d.count, "counts", 8 * d.n * d.pixels}} {
		var err error
		if *r.to, err = p.reserve(r.purpose, r.bytes); err != nil {
			return nil, err
		}
	}
	return d, p.s.CopyIn(background, d.views, 0, numbers)
}

// turnBlocks calls f for turns that have images at the same time: all of them unless each has its own.
func (d *detected) turnBlocks(f func(turns cuda.Part, count int) error) error {
	all, step := len(d.average.turns), len(d.average.turns)
	if d.own {
		step = min(d.plan.turns, all)
	}
	for t := 0; t < all; t += step {
		if err := f(d.turnsOn.At(8*turnSize*t), min(step, all-t)); err != nil {
			return err
		}
	}
	return nil
}

// imagesOf returns the number of images of a view for some turns.
func (d *detected) imagesOf(turns int) int {
	if d.own {
		return turns
	}
	return 3
}

func (d *detected) grid() []byte { return []byte(d.tables.grid) }

// sideBySide is the number of views that lie side by side, if there are as many.
const sideBySide = 4

func (d *detected) groups() int { return (d.n + d.lanes - 1) / d.lanes }

// turning runs a kernel with threads for the tiles of an image, and rows for the groups of views.
func (d *detected) turning(kernel string, args ...any) error {
	ny, nx := d.s.shape[1], d.s.shape[2]
	return d.launch(d.detector, fmt.Sprintf("%s_%d", kernel, d.lanes), (ny+7)/8*((nx+15)/16)*128, d.groups(), args...)
}

// rule has the arguments about how many angles a pixel needs.
func (d *detected) rule() []any {
	return []any{float64(d.average.angles), int32(oneIf(d.average.masked)), int64(d.n * d.pixels)}
}

// mean computes the patterns of the batch, or their derivatives along changes, and returns where they are.
func (d *detected) mean(changes *cuda.Buffer) (*cuda.Buffer, error) {
	ny, nx := int32(d.s.shape[1]), int32(d.s.shape[2])
	bytes := 8 * d.n * d.pixels
	if err := d.device.s.Fill(d.sum, 0, bytes, 0); err != nil {
		return nil, err
	}
	if err := d.device.s.Fill(d.count, 0, bytes, 0); err != nil {
		return nil, err
	}
	err := d.turnBlocks(func(turns cuda.Part, count int) error {
		if err := d.launch(d.detector, "expose", d.pixels, d.n, d.grid(), d.sums, optional(changes), d.views, turns, d.images,
			int32(d.lanes), int32(d.imagesOf(count)), int32(oneIf(d.own)), int32(oneIf(d.s.cfg.Frame == MaterialFrame))); err != nil {
			return err
		}
		if d.average.plain {
			return d.launch(d.detector, "unmoved", d.n*d.pixels, 1, d.images, nil, float64(1), int64(d.n*d.pixels), d.sum, d.count)
		}
		return d.turning("rotate", d.images, nil, turns, int32(count), int32(oneIf(d.own)), ny, nx, int32(d.n), d.sum, d.count)
	})
	if err != nil {
		return nil, err
	}
	if err := d.launch(d.detector, "finish", d.n*d.pixels, 1, append([]any{d.sum, d.count}, d.rule()...)...); err != nil {
		return nil, err
	}
	if d.average.tilt == nil {
		return d.sum, nil
	}
	to, err := d.reserve("tilted", bytes)
	if err != nil {
		return nil, err
	}
	m := d.average.tilt.m
	return to, d.launch(d.detector, "tilt", d.pixels, d.n, d.sum, to, m[0][0], m[0][1], m[1][0], m[1][1], int32(oneIf(d.average.masked)), ny, nx)
}

// meanBack takes the derivatives g by the patterns of the batch to the sums over slices, and adds those by
// the contrasts to contrasts.
func (d *detected) meanBack(g, contrasts *cuda.Buffer) error {
	valid, err := d.reach()
	if err != nil {
		return err
	}
	if g, err = d.untilted(g); err != nil {
		return err
	}
	side, err := d.reserve("derivatives side by side", 8*d.groups()*d.lanes*d.pixels)
	if err != nil {
		return err
	}
	if err := d.launch(d.detector, "finish_back", d.n*d.pixels, 1, append(append([]any{g, d.count}, d.rule()...), int32(d.pixels), int32(d.lanes), side)...); err != nil {
		return err
	}
	blocks := (d.tables.size + 127) / 128 // THREADS of cu/reflect.cu
	numbers := d.n * 6 * len(d.s.devices.forms)
	partial, err := d.reserve("partial sums", 8*numbers*blocks)
	if err != nil {
		return err
	}
	return d.turnBlocks(func(turns cuda.Part, count int) error {
		images := d.images
		if d.average.plain {
			images = side
		} else if err := d.turning("unrotate", side, valid, turns, int32(count), int32(oneIf(d.own)), int32(d.s.shape[1]), int32(d.s.shape[2]),
			int32(d.average.rows), int32(d.average.cols), images); err != nil {
			return err
		}
		if err := d.launch(d.reflect, "reflect", d.tables.size, 1, d.grid(), d.sums, d.grads, d.views, int32(d.n), turns, int32(count), int32(oneIf(d.own)),
			int32(oneIf(d.s.cfg.Frame == MaterialFrame)), images, int32(d.lanes), partial); err != nil {
			return err
		}
		return d.launch(d.reflect, "total", 128*numbers, 1, partial, contrasts, int32(blocks))
	})
}

// reach counts how many angles reach each pixel, and returns the pixels of the images that see something.
func (d *detected) reach() (valid *cuda.Buffer, err error) {
	if valid, err = d.reserve("seen pixels", d.groups()*d.lanes*d.pixels); err != nil {
		return nil, err
	}
	if err := d.launch(d.detector, "seen", d.pixels, d.n, d.grid(), d.views, valid, int32(d.lanes)); err != nil {
		return nil, err
	}
	if err := d.device.s.Fill(d.count, 0, 8*d.n*d.pixels, 0); err != nil {
		return nil, err
	}
	if d.average.plain {
		return valid, d.launch(d.detector, "unmoved", d.n*d.pixels, 1, nil, valid, float64(1), int64(d.n*d.pixels), nil, d.count)
	}
	return valid, d.turning("rotate", nil, valid, d.turnsOn, int32(len(d.average.turns)), int32(oneIf(d.own)), int32(d.s.shape[1]), int32(d.s.shape[2]), int32(d.n), nil, d.count)
}

// untilted takes derivatives by images on the plane of the detector to those by the means across the beam.
func (d *detected) untilted(g *cuda.Buffer) (*cuda.Buffer, error) {
	if d.average.tilt == nil {
		return g, nil
	}
	to, err := d.reserve("tilted", 8*d.n*d.pixels)
	if err != nil {
		return nil, err
	}
	m := d.average.tilt.m
	i := inverse(m)
	return to, d.launch(d.detector, "untilt", d.pixels, d.n, g, to, d.count, float64(d.average.angles), int32(oneIf(d.average.masked)),
		m[0][0], m[0][1], m[1][0], m[1][1], i[0][0], i[0][1], i[1][0], i[1][1], int32(d.s.shape[1]), int32(d.s.shape[2]))
}

// inverse returns the inverse of a map.
func inverse(m [2][2]float64) [2][2]float64 {
	d := m[0][0]*m[1][1] - m[0][1]*m[1][0]
	return [2][2]float64{{m[1][1] / d, -m[0][1] / d}, {-m[1][0] / d, m[0][0] / d}}
}

// viewed is where the numbers of one view of a batch go or come from: element at of those of all views.
func (d *detected) viewed(k int) (at int) { return ((d.from+k)*len(d.s.beams) + d.beam) * d.pixels }

// runs calls f for views of the batch whose numbers follow each other in those of all views.
func (d *detected) runs(f func(k, count, at int) error) error {
	if len(d.s.beams) == 1 {
		return f(0, d.n, d.viewed(0))
	}
	for k := range d.n {
		if err := f(k, 1, d.viewed(k)); err != nil {
			return err
		}
	}
	return nil
}

// put moves the patterns of a batch, or derivatives by them, between memory of the device and where they
// belong.
type put func(d *detected, at *cuda.Buffer) error

// toHost puts patterns into the host's memory.
func toHost(ctx context.Context, all []float64) put {
	return func(d *detected, from *cuda.Buffer) error {
		return d.runs(func(k, count, at int) error {
			return d.device.s.CopyOut(ctx, all[at:at+count*d.pixels], from, 8*k*d.pixels)
		})
	}
}

// fromHost brings derivatives by patterns from the host's memory.
func fromHost(ctx context.Context, all []float64) put {
	return func(d *detected, to *cuda.Buffer) error {
		return d.runs(func(k, count, at int) error {
			return d.device.s.CopyIn(ctx, to, 8*k*d.pixels, all[at:at+count*d.pixels])
		})
	}
}

// patterns computes the patterns of all views, or their derivatives along changes of the fields, in p.grads,
// and of the constants.
func (g *devices) patterns(ctx context.Context, s *Simulator, o, changes Optics, to put) error {
	return g.eachBatch(ctx, s, len(o), func(p *device, b batch) error {
		d, err := p.detect(s, b, o, changes)
		if err != nil {
			return err
		}
		var along *cuda.Buffer
		if changes != nil {
			along = p.grads
		}
		at, err := d.mean(along)
		if err != nil {
			return err
		}
		return to(d, at)
	})
}

func (g *devices) eachBatch(ctx context.Context, s *Simulator, energies int, f func(p *device, b batch) error) error {
	index := map[*device]int{}
	for i, p := range g.parts {
		index[p] = i
	}
	return g.each(func(p *device) error {
		for _, b := range s.viewBatches(p, index[p], len(g.parts), energies) {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := f(p, b); err != nil {
				return err
			}
		}
		return nil
	})
}

// gradients computes the derivatives by the fields, which stay on the devices as those by the sums over slices,
// and adds those by the constants to out. get brings the derivatives by the patterns of a batch.
func (g *devices) gradients(ctx context.Context, s *Simulator, o, out Optics, get put) error {
	err := g.each(func(p *device) (err error) {
		if p.reflect == nil {
			if p.reflect, err = p.compile("reflect", g.forms.opticsProgram(s.cfg.Precision, reflectText)); err != nil {
				return err
			}
		}
		return p.emptyGrads()
	})
	if err != nil {
		return err
	}
	err = g.eachBatch(ctx, s, len(o), func(p *device, b batch) error {
		d, err := p.detect(s, b, o, nil)
		if err != nil {
			return err
		}
		by, err := p.reserve("derivatives", 8*d.n*d.pixels)
		if err != nil {
			return err
		}
		if err := get(d, by); err != nil {
			return err
		}
		numbers := make([]float64, d.n*6*len(g.forms))
		contrasts, err := p.reserve("contrasts", 8*len(numbers))
		if err != nil {
			return err
		}
		if err := p.s.Fill(contrasts, 0, 8*len(numbers), 0); err != nil {
			return err
		}
		if err := d.meanBack(by, contrasts); err != nil {
			return err
		}
		if err := p.s.CopyOut(ctx, numbers, contrasts, 0); err != nil {
			return err
		}
		s.addContrasts(out, o, b, numbers)
		return nil
	})
	if err != nil {
		return err
	}
	if err := g.combine(func(p *device) *cuda.Buffer { return p.grads }); err != nil {
		return err
	}
	return g.each(func(p *device) error { return p.centre(g.forms, "centre_back", p.grads) })
}

// emptyGrads sets the derivatives by the sums to 0.
func (p *device) emptyGrads() (err error) {
	if p.grads == nil {
		if p.grads, err = p.d.AllocTagged(max(8, p.sumBytes), "scattering sums"); err != nil {
			return err
		}
	}
	return p.s.Fill(p.grads, 0, p.sumBytes, 0)
}

// addContrasts adds the derivatives by the contrasts of a batch to those by the constants.
func (s *Simulator) addContrasts(out, o Optics, b batch, numbers []float64) {
	materials := len(o[0])
	s.devices.adding.Lock() // several beams of an energy may be on different GPUs
	defer s.devices.adding.Unlock()
	for e := b.from; e < b.to; e++ {
		back := make([]contrast, materials)
		for m := range back {
			v := numbers[6*((e-b.from)*materials+m):]
			back[m] = contrast{iso: complex(v[0], v[1]), axial: complex(v[2], v[3]), tensor: complex(v[4], v[5])}
		}
		addBack(out[e], o[e], back)
	}
}

// sources lists the arrays of a morphology and their forms.
func (m *Morphology) sources() (f forms, list []source) {
	n := m.Shape()
	voxels := n[0] * n[1] * n[2]
	for i := range m.Materials {
		f = append(f, formOf(&m.Materials[i]))
		for _, a := range m.Materials[i].fields() {
			list = append(list, sourceOf(*a.at, voxels))
		}
	}
	return f, list
}

// targets lists where derivatives go.
func targets(list []Material, voxels int) (to []target) {
	for i := range list {
		for _, a := range list[i].fields() {
			t := *a.at
			to = append(to, target{host: t.Data(), per: t.Size() / voxels, size: bytesOf(t.DType())})
		}
	}
	return to
}

// tangent makes the changes of the sums over slices along changes of the arrays.
func (g *devices) tangent(ctx context.Context, s *Simulator, list []source, types []tensor.DType) error {
	f := slices.Clone(g.forms)
	at := 0
	for i := range f {
		n := len(f[i].types)
		f[i].change = types[at : at+n]
		at += n
	}
	err := g.each(func(p *device) error {
		m, err := p.compile("changes", f.fieldsProgram(s.cfg.Precision))
		if err != nil {
			return err
		}
		if err := p.emptyGrads(); err != nil {
			return err
		}
		var changes []*deviceArray
		for _, a := range list {
			c := &deviceArray{source: a}
			defer c.free()
			changes = append(changes, c)
		}
		return p.sumSlices(ctx, s, f, m, p.arrays, changes, p.grads)
	})
	if err == nil {
		err = g.combine(func(p *device) *cuda.Buffer { return p.grads })
	}
	if err == nil {
		err = g.each(func(p *device) error { return p.centre(g.forms, "centre", p.grads) })
	}
	return err
}
