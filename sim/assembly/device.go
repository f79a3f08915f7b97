// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

// A brain on a GPU keeps there what a step reads: rows of connections, which the device draws, counts of them,
// and the weights between neurons that have ever fired or won, as a dense matrix by slots, which number such
// neurons in the order in which they first do. What a step chooses, and the few new neurons of lazy
// areas, are for the processor, which also writes a log of what was learnt. The processor's own weights follow
// from that log when somebody asks for them, or when the device is lost.

//go:embed cu/assembly.cu
var deviceText string

// device is what a brain has on a GPU.
type device struct {
	d       *cuda.Device
	half    bool // weights are float16
	modules *cuda.Module
	areas   map[*area]*deviceArea
	fibres  map[*fibre]*deviceFibre
	gaps    map[float64]*deviceGaps
	drawn   int // bytes of rows of connections
}

// deviceArea is the memory of an area.
type deviceArea struct {
	x       *cuda.Buffer // inputs of the stored neurons
	work    *cuda.Buffer // key, histogram and tallies
	stored  int          // neurons that x has room for
	slot    []int32      // slot of each neuron, -1 without; nil for a lazy area, whose neurons are slots
	neurons *cuda.Buffer // neuron of each slot
	slots   int
	told    int     // slots whose neuron the device knows
	order   []int32 // neuron of each slot
}

// deviceFibre is the memory of a fibre.
type deviceFibre struct {
	inputs, total *cuda.Buffer // of a stimulus
	known         int          // neurons of a lazy target that these hold
	room          int          // neurons that they have room for
	scale         *cuda.Buffer

	counts       *cuda.Buffer // synapses onto each neuron from those in of
	of           []int32
	weights      *cuda.Buffer // by slots
	rows, stride int          // slots that weights has room for
	row          []int32      // where the row of each source neuron is in list, from 1 on; 0 if it is not there
	list         []deviceRow
	pending      []link // synapses onto or from new neurons of lazy areas that the device does not have yet
}

// link is a synapse and its weight.
type link struct {
	from, to int32
	weight   float64
}

// deviceRow is where the connections of a source neuron are: their number, and then the targets.
type deviceRow struct {
	source  int32
	address uint64
	rows    *deviceRows
}

// deviceRows is a buffer with rows that were drawn together.
type deviceRows struct {
	*cuda.Buffer
	used  int // last step in which one of the neurons fired
	freed bool
}

// deviceGaps is a table of gaps.
type deviceGaps struct{ upTo, guide *cuda.Buffer }

// learnt is what a step taught the fibres into one target.
type learnt struct {
	target  *area
	fibres  []taught
	winners []int32
	to      int // changes of the target
	step    int
}

// taught is a fibre that learns, and from where.
type taught struct {
	*fibre
	growth  growth
	sources []int32
}

// mostLearnt is the number of winners in the log from which on it is applied.
const mostLearnt = 1 << 26

// ErrBackend says that a brain cannot run on the backend that it was given.
var ErrBackend = errors.New("assembly: the brain cannot run on this backend")

// SetBackend sets the backend on which steps run; see Settings.Backend.
func (b *Brain) SetBackend(backend ad.Backend) {
	b.detach()
	b.set.Backend, b.asked = backend, 0
}

// attach moves the steps of a brain to the GPU that its backend names, if that is what the backend wants.
func (b *Brain) attach(p *Plan, backend ad.Backend) error {
	work, least := b.sizes(p)
	return b.attachFor(work, least, backend)
}

func (b *Brain) attachFor(work, least int, backend ad.Backend) error {
	if b.prof != nil { // which counts the processor's work
		b.detach()
		return nil
	}
	if b.gpu != nil {
		return nil
	}
	if ad.OnProcessor(backend) {
		return nil
	}
	half := false
	for _, c := range ad.GPUs(backend) {
		switch c.Storage {
		case "":
		case ad.Float16:
			half = true
		default:
			return fmt.Errorf("%w: its weights are stored as %s: want float64, which is without Storage, or Float16", ErrBackend, c.Storage)
		}
	}
	if work <= 2*b.asked {
		return nil // the processor, as before
	}
	d, err := ad.DeviceFor(backend, ad.Need{Name: fmt.Sprintf("a brain of %d neurons", b.neurons()), Work: work, Least: least})
	if err != nil {
		return err
	}
	if d == nil {
		b.asked = work
		return nil
	}
	g := &device{d: d, half: half, areas: map[*area]*deviceArea{}, fibres: map[*fibre]*deviceFibre{}, gaps: map[float64]*deviceGaps{}}
	if g.modules, err = d.Compile(deviceSource(half)); err != nil {
		return err
	}
	b.gpu = g
	return nil
}

// deviceSource is the program of all kernels.
func deviceSource(half bool) rtc.Source {
	text := "typedef double W;\n"
	if half {
		text = "#ifdef __CUDACC_RTC__\n#pragma nv_diag_suppress 177 // functions that are not used\n#endif\n" + cuda.Narrow + "typedef eu_f16 W;\n"
	}
	return rtc.Source{Name: "assembly.cu", Text: text + deviceText}
}

