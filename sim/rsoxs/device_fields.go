// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/tensor"
)

var background = context.Background()

// source is where an array of a morphology comes from: the host's memory, or that of the device.
type source struct {
	host any // slice of numbers; nil if the array is on the device, or stays as it is
	part cuda.Part
	per  int // numbers in a voxel
	size int // B of a number
}

// sourceOf returns an array in the host's memory.
func sourceOf(t *tensor.Tensor, voxels int) source {
	data := t.Compact().Data()
	if h, ok := data.([]tensor.Half); ok { // which the device knows as numbers of 16 bits
		data = unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(h))), len(h))
	}
	return source{host: data, per: t.Size() / voxels, size: bytesOf(t.DType())}
}

// section returns numbers lo to hi-1 of the host's array.
func section(host any, lo, hi int) any {
	switch v := host.(type) {
	case []float64:
		return v[lo:hi]
	case []float32:
		return v[lo:hi]
	}
	return host.([]uint16)[lo:hi]
}

// deviceArray is an array of the morphology, or of a change of it, on a GPU.
type deviceArray struct {
	source
	kept   *cuda.Buffer    // the slices of the GPU; nil if slabs are sent whenever they are needed
	loaded bool            // whether kept has them
	slabs  [2]*cuda.Buffer // while one is read the other is filled
}

func (a *deviceArray) free() {
	for _, b := range []*cuda.Buffer{a.kept, a.slabs[0], a.slabs[1]} {
		if b != nil {
			b.Free()
		}
	}
}

// transform computes the sums over all slices of the arrays in list.
func (g *devices) transform(ctx context.Context, s *Simulator, f forms, list []source) error {
	if err := g.load(s, f, list); err != nil {
		return err
	}
	err := g.each(func(p *device) error { return p.sumSlices(ctx, s, f, p.fields, p.arrays, nil, p.sums) })
	if err == nil {
		err = g.combine(func(p *device) *cuda.Buffer { return p.sums })
	}
	if err == nil {
		err = g.each(func(p *device) error { return p.centre(f, "centre", p.sums) })
	}
	return err
}

// load prepares for arrays of other forms, or takes over those of the same.
func (g *devices) load(s *Simulator, f forms, list []source) error {
	same := g.forms != nil && slices.EqualFunc(f, g.forms, func(a, b form) bool { return a.vector == b.vector && slices.Equal(a.types, b.types) })
	g.forms = nil
	for i, p := range g.parts {
		if !same {
			p.release()
			p.low, p.high = s.share(i, len(g.parts))
			if err := p.setUp(s, f, list); err != nil {
				p.release()
				return err
			}
		}
		for k, a := range p.arrays {
			a.source, a.loaded = list[k], false
		}
		if err := p.copies.Follow(p.s); err != nil {
			return err
		}
	}
	g.forms = f
	return nil
}

// share returns the slices of GPU i of n. The mean of all slices is made by the first.
func (s *Simulator) share(i, n int) (from, to int) {
	if s.layout.collapsed() {
		return 0, s.shape[0] * oneIf(i == 0)
	}
	return s.shape[0] * i / n, s.shape[0] * (i + 1) / n
}

// setUp compiles the kernels and takes the memory for materials of some forms.
func (p *device) setUp(s *Simulator, f forms, list []source) (err error) {
	bits := s.cfg.Precision
	if p.fields, err = p.compile("fields", f.fieldsProgram(bits)); err != nil {
		return err
	}
	if p.detector, err = p.compile("detector", f.opticsProgram(bits, detectorText)); err != nil {
		return err
	}
	if p.tables, err = p.prepare(s); err != nil {
		return err
	}
	if p.copies == nil {
		if p.copies, err = p.d.Lane(); err != nil {
			return err
		}
	}
	if p.plan, err = s.planFor(p, f, list); err != nil {
		return err
	}
	pixels, real := s.shape[1]*s.shape[2], bits/8
	for _, a := range list {
		p.arrays = append(p.arrays, &deviceArray{source: a})
	}
	take := func(to **cuda.Buffer, bytes int, tag string) {
		if err == nil {
			*to, err = p.d.AllocTagged(max(bytes, 8), tag)
		}
	}
	for _, a := range p.arrays {
		if a.host != nil && p.resident {
			take(&a.kept, (p.high-p.low)*pixels*a.per*a.size, "morphology")
		}
	}
	take(&p.sums, p.sumBytes, "scattering sums")
	take(&p.corners, p.transforms*f.fields()*real, "scattering slabs")
	take(&p.slab, p.transforms*f.pairs()*2*pixels*real, "scattering slabs")
	if s.layout.collapsed() {
		take(&p.means, f.fields()*pixels*real, "scattering slabs")
	}
	if err != nil {
		return err
	}
	return p.newFourier(s, p.transforms*f.pairs())
}

