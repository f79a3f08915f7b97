// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// Measured describes what a Store holds of each angle: the values of all pairs i < j of frames, row
// by row.
type Measured struct {
	Band int // largest distance of frames whose pairs do not count
	Bits int // precision of the values in the memory of GPUs: 64 or 32 bits; sums always have 64
	// Weighted says that pairs have weights; otherwise all that count do so equally.
	Weighted bool
	// Pairs writes the values of an angle, and their weights if there are any. Values without a
	// weight are 0.
	Pairs func(angle int, y, w []float64)
}

// Store holds measured correlations in the memory of GPUs, which share the angles. It is safe for
// concurrent use.
type Store struct {
	setup  Setup
	m      Measured
	text   pairText
	shares []share
}

// share is the angles of one GPU.
type share struct {
	backend  ad.CUDA
	d        *cuda.Device
	from, to int // angles
	y, w     *cuda.Buffer
	blocks   *cuda.Buffer // angle, first row and first column of each block of pairs
	first    *cuda.Buffer // the first block of each angle
	count    int          // of blocks
	module   *cuda.Module
}

// bytes is what the pairs of an angle take.
func (s *Setup) bytes(m *Measured) int {
	n := len(s.Times)
	each := n * (n - 1) / 2 * m.Bits / 8
	if m.Weighted {
		each *= 2
	}
	return each
}

// NewStore sends measured correlations to the GPUs of a backend. It returns nil if the backend
// chooses the CPU.
func (s *Setup) NewStore(ctx context.Context, b ad.Backend, m Measured) (*Store, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	st := &Store{setup: *s, m: m, text: s.pairText()}
	angles, all := len(s.Angles), ad.Spread(b)
	all = all[:min(len(all), angles)]
	for k, one := range all {
		sh := share{from: k * angles / len(all), to: (k + 1) * angles / len(all)}
		bytes := (sh.to - sh.from) * s.bytes(&m)
		const small = 16 << 20 // partial sums, frames and tables
		need := ad.Need{Name: fmt.Sprintf("%d two-time correlations of %d frames in float%d", sh.to-sh.from, len(s.Times), m.Bits), Work: bytes, Least: bytes + small}
		var err error
		if sh.d, err = ad.DeviceFor(one, need); err != nil {
			st.Free()
			return nil, err
		}
		if sh.d == nil {
			st.Free()
			return nil, nil
		}
		sh.backend = ad.GPUs(one)[0]
		st.shares = append(st.shares, sh)
	}
	for k := range st.shares {
		if err := st.fill(ctx, &st.shares[k]); err != nil {
			st.Free()
			return nil, err
		}
	}
	return st, nil
}

// fill sends the numbers of a share, one angle after another.
func (st *Store) fill(ctx context.Context, sh *share) error {
	n, angles := len(st.setup.Times), sh.to-sh.from
	pairs := n * (n - 1) / 2
	size := pairs * st.m.Bits / 8
	var err error
	if sh.y, err = sh.d.AllocTagged(angles*size, "two-time correlations"); err != nil {
		return err
	}
	y, w := make([]float64, pairs), []float64(nil)
	if st.m.Weighted {
		w = make([]float64, pairs)
		if sh.w, err = sh.d.AllocTagged(angles*size, "weights"); err != nil {
			return err
		}
	}
	var short []float32
	send := func(to *cuda.Buffer, angle int, v []float64) error {
		if st.m.Bits == 64 {
			return sh.d.CopyIn(ctx, to, angle*size, v)
		}
		short = short[:0]
		for _, x := range v {
			short = append(short, float32(x))
		}
		return sh.d.CopyIn(ctx, to, angle*size, short)
	}
	for angle := range angles {
		clear(y)
		clear(w)
		st.m.Pairs(sh.from+angle, y, w)
		if err := send(sh.y, angle, y); err != nil {
			return err
		}
		if w != nil {
			if err := send(sh.w, angle, w); err != nil {
				return err
			}
		}
	}
	blocks, first := places(n, angles, st.m.Band, st.text.columns)
	sh.count = len(blocks) / 4
	for _, a := range []struct {
		to **cuda.Buffer
		of []int32
	}{{&sh.blocks, blocks}, {&sh.first, first}} {
		if *a.to, err = sh.d.AllocTagged(4*len(a.of), "places of pairs"); err != nil {
			return err
		}
		if err = sh.d.CopyIn(ctx, *a.to, 0, a.of); err != nil {
			return err
		}
	}
	number := map[int]string{32: "float", 64: "double"}[st.m.Bits]
	sh.module, err = sh.d.Compile(rtc.Source{Name: "pairs.cu", Text: st.text.text(st.setup.frameOutputs(), number, st.m.Weighted)})
	if err != nil {
		return err
	}
	return sh.d.Default().Synchronize(ctx)
}