func (b *Brain) neurons() (n int) {
	for _, a := range b.areas {
		n += a.N
	}
	return n
}

// sizes returns the bytes that a step of a plan goes through, and those without which it cannot run.
func (b *Brain) sizes(p *Plan) (work, least int) {
	for _, t := range p.targets {
		n := t.N
		if t.Lazy {
			n = min(t.N, t.stored()+8*t.K)
		}
		work += 16 * n
		least += 16*n + 16*t.K
		for _, f := range t.fibres {
			least += 4 * n
			if f.stimulus == nil {
				work += int(4 * float64(f.from.K) * f.P * float64(n))
				least += int(4*float64(f.from.K)*f.P*float64(n)) + 8*f.from.K*t.K
			} else {
				work, least = work+12*n, least+8*n
			}
		}
	}
	return work, least
}

// detach applies what was learnt on the device and forgets it.
func (b *Brain) detach() {
	b.settle()
	b.gpu = nil
}

// settle brings the processor's weights up to date with what the device has learnt.
func (b *Brain) settle() {
	if len(b.log) == 0 {
		return
	}
	gpu := b.gpu
	b.gpu = nil
	for _, l := range b.log {
		b.markWinners(l.target.stored(), l.winners, 1)
		for _, f := range l.fibres {
			f.recent = f.recent.invalid()
			b.strengthen(f.fibre, f.growth, f.sources, l.winners, l.to)
			f.recent = f.recent.invalid()
		}
		b.markWinners(l.target.stored(), l.winners, 0)
	}
	b.log, b.logged, b.gpu = nil, 0, gpu
}

// remember puts what a target learns in a step into the log.
func (b *Brain) remember(t *target) {
	winners := t.round.Winners
	if b.frozen || len(winners) == 0 || t.round.idle {
		return
	}
	l := learnt{target: t.area, fibres: make([]taught, 0, len(t.active)), winners: winners, to: t.changesWith(t.round), step: b.step}
	for _, f := range t.active {
		if g := f.growth(b); !g.none() && f.firing() > 0 {
			l.fibres = append(l.fibres, taught{f, g, f.sources()})
			b.logged += len(f.sources())
		}
	}
	b.log = append(b.log, l)
	b.logged += len(winners)
}

// linked notes a synapse of a lazy area for the device.
func (b *Brain) linked(f *fibre, from []int32, to int32) {
	if b.gpu == nil {
		return
	}
	if m := b.gpu.fibres[f]; m != nil {
		for _, i := range from {
			m.pending = append(m.pending, link{i, to, 1})
		}
	}
}

// linkedFrom is linked for the synapses of one source neuron.
func (b *Brain) linkedFrom(f *fibre, from int32, to []int32) {
	if b.gpu == nil {
		return
	}
	if m := b.gpu.fibres[f]; m != nil {
		for _, j := range to {
			m.pending = append(m.pending, link{from, j, 1})
		}
	}
}

// function returns a kernel.
func (g *device) function(name string) (*cuda.Function, error) { return g.modules.Function(name) }

// on is the stream of all work: brains on one device share it, so that they can share launches.
func (g *device) on() *cuda.Stream { return g.d.Default() }

func (g *device) alloc(bytes int, tag string) (*cuda.Buffer, error) {
	return g.on().AllocTagged(max(bytes, 8), "assembly "+tag)
}

func (g *device) zeros(bytes int, tag string) (*cuda.Buffer, error) {
	m, err := g.alloc(bytes, tag)
	if err == nil {
		err = g.on().Fill(m, 0, max(bytes, 8), 0)
	}
	return m, err
}

// copied returns a buffer with some numbers and room for n of them.
func copied[T int32 | uint32 | float64](g *device, v []T, n int, tag string) (*cuda.Buffer, error) {
	var one any = *new(T)
	size := 4
	if _, ok := one.(float64); ok {
		size = 8
	}
	m, err := g.zeros(size*max(n, len(v)), tag)
	if err == nil {
		err = g.on().CopyIn(context.Background(), m, 0, v)
	}
	return m, err
}

// width is the size of a weight.
func (g *device) width() int {
	if g.half {
		return 2
	}
	return 8
}

// area returns the memory of an area with room for its stored neurons.
func (g *device) area(a *area) (*deviceArea, error) {
	m := g.areas[a]
	if m == nil {
		m = &deviceArea{}
		if !a.Lazy {
			m.slot = slices.Repeat([]int32{-1}, a.N)
		}
		g.areas[a] = m
	}
	if n := a.stored(); m.x == nil || m.stored < n {
		room := n
		if a.Lazy {
			room = min(a.N, n+n/2+8*a.K)
		}
		x, err := g.alloc(8*room, "inputs")
		if err != nil {
			return nil, err
		}
		work, err := g.zeros(keyBytes+histBytes+8*tilesOf(room), "histograms")
		if err != nil {
			return nil, err
		}
		m.x, m.work, m.stored = x, work, room
	}
	if a.Lazy {
		m.slots = a.stored()
	}
	return m, nil
}

