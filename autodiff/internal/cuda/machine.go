// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"context"
	"errors"
	"fmt"
	"math"
	"unsafe"

	"github.com/euryale-dev/euryale/autodiff/internal/compiler"
	"github.com/euryale-dev/euryale/autodiff/internal/cpu"
	device "github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/drv"
)

// Machine is the memory of one run of a Code: arrays of the device, and their counterparts in the
// processor's memory, which hold inputs and outputs and what steps on the processor need.
type Machine[T cpu.Real] struct {
	*Code
	host       *cpu.Machine[T]
	o          cpu.Settings
	inner      map[int]*inner[T] // programs of scans, by their job
	externals  map[*external]External
	on         *device.Stream // of all work and copies
	arena      *device.Buffer // arrays of reals, and then constants
	ints       *device.Buffer // arrays of indices, and then tables
	table      *device.Buffer // addresses of the arrays of every launch
	addresses  []uint64       // what is in the table
	part       *device.Buffer // partial results
	fault      *device.Buffer // which job failed, and why
	graph      *device.Graph  // all kernels of a run; nil until the first run, and if a step runs on the processor or a call waits
	one        *device.Graph  // a run of a recurrence with its copies; nil until the second run
	several    *device.Graph  // some of them
	runs       int
	uncaptured bool     // the device has no graphs, or no memory for this one
	faulty     bool     // the fault of an earlier run may still be on the device
	late       error    // why an output could not be fetched after a run
	short      []uint16 // where narrow arrays are converted

	bound   []bool              // inputs that are read from elsewhere
	changed []bool              // inputs that were bound or set, or are not on the device yet
	held    []bool              // inputs and outputs whose elements somebody holds
	remote  map[int]device.Part // inputs that are read from other memory of the device
	moved   map[int]bool        // inputs whose address the device does not have yet
	kept    map[int]bool        // outputs that somebody reads on the device
	ahead   map[int]bool        // inputs that are newer on the device
}

// NewMachine allocates the memory of a program.
func NewMachine[T cpu.Real](c *Code, o cpu.Settings) (*Machine[T], error) {
	m := &Machine[T]{Code: c, host: cpu.NewMirror[T](c.p, o), o: o, remote: map[int]device.Part{}, moved: map[int]bool{}, kept: map[int]bool{}, ahead: map[int]bool{}, bound: make([]bool, len(c.p.Buffers)), changed: make([]bool, len(c.p.Buffers)), held: make([]bool, len(c.p.Buffers))}
	for _, b := range c.p.InBufs {
		m.changed[b] = true
	}
	if c.launches() == 0 {
		return m, nil
	}
	err := m.allocate()
	if err != nil { // a machine that cannot run keeps nothing
		for _, b := range []*device.Buffer{m.arena, m.ints, m.table, m.part, m.fault} {
			if b != nil {
				b.Free()
			}
		}
	}
	return m, err
}

