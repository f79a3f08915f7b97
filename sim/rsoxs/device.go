// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"encoding/binary"
	"fmt"
	"math"
	"sync"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
	"github.com/euryale-dev/euryale/tensor"
)

// devices compute for a Simulator on one GPU or several. The method is that of the processor: fields that
// do not depend on the energy, transformed slice by slice, sums over slices for the planes that pixels
// read, and three images for all angles. Several GPUs share the slices, add their sums, and then share
// the views, which are energies and beams.
type devices struct {
	parts  []*device
	forms  forms // of the morphology; nil before the first
	adding sync.Mutex
}

// device is one of them, with what it holds of the morphology at hand.
type device struct {
	*deviceGeometry
	s      *cuda.Stream // of all kernels: the default stream, whose order the transforms keep too
	copies *cuda.Stream // of what is sent ahead
	low    int          // its slices: low to high-1
	high   int
	plan
	tables   *deviceTables
	fields   *cuda.Module
	detector *cuda.Module
	reflect  *cuda.Module // nil before the first gradient
	arrays   []*deviceArray
	done     [2]*cuda.Event // work that reads a set of slabs
	sums     *cuda.Buffer   // sums over slices of all fields
	grads    *cuda.Buffer   // derivatives by them, or their changes along a direction
	corners  *cuda.Buffer   // fields at the first voxel of slices
	means    *cuda.Buffer   // means of the fields, if slices are collapsed
	slab     *cuda.Buffer   // fields of some slices
	fourier  *ad.State      // transform of slab
	spectra  cuda.Part      // its result
	room     map[string]*cuda.Buffer
}

// deviceGeometry is what the simulators of one geometry share on one GPU.
type deviceGeometry struct {
	d        *cuda.Device
	mu       sync.Mutex
	shared   *deviceTables       // nil before prepare; guarded by mu
	programs map[int]*ad.Program // transforms of some slices, by their number
}

// deviceTables is the geometry in the memory of a GPU.
type deviceTables struct {
	grid                []byte // struct Grid of the kernels
	start, place, plane *cuda.Buffer
	size                int
	cosine, sine        *cuda.Buffer
	wz, wyx             *cuda.Buffer // window; nil without
	centre              *cuda.Buffer
	neighbours          int
	turns               []*cuda.Buffer // by beam
	keep                []*cuda.Buffer
}

// openDevices opens the devices of a configuration; nil is the processor.
func (s *Simulator) openDevices() (*devices, error) {
	g := &devices{}
	for _, b := range ad.Spread(s.cfg.Backend) {
		d, err := ad.DeviceFor(b, s.need())
		if err != nil {
			return nil, fmt.Errorf("rsoxs: %w", err)
		}
		if d == nil {
			return nil, nil
		}
		g.add(s.sharedOn(d))
	}
	return g, nil
}

// add makes a device one of those that share the work.
func (g *devices) add(h *deviceGeometry) {
	g.parts = append(g.parts, &device{deviceGeometry: h, s: h.d.Default()})
}

// geometries is what the simulators of one geometry share on all GPUs.
type geometries struct {
	mu sync.Mutex
	on map[*cuda.Device]*deviceGeometry
}

// sharedOn returns what simulators of the geometry of s share on a device.
func (s *Simulator) sharedOn(d *cuda.Device) *deviceGeometry {
	g := s.shared
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.on[d] == nil {
		g.on[d] = &deviceGeometry{d: d, programs: map[int]*ad.Program{}}
	}
	return g.on[d]
}

// clone returns the same devices without a morphology.
func (g *devices) clone() *devices {
	if g == nil {
		return nil
	}
	c := &devices{}
	for _, p := range g.parts {
		c.add(p.deviceGeometry)
	}
	return c
}

