// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/kernels/cuda"
)

// count adds to a packet the rows of the neurons that started to fire and of those that stopped, or of all.
func (g *device) count(p *packet, b *Brain, f *fibre, m *deviceFibre) error {
	sources, of := f.from.winners, m.of
	before := b.marks(f.from.stored())
	for _, i := range of {
		before.add(i)
	}
	stay := 0
	for _, i := range sources {
		if before.has(i) {
			stay++
		}
	}
	var came, left []int32
	switch {
	case len(of)-stay >= stay:
		if err := g.on().Fill(m.counts, 0, 4*f.target.N, 0); err != nil {
			return err
		}
		came = sources
	case stay < max(len(sources), len(of)):
		came, left = make([]int32, 0, len(sources)-stay), make([]int32, 0, len(of)-stay)
		for _, i := range sources {
			if !before.has(i) {
				came = append(came, i)
			}
		}
		now := b.marks(f.from.stored())
		for _, i := range sources {
			now.add(i)
		}
		for _, i := range of {
			if !now.has(i) {
				left = append(left, i)
			}
		}
	}
	m.of = sources
	if err := g.rows(p, b, f, m, left, sources); err != nil {
		return err
	}
	for _, i := range left {
		p.add(changeTable, m.rowOf(i), addressOf(m.counts), pair32(-1, 0))
	}
	for _, i := range came {
		p.add(changeTable, m.rowOf(i), addressOf(m.counts), pair32(1, 0))
	}
	return nil
}

// rowOf returns the address of the row of a source neuron.
func (m *deviceFibre) rowOf(i int32) uint64 { return m.list[m.row[i]-1].address }

// rows makes sure that the rows of source neurons are on the device once the packet has been worked off.
func (g *device) rows(p *packet, b *Brain, f *fibre, m *deviceFibre, sources ...[]int32) error {
	if n := f.from.stored(); len(m.row) < n {
		m.row = append(m.row, make([]int32, n-len(m.row))...)
	}
	missing := b.room[:0]
	for _, list := range sources {
		for _, i := range list {
			if at := m.row[i]; at > 0 {
				m.list[at-1].rows.used = b.step
			} else {
				missing = append(missing, i)
			}
		}
	}
	b.room = missing
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	if !b.drawable(f) {
		return g.sendRows(b, f, m, missing)
	}
	t, err := g.gapsFor(f.P)
	if err != nil {
		return err
	}
	most := f.mostOf()
	rows, err := g.roomForRows(b, f, len(missing), 4*(most+1)*len(missing))
	if err != nil {
		return err
	}
	for k, i := range missing {
		at := m.place(i, rows, 4*(most+1)*k)
		without := -1
		if b.set.NoSelf && f.From == f.To {
			without = int(i)
		}
		p.add(rowTable, rowState(f.Seed, int(i)), at, 0, addressOf(t.upTo), addressOf(t.guide), pair32(len(gapsOf(f.P).upTo), most), pair32(f.N, without))
	}
	return nil
}

// place notes where the row of a source neuron is, and returns its address.
func (m *deviceFibre) place(source int32, rows *deviceRows, offset int) uint64 {
	at := addressOf(rows.Buffer) + uint64(offset)
	m.list = append(m.list, deviceRow{source, at, rows})
	m.row[source] = int32(len(m.list))
	return at
}

// rowState is the state of the random numbers of a row, as in gaps.append.
func rowState(seed uint64, source int) uint64 {
	return mix(seed ^ mix(uint64(source)+0x6A09E667F3BCC909))
}

// roomForRows allocates n rows; if memory is short it first gives up those of neurons that do not fire.
func (g *device) roomForRows(b *Brain, f *fibre, n, bytes int) (*deviceRows, error) {
	buffer, err := g.alloc(bytes, "connections")
	if errors.Is(err, cuda.ErrOutOfMemory) {
		for _, other := range g.fibres {
			other.forget(g, b.step)
		}
		buffer, err = g.alloc(bytes, "connections")
	}
	if err != nil {
		return nil, fmt.Errorf("assembly: %d rows of connections of %s>%s: %w", n, f.From, f.To, err)
	}
	g.drawn += bytes
	return &deviceRows{Buffer: buffer, used: b.step}, nil
}

// forget frees rows of which no neuron has fired since a step.
func (m *deviceFibre) forget(g *device, step int) {
	kept := m.list[:0]
	for _, r := range m.list {
		if r.rows.used >= step {
			kept = append(kept, r)
			m.row[r.source] = int32(len(kept))
			continue
		}
		m.row[r.source] = 0
		if !r.rows.freed {
			g.drawn -= r.rows.Size()
			r.rows.Free()
			r.rows.freed = true
		}
	}
	clear(m.list[len(kept):])
	m.list = kept
}

// sendRows copies rows to the device that only the processor can draw.
func (g *device) sendRows(b *Brain, f *fibre, m *deviceFibre, missing []int32) error {
	b.draw(f, missing)
	var all []int32
	starts := make([]int, len(missing))
	for k, i := range missing {
		starts[k] = len(all)
		all = append(all, 0)
		f.synapses.rows[i].links.each(func(j int32) { all = append(all, j) })
		all[starts[k]] = int32(len(all) - starts[k] - 1)
	}
	rows, err := g.roomForRows(b, f, len(missing), 4*len(all))
	if err != nil {
		return err
	}
	for k, i := range missing {
		m.place(i, rows, 4*starts[k])
	}
	return g.on().CopyIn(context.Background(), rows.Buffer, 0, all)
}