func (m *Machine[T]) allocate() error {
	var tables []int64
	first := roundUp(m.p.Ints, 2) // tables begin at multiples of 16 bytes
	for _, t := range m.source.Tables {
		tables = append(tables, t...)
	}
	var err error
	if m.on == nil {
		m.on = m.Code.on
	}
	if m.on == nil {
		if m.on, err = m.d.Lane(); err != nil {
			return err
		}
	}
	for _, a := range []struct {
		to    **device.Buffer
		bytes int
		tag   string
	}{{&m.arena, m.layout.reals, "arrays"}, {&m.ints, 8 * (first + len(tables)), "indices"},
		{&m.table, 8 * len(m.source.Addresses), "addresses"}, {&m.part, 8 * m.source.Partials, "partial results"}, {&m.fault, 8, "faults"}} {
		if *a.to, err = m.on.AllocTagged(max(8, a.bytes), a.tag); err != nil {
			return err
		}
	}
	ints := make([]int64, first, first+len(tables))
	addresses := make([]uint64, 0, len(m.p.Buffers)+len(m.source.Tables)) // of arrays and tables, by their numbers
	for i, b := range m.p.Buffers {
		if b.Kind == compiler.IntBuf && b.Value.Op == nil {
			copy(ints[b.Offset:], b.Value.Ints)
		}
		at := m.own(i)
		addresses = append(addresses, uint64(at.Buffer.Uintptr())+uint64(at.Offset))
	}
	at := uint64(m.ints.Uintptr()) + uint64(8*first)
	for _, t := range m.source.Tables {
		addresses = append(addresses, at)
		at += uint64(8 * len(t))
	}
	for _, id := range m.source.Addresses {
		m.addresses = append(m.addresses, addresses[id])
	}
	for i, list := range m.kernels {
		for _, k := range list {
			if k.repeated != nil {
				if m.inner == nil {
					m.inner = map[int]*inner[T]{}
				}
				if m.inner[i], err = m.newInner(k); err != nil {
					return err
				}
			}
			if k.external != nil && !k.external.adjoint {
				if m.externals == nil {
					m.externals = map[*external]External{}
				}
				if m.externals[k.external.external], err = k.external.instance(); err != nil {
					return err
				}
			}
		}
	}
	ctx := context.Background()
	return errors.Join(m.on.CopyIn(ctx, m.arena, m.layout.consts, m.constants()), m.on.CopyIn(ctx, m.ints, 0, append(ints, tables...)),
		m.on.CopyIn(ctx, m.table, 0, m.addresses), m.on.CopyIn(ctx, m.fault, 0, []int32{0, 0}))
}

// constants returns the memory of all constants.
func (m *Machine[T]) constants() []T {
	size := int(unsafe.Sizeof(*new(T)))
	all := make([]T, (m.layout.edge-m.layout.consts+size-1)/size)
	for i, b := range m.p.Buffers {
		if b.Kind != compiler.ConstBuf {
			continue
		}
		to := all[(m.layout.at[i]-m.layout.consts)/size:]
		if m.source.Narrow[i] {
			short := unsafe.Slice((*uint16)(unsafe.Pointer(unsafe.SliceData(to))), b.Size)
			shorten(short, b.Value.Data, m.options.Storage)
			continue
		}
		for k, v := range b.Value.Data {
			to[k] = T(v)
		}
	}
	return all
}

// Run executes every job in order. After an error, also one of a copy, the next Run starts from the same inputs.
func (m *Machine[T]) Run() error {
	if err := m.begin(); err != nil {
		return err
	}
	if err := m.runJobs(); err != nil {
		return err
	}
	m.runs++
	if err := m.failure(); err != nil {
		return err
	}
	if err := m.finish(); err != nil {
		return err
	}
	return m.fetchHeld()
}

// begin sends what a run needs.
func (m *Machine[T]) begin() error {
	if err := m.Late(); err != nil {
		return err
	}
	if err := m.prepare(); err != nil {
		return err
	}
	return m.each(m.p.InBufs, func(b int) bool { return (m.changed[b] || m.held[b]) && !m.isRemote(b) }, m.send, m.on.CopyIn)
}

// fetchHeld fetches the outputs whose elements somebody holds.
func (m *Machine[T]) fetchHeld() error {
	return m.each(m.p.OutBufs, func(b int) bool { return m.held[b] && m.away(b) }, m.fetch, m.copyOut)
}

// each copies those arrays of a list that are wanted: neighbours in one copy, unless they hold indices
// or are bound elsewhere.
func (m *Machine[T]) each(list []int, wanted func(b int) bool, one func(b int) error, span func(context.Context, *device.Buffer, int, any) error) error {
	if m.arena == nil {
		return nil
	}
	joins := func(b int) bool { return m.layout.joined[b] && !m.bound[b] && !m.isRemote(b) }
	for i := 0; i < len(list); i++ {
		first := list[i]
		if !wanted(first) {
			continue
		}
		last := first
		for joins(first) && i+1 < len(list) && list[i+1] == last+1 && wanted(last+1) && joins(last+1) {
			i, last = i+1, last+1
		}
		err := error(nil)
		if last == first {
			err = one(first)
		} else {
			err = span(context.Background(), m.arena, m.layout.at[first], m.host.Span(first, last))
		}
		if err != nil {
			return err
		}
		for b := first; b <= last; b++ {
			m.changed[b] = false
		}
	}
	return nil
}

