// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"errors"
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/kernels/cuda"
)

// extend gives a stimulus the synapses onto neurons of a lazy area that are new.
func (m *deviceFibre) extend(g *device, p *packet, f *fibre) (err error) {
	n := len(f.inputs)
	if n > m.room {
		m.room = n + n/2 + 8*f.target.K
		inputs, total := m.inputs, m.total
		if m.inputs, err = g.zeros(4*m.room, "stimuli"); err != nil {
			return err
		}
		if m.total, err = g.zeros(8*m.room, "stimuli"); err != nil {
			return err
		}
		if m.known > 0 {
			if err = errors.Join(g.on().Copy(m.inputs, 0, inputs, 0, 4*m.known), g.on().Copy(m.total, 0, total, 0, 8*m.known)); err != nil {
				return err
			}
		}
	}
	for ; m.known < n; m.known++ {
		p.add(pokeTable, addressOf(m.inputs)+4*uint64(m.known), uint64(uint32(f.inputs[m.known])), 2)
		p.add(pokeTable, addressOf(m.total)+8*uint64(m.known), math.Float64bits(f.total[m.known]), 1)
	}
	return nil
}

// settlePending makes room for the weights of a fibre and adds to a packet those that the device does not have.
func (g *device) settlePending(p *packet, b *Brain, f *fibre, m *deviceFibre) error {
	if len(m.pending) == 0 {
		return nil
	}
	from, to, err := g.ends(f)
	if err != nil {
		return err
	}
	slots := make([]link, len(m.pending))
	for k, l := range m.pending {
		slots[k] = link{from.slotOf(l.from), to.slotOf(l.to), l.weight}
	}
	if err := g.widen(f, m, from.slots, to.slots); err != nil {
		return err
	}
	weights := addressOf(m.weights)
	for _, l := range slots {
		p.add(pokeTable, weights+uint64(g.width()*(int(l.from)*m.stride+int(l.to))), math.Float64bits(l.weight), 0)
	}
	m.pending = m.pending[:0]
	return nil
}

// ends returns the areas of a fibre between areas.
func (g *device) ends(f *fibre) (from, to *deviceArea, err error) {
	if from, err = g.area(f.from); err == nil {
		to, err = g.area(f.target)
	}
	return from, to, err
}

// widen makes room for the weights between so many slots.
func (g *device) widen(f *fibre, m *deviceFibre, rows, columns int) error {
	if rows <= m.rows && columns <= m.stride {
		return nil
	}
	grow := func(have, want int) int {
		if want <= have {
			return have
		}
		return (want + want/4 + 63) / 64 * 64
	}
	newRows, newStride := grow(m.rows, rows), grow(m.stride, columns)
	to, err := g.alloc(g.width()*newRows*newStride, "weights")
	if err != nil {
		return fmt.Errorf("assembly: weights between %d and %d neurons of %s>%s: %w", newRows, newStride, f.From, f.To, err)
	}
	other := -20000.0 // no synapse
	if f.synapses != nil {
		other = -30000 // not looked for yet
	}
	var from any
	if m.weights != nil {
		from = m.weights
	}
	err = g.launch("widen", cuda.Dim{X: blocksFor(newRows*newStride, threads)}, cuda.Dim{X: threads}, from, to, int32(m.rows), int32(m.stride), int32(newRows), int32(newStride), other)
	if err != nil {
		return err
	}
	if m.weights != nil {
		m.weights.Free()
	}
	m.weights, m.rows, m.stride = to, newRows, newStride
	return nil
}

// tell adds to a packet the neurons of slots that are new.
func (g *device) tell(p *packet, m *deviceArea) error {
	if m.slot == nil || m.told == m.slots {
		return nil
	}
	if m.neurons == nil || m.neurons.Size() < 4*m.slots {
		n, err := g.alloc(4*(2*m.slots+64), "slots")
		if err != nil {
			return err
		}
		p.held = append(p.held, m.neurons) // the packet may write to it yet
		m.neurons, m.told = n, 0
	}
	for ; m.told < m.slots; m.told++ {
		p.add(pokeTable, addressOf(m.neurons)+4*uint64(m.told), uint64(uint32(m.order[m.told])), 2)
	}
	return nil
}