// Free releases the memory. Sums of the Store must not run any more.
func (st *Store) Free() {
	for _, sh := range st.shares {
		for _, b := range []*cuda.Buffer{sh.y, sh.w, sh.blocks, sh.first} {
			if b != nil {
				b.Free()
			}
		}
	}
}

// Devices names the GPUs, such as cuda:0.
func (st *Store) Devices() (all []string) {
	for _, sh := range st.shares {
		all = append(all, sh.d.String())
	}
	return all
}

// Sums computes sums over all pairs of a Store at parameters of the motion. It belongs to one
// goroutine; the Sums of several goroutines overlap on a GPU.
type Sums struct {
	st    *Store
	parts []shareSums
	theta []float64
}

// shareSums is what evaluations on one GPU need.
type shareSums struct {
	*share
	on        *cuda.Stream
	state     *ad.State    // of frames
	frames    []byte       // the struct that kernels take
	partial   *cuda.Buffer // sums of blocks
	sums      *cuda.Buffer // of each angle: those of value and gradient, then products
	gradient  *cuda.Function
	collect   *cuda.Function
	curvature []*cuda.Function
	width     int // numbers of an angle in sums
	out       []float64
}

// NewSums prepares evaluations: it compiles the program of the frames and allocates memory for
// sums.
func (st *Store) NewSums() (*Sums, error) {
	s := &Sums{st: st, theta: make([]float64, len(names[st.setup.Model]))}
	for k := range st.shares {
		p, err := st.newSums(&st.shares[k])
		if err != nil {
			return nil, err
		}
		s.parts = append(s.parts, *p)
	}
	return s, nil
}

func (st *Store) newSums(sh *share) (p *shareSums, err error) {
	parts, width := st.text.parts()
	p = &shareSums{share: sh, width: st.text.firstSums() + parts*width}
	angles := sh.to - sh.from
	if p.on = sh.backend.Stream; p.on == nil {
		if p.on, err = sh.d.Lane(); err != nil {
			return nil, err
		}
	}
	part := st.setup
	part.Angles = part.Angles[sh.from:sh.to]
	b := sh.backend
	b.Stream = p.on
	program, err := part.frameProgram(b)
	if err != nil {
		return nil, err
	}
	p.state = program.NewState()
	var address []uint64
	for i := range program.Outputs() {
		at, err := p.state.OutputDevice(i)
		if err != nil {
			return nil, err
		}
		address = append(address, uint64(at.Buffer.Uintptr())+uint64(at.Offset))
	}
	c := st.setup.constants()
	for _, v := range c {
		address = append(address, math.Float64bits(v))
	}
	p.frames = words(address)
	if p.partial, err = p.on.AllocTagged(8*sh.count*max(st.text.firstSums(), width), "sums of blocks"); err != nil {
		return nil, err
	}
	if p.sums, err = p.on.AllocTagged(8*angles*p.width, "sums"); err != nil {
		return nil, err
	}
	for name, to := range map[string]**cuda.Function{"gradient": &p.gradient, "collect": &p.collect} {
		if *to, err = sh.module.Function(name); err != nil {
			return nil, err
		}
	}
	for k := range parts {
		f, err := sh.module.Function(fmt.Sprintf("curvature%d", k))
		if err != nil {
			return nil, err
		}
		p.curvature = append(p.curvature, f)
	}
	return p, nil
}