// newFourier makes the transform of the arrays of a slab.
func (p *device) newFourier(s *Simulator, batch int) error {
	prog, err := p.program(s, batch)
	if err != nil {
		return err
	}
	p.fourier = prog.NewState()
	if err := p.fourier.BindDevice(0, p.slab.At(0)); err != nil {
		return err
	}
	p.spectra, err = p.fourier.OutputDevice(0)
	return err
}

func (h *deviceGeometry) program(s *Simulator, batch int) (*ad.Program, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.programs[batch]; p != nil {
		return p, nil
	}
	x := ad.Input("slices", batch, s.shape[1], s.shape[2], 2)
	p, err := ad.Compile([]*ad.Node{ad.FFT(x, ad.NormBackward, 1, 2)}, ad.Settings{Precision: s.cfg.Precision, Backend: ad.CUDA{Stream: h.d.Default(), Strict: true}})
	if err == nil {
		h.programs[batch] = p
	}
	return p, err
}

// slabsOf calls f for slabs of the slices of p, with the addresses of arrays and, beside them, of their
// changes, if there are any. What must be sent is sent while f's work for the slab before is under way.
func (p *device) slabsOf(ctx context.Context, pixels int, arrays, changes []*deviceArray, f func(z, n int, in, to structure) error) error {
	for k, z := 0, p.low; z < p.high; k, z = k+1, z+p.slices {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(p.slices, p.high-z)
		in, err := p.feed(ctx, arrays, k, z, n, pixels)
		if err != nil {
			return err
		}
		to := in
		if changes != nil {
			if to, err = p.feed(ctx, changes, k, z, n, pixels); err != nil {
				return err
			}
		}
		if err := f(z, n, in, to); err != nil {
			return err
		}
		if p.done[k%2], err = p.s.Record(); err != nil {
			return err
		}
	}
	for _, a := range arrays {
		a.loaded = a.kept != nil
	}
	return nil
}

// feed returns where the arrays of a slab are, after sending them if they are not on the device.
func (p *device) feed(ctx context.Context, arrays []*deviceArray, k, z, n, pixels int) (in structure, err error) {
	sent := false
	for _, a := range arrays {
		slice := pixels * a.per * a.size
		var at cuda.Part
		switch {
		case a.host == nil && a.part.Buffer == nil: // a change by nothing
			in = append(in, make([]byte, 8)...)
			continue
		case a.host == nil:
			at = cuda.Part{Buffer: a.part.Buffer, Offset: a.part.Offset + z*slice}
		case a.kept != nil:
			at = a.kept.At((z - p.low) * slice)
		default:
			if a.slabs[k%2] == nil {
				if a.slabs[k%2], err = p.d.AllocTagged(p.slices*slice, "scattering slabs"); err != nil {
					return nil, err
				}
				if err = p.copies.Follow(p.s); err != nil {
					return nil, err
				}
			}
			at = a.slabs[k%2].At(0)
		}
		if a.host != nil && !(a.kept != nil && a.loaded) {
			if e := p.done[k%2]; a.kept == nil && e != nil {
				if err = p.copies.Wait(e); err != nil {
					return nil, err
				}
			}
			if err = p.copies.CopyIn(ctx, at.Buffer, at.Offset, section(a.host, z*pixels*a.per, (z+n)*pixels*a.per)); err != nil {
				return nil, err
			}
			sent = true
		}
		if err = p.s.Use(at, n*slice); err != nil {
			return nil, err
		}
		in.address(at)
	}
	if !sent {
		return in, nil
	}
	return in, p.s.Follow(p.copies)
}

// sumSlices adds the transforms of all slices of p to sums, which begin at 0.
func (p *device) sumSlices(ctx context.Context, s *Simulator, f forms, m *cuda.Module, arrays, changes []*deviceArray, sums *cuda.Buffer) error {
	if err := p.s.Fill(sums, 0, p.sumBytes, 0); err != nil {
		return err
	}
	pixels := s.shape[1] * s.shape[2]
	slice := int64(pixels)
	wz, wyx := optional(p.tables.wz), optional(p.tables.wyx)
	gather := func(z, n int) error {
		if err := p.fourier.Run(); err != nil {
			return err
		}
		t := p.tables
		return p.launch(p.fields, "gather_sums", t.size, f.pairs(), p.spectra, p.corners, t.place, t.plane, t.cosine, t.sine, sums,
			int32(t.size), int32(n), int32(z), int32(s.layout.n[0]), int32(s.shape[1]), int32(s.shape[2]))
	}
	err := p.slabsOf(ctx, pixels, arrays, changes, func(z, n int, in, to structure) error {
		if s.layout.collapsed() {
			return p.launch(m, "mean", pixels, 1, []byte(in), []byte(to), p.means, int32(n), int32(z), slice)
		}
		if err := p.launch(m, "corners", n, 1, []byte(in), []byte(to), wz, wyx, p.corners, int32(n), int32(z), slice); err != nil {
			return err
		}
		if err := p.launch(m, "fill", pixels, n, []byte(in), []byte(to), wz, wyx, p.corners, p.slab, int32(z), slice); err != nil {
			return err
		}
		return gather(z, n)
	})
	if err != nil || !s.layout.collapsed() || p.low == p.high {
		return err
	}
	if err := p.launch(m, "mean_corner", f.fields(), 1, p.means, wz, wyx, p.corners, slice); err != nil {
		return err
	}
	if err := p.launch(m, "mean_fill", pixels, 1, p.means, wz, wyx, p.corners, p.slab, slice); err != nil {
		return err
	}
	return gather(0, 1)
}