// mostCaptured is the largest number of launches that become a graph, which takes memory for each: a scan of very many steps
// has more.
const mostCaptured = 1 << 15

// runJobs puts the work of the jobs on the stream. What runs without the processor is captured in the
// second run, and launched as a whole from then on.
func (m *Machine[T]) runJobs() error {
	if m.faulty {
		if err := m.clearFault(); err != nil {
			return err
		}
	}
	m.faulty = m.source.Fails
	if m.graph != nil {
		return m.graph.Launch(m.on)
	}
	if m.runs >= 1 && !m.uncaptured && !m.waits && len(m.plan.hosted) == 0 && m.launches() > 1 && m.launches() <= mostCaptured {
		graph, err := m.d.Capture(m.launchAll)
		switch {
		case err == nil:
			m.graph = graph
			return m.graph.Launch(m.on)
		case !errors.Is(err, device.ErrUnsupported) && !errors.Is(err, drv.OutOfMemory): // a graph needs memory too
			return err
		}
		m.uncaptured = true
	}
	if len(m.plan.hosted) == 0 {
		return m.launchAll(m.on)
	}
	for _, a := range m.plan.actions {
		if a.kind == onHost {
			if err := m.failure(); err != nil {
				return err
			}
		}
		if err := m.act(a); err != nil {
			return err
		}
	}
	return nil
}

// act does one part of a run.
func (m *Machine[T]) act(a action) error {
	switch a.kind {
	case launch:
		return m.launch(m.on, a.job)
	case upload:
		return m.send(a.buffer)
	case download:
		return m.fetch(a.buffer)
	}
	return m.host.Step(a.job)
}

func (m *Machine[T]) isInput(buf int) bool {
	v := m.p.Buffers[buf].Value
	return v.Op == nil && v.Data == nil && v.Ints == nil
}

// launchAll launches the kernels of all jobs.
func (m *Machine[T]) launchAll(s *device.Stream) error {
	for i := range m.kernels {
		if err := m.launch(s, i); err != nil {
			return err
		}
	}
	return nil
}

func (m *Machine[T]) launch(s *device.Stream, job int) error {
	for _, k := range m.kernels[job] {
		if k.repeated != nil {
			if err := m.inner[job].run(s, m.p.Jobs[job].Step, m.memory); err != nil {
				return err
			}
			continue
		}
		if k.external != nil {
			if err := k.external.run(m.externals[k.external.external], s, m.options.Bits/8, m.memory); err != nil {
				return err
			}
			continue
		}
		if k.library != nil {
			if err := k.library(m.d.Libraries(), s, m.memory); err != nil {
				return err
			}
			continue
		}
		if err := k.f.Launch(s, k.grid, k.block, 0, m.table.At(8*k.table), m.part, m.fault, int32(job+1)); err != nil {
			return err
		}
	}
	return nil
}

// failure returns what a kernel could not do, if any of them can fail.
func (m *Machine[T]) failure() error {
	if !m.source.Fails {
		return nil
	}
	job, code, err := m.firstFault()
	if err != nil || job < 0 {
		return err
	}
	if err := m.clearFault(); err != nil {
		return err
	}
	return m.explained(job, code)
}

// firstFault returns the first job that failed, or -1, and why.
func (m *Machine[T]) firstFault() (job, code int, err error) {
	fault := make([]int32, 2)
	if err := m.on.CopyOut(context.Background(), fault, m.fault, 0); err != nil {
		return -1, 0, err
	}
	job, code = int(fault[0])-1, int(fault[1])
	for i, n := range m.inner {
		if !n.Code.source.Fails || job >= 0 && job < i {
			continue
		}
		inside, why, err := n.firstFault()
		if err != nil {
			return -1, 0, err
		}
		if inside >= 0 {
			job, code = i, why
		}
	}
	return job, code, nil
}

func (m *Machine[T]) clearFault() error {
	err := m.on.CopyIn(context.Background(), m.fault, 0, []int32{0, 0})
	for _, n := range m.inner {
		err = errors.Join(err, n.clearFault())
	}
	m.faulty = err != nil
	return err
}