// tile is the number of neurons that a block compares at a time.
const tile = 2048

func tilesOf(n int) int { return (n + tile - 1) / tile }

// slotOf returns the slot of a neuron, a new one if it has none.
func (m *deviceArea) slotOf(j int32) int32 {
	if m.slot == nil {
		return j
	}
	if m.slot[j] < 0 {
		m.slot[j] = int32(m.slots)
		m.order = append(m.order, j)
		m.slots++
	}
	return m.slot[j]
}

// fibre returns the memory of a fibre, with the synapses that the processor knows.
func (g *device) fibre(b *Brain, f *fibre) (*deviceFibre, error) {
	if m := g.fibres[f]; m != nil {
		return m, nil
	}
	m := &deviceFibre{}
	var err error
	if f.scale != nil {
		if m.scale, err = copied(g, f.scale, 0, "scales"); err != nil {
			return nil, err
		}
	}
	switch {
	case f.stimulus != nil:
		m.known, m.room = len(f.inputs), len(f.inputs)
		if f.target.Lazy {
			m.room += m.room/2 + 8*f.target.K
		}
		if m.inputs, err = copied(g, f.inputs, m.room, "stimuli"); err == nil {
			m.total, err = copied(g, f.total, m.room, "stimuli")
		}
	case f.synapses != nil:
		if m.counts, err = g.zeros(4*f.target.N, "counts"); err != nil {
			return nil, err
		}
		for i, r := range f.synapses.rows {
			for k, j := range r.to {
				m.pending = append(m.pending, link{i, j, r.weight[k]})
			}
		}
		slices.SortFunc(m.pending, func(a, b link) int { return int(a.from) - int(b.from) }) // maps have no order
	default:
		for i := range int32(f.rows.sources()) {
			f.rows.each(i, func(j int32, w float32) { m.pending = append(m.pending, link{i, j, float64(w)}) })
		}
	}
	if err != nil {
		return nil, err
	}
	g.fibres[f] = m
	return m, nil
}

// gapsFor returns the table of a probability, or nil if it is too long.
func (g *device) gapsFor(p float64) (*deviceGaps, error) {
	t := gapsOf(p)
	if t.guide == nil {
		return nil, nil
	}
	if m := g.gaps[p]; m != nil {
		return m, nil
	}
	m := &deviceGaps{}
	var err error
	if m.upTo, err = copied(g, t.upTo, 0, "tables"); err == nil {
		m.guide, err = copied(g, t.guide, 0, "tables")
	}
	if err != nil {
		return nil, err
	}
	g.gaps[p] = m
	return m, nil
}

// drawable reports whether the device can draw the connections of a fibre as the processor does.
func (b *Brain) drawable(f *fibre) bool {
	return b.set.Connect == nil && !f.given && f.P > 0 && f.P < 1 && gapsOf(f.P).guide != nil
}

// mostOf returns more connections than a row of a fibre has but once in 1e20 rows.
func (f *fibre) mostOf() int {
	mean := f.P * float64(f.N)
	return min(f.N, int(mean+10*math.Sqrt(mean)+40))
}

// countOnDevice counts the synapses from a stimulus to each neuron of an area on the GPU, if the brain has
// one that can draw them, and reports whether it did.
func (b *Brain) countOnDevice(f *fibre) (done bool, err error) {
	if f.target.Lazy || f.stimulus.size == 0 || !b.drawable(f) {
		return false, nil
	}
	if err := b.attachFor(int(4*float64(f.stimulus.size)*f.P*float64(f.N)), 8*f.N, b.set.Backend); err != nil || b.gpu == nil {
		return false, err
	}
	if err := b.gpu.countStimulus(f); err != nil {
		return false, fmt.Errorf("assembly: synapses of %s>%s: %w", f.From, f.To, err)
	}
	return true, nil
}

// countStimulus draws the rows of a stimulus, keeps none of them, and fetches the counts.
func (g *device) countStimulus(f *fibre) error {
	t, err := g.gapsFor(f.P)
	if err != nil {
		return err
	}
	counts, err := g.zeros(4*f.N, "counts")
	if err != nil {
		return err
	}
	defer counts.Free()
	var p packet
	for i := range f.stimulus.size {
		p.add(rowTable, rowState(f.Seed, i), 0, addressOf(counts), addressOf(t.upTo), addressOf(t.guide), pair32(len(gapsOf(f.P).upTo), 0), pair32(f.N, -1))
	}
	var u bundle
	defer u.free()
	if err := u.send(g, 1, &p); err != nil {
		return err
	}
	if err := g.prepare(&u); err != nil {
		return err
	}
	return g.on().CopyOut(context.Background(), f.inputs, counts, 0)
}