// words returns numbers of 64 bits as kernels read them.
func words(v []uint64) (raw []byte) {
	for _, x := range v {
		for k := range 8 {
			raw = append(raw, byte(x>>(8*k)))
		}
	}
	return raw
}

// start puts an evaluation on the stream.
func (p *shareSums) start(st *Store, theta []float64, curvature bool) error {
	size := int32(p.size(st, curvature))
	copy(p.state.InputSpan(0, len(theta)), theta)
	if err := p.state.Run(); err != nil {
		return err
	}
	w := any(nil)
	if p.w != nil {
		w = p.w
	}
	n, band, grid, block := int32(len(st.setup.Times)), int32(st.m.Band), cuda.Dim{X: p.count}, cuda.Dim{X: blockThreads}
	angles := cuda.Dim{X: p.to - p.from}
	firstSums := st.text.firstSums()
	if err := p.gradient.Launch(p.on, grid, block, 0, p.blocks, p.frames, p.y, w, n, band, p.partial); err != nil {
		return err
	}
	if err := p.collect.Launch(p.on, angles, cuda.Dim{X: 256}, 0, p.partial, p.first, int32(firstSums), p.sums, size, int32(0)); err != nil || !curvature {
		return err
	}
	_, width := st.text.parts()
	for k, f := range p.curvature {
		if err := f.Launch(p.on, grid, block, 0, p.blocks, p.frames, w, n, band, p.partial); err != nil {
			return err
		}
		if err := p.collect.Launch(p.on, angles, cuda.Dim{X: 256}, 0, p.partial, p.first, int32(width), p.sums, size, int32(firstSums+k*width)); err != nil {
			return err
		}
	}
	return nil
}

// Run computes the weighted products of the columns 1, g, dg/dtheta and y of each angle, and writes those that depend on theta to the upper
// triangles of gram, which has (parameters + 3)^2 numbers for each. The products of two derivatives are there with curvature only; the rest of
// gram is 0.
func (s *Sums) Run(ctx context.Context, theta []float64, curvature bool, gram [][]float64) error {
	if len(theta) != len(s.theta) {
		return fmt.Errorf("transport: there are %d parameters for the model %s: want %d", len(theta), s.st.setup.Model, len(s.theta))
	}
	copy(s.theta, theta)
	for i := range s.parts {
		if err := s.parts[i].start(s.st, theta, curvature); err != nil {
			return err
		}
	}
	for i := range s.parts {
		p := &s.parts[i]
		size := p.size(s.st, curvature)
		p.out = slices.Grow(p.out[:0], (p.to-p.from)*size)[:(p.to-p.from)*size]
		if err := p.on.CopyOut(ctx, p.out, p.sums, 0); err != nil {
			return err
		}
		for angle := range p.to - p.from {
			s.st.write(gram[p.from+angle], p.out[angle*size:][:size], theta, p.from+angle, curvature)
		}
	}
	return nil
}

// Free releases the memory of the sums. They must not run any more.
func (s *Sums) Free() {
	for _, p := range s.parts {
		p.partial.Free()
		p.sums.Free()
	}
}

// size is the number of sums of an angle.
func (p *shareSums) size(st *Store, curvature bool) int {
	if curvature {
		return p.width
	}
	return st.text.firstSums()
}

// write puts the sums of an angle to their places, with the derivatives of the channels by what the kernels take as their units.
func (st *Store) write(gram, sums, theta []float64, angle int, curvature bool) {
	clear(gram)
	p := len(theta)
	k := p + 3
	scale := st.setup.scales(theta, angle)
	gram[1], gram[k+1], gram[2*k-1] = sums[0], sums[1], sums[2]
	for i, u := range scale {
		gram[2+i], gram[k+2+i], gram[(2+i)*k+k-1] = u*sums[3+i], u*sums[3+p+i], u*sums[3+2*p+i]
	}
	if !curvature {
		return
	}
	at := st.text.firstSums()
	for i, u := range scale {
		for j := i; j < p; j++ {
			gram[(2+i)*k+2+j] = u * scale[j] * sums[at]
			at++
		}
	}
}