// centre runs a kernel about the value at q = 0.
func (p *device) centre(f forms, kernel string, sums *cuda.Buffer) error {
	return p.launch(p.fields, kernel, f.fields(), 1, sums, p.tables.centre, int32(p.tables.neighbours), int64(p.tables.size))
}

// combine makes the arrays of all GPUs their sum, added in their order.
func (g *devices) combine(of func(p *device) *cuda.Buffer) error {
	first := g.parts[0]
	for _, p := range g.parts[1:] {
		room, err := first.reserve("sums", p.sumBytes)
		if err != nil {
			return err
		}
		if err := first.s.Copy(room, 0, of(p), 0, p.sumBytes); err != nil {
			return err
		}
		n := p.sumBytes / first.real
		if err := first.launch(first.fields, "add", n, 1, of(first), room, int64(n)); err != nil {
			return err
		}
	}
	for _, p := range g.parts[1:] {
		if err := p.s.Copy(of(p), 0, of(first), 0, p.sumBytes); err != nil {
			return err
		}
	}
	return nil
}

// target is where the derivatives by an array go: the host's memory, or that of the device.
type target struct {
	host any
	part cuda.Part
	per  int
	size int
}

// back takes the derivatives in p.grads to the arrays.
func (p *device) back(ctx context.Context, s *Simulator, f forms, list []target) error {
	if p.low == p.high {
		return nil
	}
	pixels := s.shape[1] * s.shape[2]
	step, factor := int64(f.pairs()*pixels), 1.0
	if s.layout.collapsed() {
		step, factor = 0, 1/float64(s.shape[0])
		if err := p.spread(s, f, 0, 1); err != nil {
			return err
		}
	}
	var scale any = factor
	if p.real == 4 {
		scale = float32(factor)
	}
	return p.slabsOf(ctx, pixels, p.arrays, nil, func(z, n int, in, _ structure) error {
		if step > 0 {
			if err := p.spread(s, f, z, n); err != nil {
				return err
			}
		}
		out, parts, err := p.places(list, pixels, z, n)
		if err != nil {
			return err
		}
		if err := p.launch(p.fields, "back", pixels, n, []byte(in), []byte(out), optional(p.tables.wz), optional(p.tables.wyx), p.spectra,
			int32(z), int64(pixels), step, scale); err != nil {
			return err
		}
		for i, t := range list {
			if t.host == nil {
				continue
			}
			if err := p.s.CopyOut(ctx, section(t.host, z*pixels*t.per, (z+n)*pixels*t.per), parts[i].Buffer, 0); err != nil {
				return err
			}
		}
		return nil
	})
}

// spread transforms the derivatives by the fields of some slices from those by the sums.
func (p *device) spread(s *Simulator, f forms, z, n int) error {
	t := p.tables
	if err := p.launch(p.fields, "spread_sums", s.shape[1]*s.layout.columns(), f.pairs(), p.slab, t.start, t.plane, t.cosine, t.sine, p.grads, int64(t.size),
		int32(n), int32(z), int32(s.layout.n[0]), int32(s.shape[1]), int32(s.shape[2])); err != nil {
		return err
	}
	return p.fourier.Run()
}

// places returns where kernels write the derivatives by slices z to z+n-1 of the arrays: their place on the
// device, or memory from which they are fetched.
func (p *device) places(list []target, pixels, z, n int) (out structure, parts []cuda.Part, err error) {
	for i, t := range list {
		slice := pixels * t.per * t.size
		at := cuda.Part{Buffer: t.part.Buffer, Offset: t.part.Offset + z*slice}
		if t.host != nil {
			b, err := p.reserve(fmt.Sprint("gradient ", i), p.slices*slice)
			if err != nil {
				return nil, nil, err
			}
			at = b.At(0)
		}
		if err := p.s.Use(at, n*slice); err != nil {
			return nil, nil, err
		}
		parts = append(parts, at)
		out.address(at)
	}
	return out, parts, nil
}