// explained lets the processor repeat a step that a kernel could not do, for the error with its
// numbers. Later jobs may have written where arrays that the step reads were, so those before it run again.
func (m *Machine[T]) explained(job, code int) error {
	for _, a := range m.plan.actions {
		if a.kind == launch && a.job == job {
			break
		}
		if err := m.act(a); err != nil {
			return err
		}
	}
	if err := m.clearFault(); err != nil {
		return err
	}
	j := m.p.Jobs[job]
	for _, b := range j.Reads() {
		if v := m.p.Buffers[b].Value; v.Data == nil && v.Ints == nil && (!m.isInput(b) || m.away(b)) {
			if err := m.fetch(b); err != nil {
				return err
			}
		}
	}
	if err := m.host.Step(job); err != nil {
		return err
	}
	return &faultError{fmt.Sprintf("autodiff: %s on %v: %s", j.Step.Op.Name, m.d, faults[code]), code}
}

// faultError is a fault of a kernel that the processor does not find, as where rounding decides it.
type faultError struct {
	text string
	code int
}

func (e *faultError) Error() string { return e.text }

// AtPoint marks a fault of these numbers rather than of the program: a sampler rejects the point.
func (e *faultError) AtPoint() bool { return e.code == FaultNotPositive || e.code == FaultSingular }

// Reals returns an array of reals in the processor's memory. That of an input is sent with every run
// from now on, that of an output fetched after every run.
func (m *Machine[T]) Reals(buf int) []T {
	m.hold(buf)
	return m.host.Reals(buf)
}

// Indices is Reals of an array of indices.
func (m *Machine[T]) Indices(buf int) []int64 {
	m.hold(buf)
	return m.host.Indices(buf)
}

// Span is Reals of arrays that lie one after another.
func (m *Machine[T]) Span(first, last int) []T {
	for b := first; b <= last; b++ {
		m.hold(b)
	}
	return m.host.Span(first, last)
}

// hold notes that somebody holds an array. What is on the device alone is fetched at once if there was a run.
func (m *Machine[T]) hold(buf int) {
	if m.held[buf] {
		return
	}
	m.held[buf] = true
	if m.runs > 0 && m.away(buf) {
		m.fetchLate(buf)
		delete(m.ahead, buf)
	}
}

// Late returns why an output could not be fetched after the last run, and forgets it.
func (m *Machine[T]) Late() error {
	err := m.late
	if m.late = nil; err == nil {
		return nil
	}
	return fmt.Errorf("autodiff: an output of the last run is missing: %w", err)
}

// fetchLate fetches an output for a caller that cannot be given an error: it finds no numbers then, and Late
// or the next Run returns the error.
func (m *Machine[T]) fetchLate(buf int) {
	err := m.fetch(buf)
	if err == nil {
		return
	}
	m.late = err
	for i, h := 0, m.host.Reals(buf); i < len(h); i++ {
		h[i] = T(math.NaN())
	}
	for i, h := 0, m.host.Indices(buf); i < len(h); i++ {
		h[i] = math.MinInt64
	}
}

// away reports whether an array is on the device alone after a run.
func (m *Machine[T]) away(buf int) bool {
	return m.plan.final[buf] == onDevice || m.isRemote(buf) || m.ahead[buf]
}

// Bind lets an input be read from data, which every run sends; nil restores the array.
func (m *Machine[T]) Bind(buf int, data []T) {
	if m.isRemote(buf) {
		delete(m.remote, buf)
		m.moved[buf] = true
	}
	if m.ahead[buf] {
		m.fetchLate(buf)
	}
	m.host.Bind(buf, data)
	m.bound[buf], m.changed[buf], m.held[buf] = data != nil, true, true
	delete(m.ahead, buf)
}

// Store sets an array to numbers, which the next run sends.
func (m *Machine[T]) Store(buf int, data []float64) {
	m.host.Store(buf, data)
	m.changed[buf] = true
	delete(m.ahead, buf)
}

// Load returns the numbers of an array. It does not make every run fetch them from now on.
func (m *Machine[T]) Load(buf int) []float64 {
	if m.runs > 0 && !m.held[buf] && m.away(buf) {
		m.fetchLate(buf)
	}
	return m.host.Load(buf)
}
