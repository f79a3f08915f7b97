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
	sources := f.from.winners
	came, left := sources, []int32(nil)
	before := b.marks(f.from.stored())
	for _, i := range m.of {
		before.add(i)
	}
	var fresh []int32
	for _, i := range sources {
		if !before.has(i) {
			fresh = append(fresh, i)
		}
	}
	if stay := len(sources) - len(fresh); len(m.of)-stay >= stay {
		if err := g.on().Fill(m.counts, 0, 4*f.target.N, 0); err != nil {
			return err
		}
	} else {
		came = fresh
		now := b.marks(f.from.stored())
		for _, i := range sources {
			now.add(i)
		}
		for _, i := range m.of {
			if !now.has(i) {
				left = append(left, i)
			}
		}
	}
	m.of = sources
	if err := g.rows(p, b, f, m, slices.Concat(left, sources)); err != nil {
		return err
	}
	for _, i := range left {
		p.changes.add(m.list[i].at, m.counts, [2]int32{-1})
	}
	for _, i := range came {
		p.changes.add(m.list[i].at, m.counts, [2]int32{1})
	}
	return nil
}

// rows makes sure that the rows of source neurons are on the device once the packet has been worked off.
func (g *device) rows(p *packet, b *Brain, f *fibre, m *deviceFibre, sources []int32) error {
	var missing []int32
	for _, i := range sources {
		if r, ok := m.list[i]; ok {
			r.rows.used = b.step
		} else if !slices.Contains(missing, i) || len(missing) < 64 {
			missing = append(missing, i)
		}
	}
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
	rows, err := g.roomForRows(b, f, m, missing, 4*(most+1)*len(missing))
	if err != nil {
		return err
	}
	for k, i := range missing {
		r := deviceRow{rows.At(4 * (most + 1) * k), rows}
		m.list[i] = r
		without := int32(-1)
		if b.set.NoSelf && f.From == f.To {
			without = i
		}
		p.draws.add(rowState(f.Seed, int(i)), r.at, uint64(0), t.upTo, t.guide, [2]int32{int32(len(gapsOf(f.P).upTo)), int32(most)}, [2]int32{int32(f.N), without})
	}
	return nil
}

// rowState is the state of the random numbers of a row, as in gaps.append.
func rowState(seed uint64, source int) uint64 {
	return mix(seed ^ mix(uint64(source)+0x6A09E667F3BCC909))
}

// roomForRows allocates rows; if memory is short it first gives up those of neurons that do not fire.
func (g *device) roomForRows(b *Brain, f *fibre, m *deviceFibre, sources []int32, bytes int) (*deviceRows, error) {
	buffer, err := g.alloc(bytes, "connections")
	if errors.Is(err, cuda.ErrOutOfMemory) {
		for _, other := range g.fibres {
			other.forget(g, b.step)
		}
		buffer, err = g.alloc(bytes, "connections")
	}
	if err != nil {
		return nil, fmt.Errorf("assembly: %d rows of connections of %s>%s: %w", len(sources), f.From, f.To, err)
	}
	g.drawn += bytes
	return &deviceRows{Buffer: buffer, sources: sources, used: b.step}, nil
}

// forget frees rows of which no neuron has fired since a step.
func (m *deviceFibre) forget(g *device, step int) {
	for _, i := range sortedSources(m.list) {
		if r, ok := m.list[i]; ok && r.rows.used < step {
			g.drawn -= r.rows.Size()
			r.rows.Free()
			for _, s := range r.rows.sources {
				delete(m.list, s)
			}
		}
	}
}

func sortedSources(list map[int32]deviceRow) []int32 {
	keys := make([]int32, 0, len(list))
	for i := range list {
		keys = append(keys, i)
	}
	slices.Sort(keys)
	return keys
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
	rows, err := g.roomForRows(b, f, m, missing, 4*len(all))
	if err != nil {
		return err
	}
	for k, i := range missing {
		m.list[i] = deviceRow{rows.At(4 * starts[k]), rows}
	}
	return g.on().CopyIn(context.Background(), rows.Buffer, 0, all)
}