// each calls f for all devices at the same time and returns the first error.
func (g *devices) each(f func(p *device) error) error {
	if len(g.parts) == 1 {
		return f(g.parts[0])
	}
	errs := make([]error, len(g.parts))
	var wait sync.WaitGroup
	for i, p := range g.parts {
		wait.Go(func() { errs[i] = f(p) })
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// elements lists the elements of the sums in the order of their places in the half spectrum, so that
// neighbouring threads read neighbouring numbers: start[k] is the first element of place k.
func (y *layout) elements() (start, place, plane []int32) {
	cols := y.columns()
	start = make([]int32, y.n[1]*cols+1)
	each := func(f func(k, m int)) {
		for i := range y.n[1] * y.planes {
			for x := y.from[i]; x < y.to[i]; x++ {
				f(i/y.planes*cols+int(x), i%y.planes)
			}
		}
	}
	each(func(k, _ int) { start[k+1]++ })
	for k := range y.n[1] * cols {
		start[k+1] += start[k]
	}
	place, plane = make([]int32, y.size), make([]int32, y.size)
	next := append([]int32(nil), start...)
	each(func(k, m int) {
		place[next[k]], plane[next[k]] = int32(k), int32(m)
		next[k]++
	})
	return start, place, plane
}

// The numbers of a view and of a turn, as cu/optics.cuh has them.
const turnSize = 16

func viewSize(materials int) int { return 10 + 12*materials }

// prepare puts the geometry on the device, once.
func (h *deviceGeometry) prepare(s *Simulator) (*deviceTables, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.shared != nil {
		return h.shared, nil
	}
	l := s.layout
	start, place, plane := l.elements()
	t := &deviceTables{size: l.size}
	up := uploader{d: h.d}
	t.start, t.place, t.plane = up.send(start), up.send(place), up.send(plane)
	t.cosine, t.sine = up.send(l.cos), up.send(l.sin)
	find := func(row, m, x int) int32 {
		e := start[row*l.columns()+x]
		for plane[e] != int32(m) {
			e++
		}
		return e
	}
	at := []int32{find(0, 0, 0)}
	for _, n := range l.neighbours() {
		at = append(at, find(n.row, n.m, n.x))
	}
	t.centre, t.neighbours = up.send(at), len(at)-1
	if w := s.cfg.Window; w != NoWindow {
		if s.cfg.Precision == 32 {
			p := newWindow[float32](w, l)
			t.wz, t.wyx = up.send(p.z), up.send(p.yx)
		} else {
			p := newWindow[float64](w, l)
			t.wz, t.wyx = up.send(p.z), up.send(p.yx)
		}
	}
	for j, b := range s.beams {
		t.turns = append(t.turns, up.send(turnNumbers(b, s.averages[j], s.cfg.Frame)))
	}
	var g structure
	for axis := range l.qs {
		q := up.send(l.qs[axis])
		t.keep = append(t.keep, q)
		g.pointer(q)
	}
	g.double(l.first(0))
	g.double(l.step(0))
	g.pointer(t.start)
	g.pointer(t.place)
	g.pointer(t.plane)
	g.ints(l.size, l.n[0], l.n[1], l.n[2], oneIf(l.grid == CyRSoXSGrid), oneIf(s.cfg.Interpolation == Nearest))
	if t.grid = g; up.err != nil {
		return nil, up.err
	}
	h.shared = t
	return t, nil
}

// turnNumbers returns the numbers of all turns of a beam.
func turnNumbers(b *beam, a *average, f Frame) []float64 {
	p := newProjector(b, a.turns, f, 1)
	all := make([]float64, len(a.turns)*turnSize)
	for i, t := range a.turns {
		v := all[i*turnSize:]
		v[0], v[1] = p.field[i][0], p.field[i][1]
		if _, w := p.mix(i); len(w) == 3 {
			copy(v[2:5], w)
		}
		v[5], v[6] = t.same, t.opposite
		if p.turns != nil {
			for r, row := range p.turns[i] {
				copy(v[7+3*r:], row[:])
			}
		}
	}
	return all
}

// viewNumbers appends the numbers of a view with the contrasts of materials and their changes.
func viewNumbers(all []float64, v *view, contrasts, changes []contrast) []float64 {
	all = append(append(append(append(all, v.wave), v.kv[:]...), v.e1[:]...), v.e2[:]...)
	for _, list := range [][]contrast{contrasts, changes} {
		for m := range contrasts {
			var c contrast
			if list != nil {
				c = list[m]
			}
			all = append(all, real(c.iso), imag(c.iso), real(c.axial), imag(c.axial), real(c.tensor), imag(c.tensor))
		}
	}
	return all
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}

// structure is a struct of C as an argument of a kernel.
type structure []byte

func (g *structure) pointer(b *cuda.Buffer) {
	*g = binary.LittleEndian.AppendUint64(*g, uint64(b.Uintptr()))
}

func (g *structure) address(p cuda.Part) {
	*g = binary.LittleEndian.AppendUint64(*g, uint64(p.Buffer.Uintptr())+uint64(p.Offset))
}

func (g *structure) double(v float64) {
	*g = binary.LittleEndian.AppendUint64(*g, math.Float64bits(v))
}

func (g *structure) ints(list ...int) {
	for _, v := range list {
		*g = binary.LittleEndian.AppendUint32(*g, uint32(v))
	}
}

// uploader sends arrays until one fails.
type uploader struct {
	d   *cuda.Device
	err error
}

func (u *uploader) send(v any) *cuda.Buffer {
	n := binary.Size(v)
	if u.err != nil {
		return &cuda.Buffer{}
	}
	b, err := u.d.AllocTagged(max(n, 8), "scattering geometry")
	if err == nil {
		err = u.d.CopyIn(background, b, 0, v)
	}
	if u.err = err; err != nil {
		return &cuda.Buffer{}
	}
	return b
}

// compile makes the kernels of a text.
func (p *device) compile(name, text string) (*cuda.Module, error) {
	return p.d.Compile(rtc.Source{Name: "rsoxs_" + name + ".cu", Text: text})
}

// launch starts a kernel with a thread for each of n items, and a block row for each of rows.
func (p *device) launch(m *cuda.Module, kernel string, n, rows int, args ...any) error {
	const block, most = 128, 1 << 24 // kernels that may have more items take several each
	grid := cuda.Blocks(n, block)
	grid.X, grid.Y = min(grid.X, most), rows
	return m.Launch(p.s, kernel, grid, cuda.Dim{X: block}, args...)
}

// optional is an argument that may be a null pointer.
func optional(b *cuda.Buffer) any {
	if b == nil {
		return nil
	}
	return b
}

// bytesOf returns the size of a number.
func bytesOf(d tensor.DType) int {
	switch d {
	case tensor.Float16:
		return 2
	case tensor.Float32:
		return 4
	}
	return 8
}

// reserve returns a buffer of at least some bytes for a purpose; it is kept for the next use.
func (p *device) reserve(purpose string, bytes int) (*cuda.Buffer, error) {
	if b := p.room[purpose]; b != nil {
		if b.Size() >= bytes {
			return b, nil
		}
		b.Free()
		delete(p.room, purpose)
	}
	b, err := p.d.AllocTagged(bytes, "scattering "+purpose)
	if err != nil {
		return nil, err
	}
	if p.room == nil {
		p.room = map[string]*cuda.Buffer{}
	}
	p.room[purpose] = b
	return b, nil
}

// release frees everything that depends on the materials.
func (p *device) release() {
	for _, a := range p.arrays {
		a.free()
	}
	for _, b := range []*cuda.Buffer{p.sums, p.grads, p.corners, p.means, p.slab} {
		if b != nil {
			b.Free()
		}
	}
	for _, b := range p.room {
		b.Free()
	}
	*p = device{deviceGeometry: p.deviceGeometry, s: p.s, copies: p.copies}
}
