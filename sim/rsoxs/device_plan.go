// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"fmt"
	"math"
	"runtime"
	"time"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/tensor"
)

// plan says how the work of a GPU is cut so that it fits into the room that there is (see Room of package kernels/cuda). Nothing of it changes a
// result but the number of views together, which changes rounding errors of derivatives.
type plan struct {
	real       int  // B of a number
	resident   bool // whether the morphology stays on the device; otherwise slabs are sent when they are needed
	slices     int  // slices of a slab
	transforms int  // slices that are transformed together: those of a slab, or their mean
	views      int  // views together
	turns      int  // turns of a beam together, where each has an image of its own
	sumBytes   int  // B of the sums over slices
	least      int  // B without which nothing runs
}

// Sizes of what is done at once, in bytes: large enough that launches cost nothing, small beside the
// memory of a device. Tests make them smaller.
var (
	slabBytes     = 64 << 20      // fields of a slab, or
	slabSums      = 1             // as many times the sums over slices
	imageBytes    = 1 << 30       // images of views, and what goes with them
	residentBytes = math.MaxInt64 // morphologies up to this size stay on the device
)

// need is what a GPU must have for the smallest morphology.
func (s *Simulator) need() ad.Need {
	n := s.shape
	voxels := n[0] * n[1] * n[2]
	least := s.planBytes(forms{{types: []tensor.DType{tensor.Float16}, grads: []tensor.DType{tensor.Float32}}}, []source{{per: 1, size: 2}}).least
	return ad.Need{Name: s.workName(), Work: voxels * 4 * s.cfg.Precision / 8, Least: least}
}

func (s *Simulator) workName() string {
	return fmt.Sprintf("a scattering pattern of %d x %d x %d voxels", s.shape[0], s.shape[1], s.shape[2])
}

// partBytes are the sizes of the parts of a plan.
type partBytes struct {
	plan
	pairs, fed, out int // B of a slice: its fields as complex numbers, its arrays, the derivatives by them
	fixed           int // B of geometry, sums and derivatives by them
	view            int // B of a view without its images
	image           int // B of an image
	images          int // images of a view
}

// planBytes returns the sizes, and the least plan.
func (s *Simulator) planBytes(f forms, list []source) (b partBytes) {
	pixels := s.shape[1] * s.shape[2]
	b.real = s.cfg.Precision / 8
	b.pairs = f.pairs() * 2 * pixels * b.real
	i := 0
	for _, m := range f {
		for k := range m.types {
			if a := list[i]; a.part.Buffer == nil { // what is on the device already takes nothing, and nothing is fetched
				b.fed += pixels * a.per * a.size
				b.out += pixels * a.per * bytesOf(m.grads[k])
			}
			i++
		}
	}
	b.sumBytes = 4 * f.fields() * s.layout.size * b.real
	b.fixed = 2*b.sumBytes + 8*s.layout.size + 4*s.shape[1]*(s.layout.columns()+1) + (2+f.fields())*pixels*b.real
	if len(ad.Spread(s.cfg.Backend)) > 1 { // the sums of another device
		b.fixed += b.sumBytes
	}
	b.image = 8 * pixels
	b.view = 6*b.image + pixels + 8*viewSize(len(f)) + 8*6*len(f)*(s.layout.size/128+2)
	b.images = 3
	if t := s.averages[0].turns; s.cfg.Frame == MaterialFrame || len(t) < 3 {
		b.images = len(t)
	}
	b.slices, b.transforms, b.views, b.turns = 1, 1, 1, b.images
	if s.cfg.Frame == MaterialFrame {
		b.turns = 1
	}
	// A transform takes its input twice, its output, and as much again for a library.
	b.least = b.fixed + 4*b.pairs + 2*b.fed + b.out + b.view + b.turns*b.image
	return b
}

// roomFor returns the bytes that may be taken. If they are fewer than wanted, it lets the garbage collector find
// the buffers of simulators that nobody has any more.
func (p *device) roomFor(wanted int) (int, error) {
	for try := 0; ; try++ {
		room, err := p.d.Room()
		if err != nil || int(room) >= wanted || try == 2 {
			return int(room), err
		}
		found := make(chan struct{})
		runtime.AddCleanup(new([16]int64), func(c chan struct{}) { close(c) }, found)
		runtime.GC()
		select {
		case <-found: // cleanups run one after the other
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// planFor cuts the work to the room that a GPU has. It returns an error with the numbers if even the
// smallest pieces are too large.
func (s *Simulator) planFor(p *device, f forms, list []source) (plan, error) {
	b := s.planBytes(f, list)
	depth := max(1, p.high-p.low)
	whole := depth * b.fed
	all, err := p.roomFor(b.least + whole)
	if err != nil {
		return b.plan, err
	}
	if err := p.d.Fits(s.workName(), uint64(b.least)); err != nil {
		return b.plan, fmt.Errorf("rsoxs: %w", err)
	}
	room := all - b.least
	if whole <= room+2*b.fed && whole <= residentBytes {
		b.resident = true
		room -= whole - 2*b.fed
	}
	// A quarter of what is left for slabs, a quarter for images; the rest is for other programs.
	slice := 4*b.pairs + b.out
	if !b.resident {
		slice += 2 * b.fed
	}
	// A slab is also so large that the sums, which each reads and writes once, are little beside its transforms.
	b.slices = max(1, min(max(slabBytes, slabSums*b.sumBytes)/b.pairs, 1+room/4/slice, depth, 1<<15)) // rows of blocks are fewer than 2^16
	b.slices = (depth + (depth+b.slices-1)/b.slices - 1) / ((depth + b.slices - 1) / b.slices)        // slabs of one size
	if b.transforms = b.slices; s.layout.collapsed() {
		b.transforms = 1
	}
	if s.cfg.Frame == MaterialFrame {
		b.turns = max(1, min(b.images, min(imageBytes, room/4)/b.image))
	}
	view := b.view + b.turns*b.image
	b.views = max(1, min(len(s.cfg.Energies), min(imageBytes, room/4)/view))
	return b.plan, nil
}
