// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"context"
	"slices"

	"github.com/euryale-dev/euryale/internal/parallel"
	"github.com/euryale-dev/euryale/kernels/cuda"
)

// The tables of a packet. A row of each is a struct of cu/assembly.cu, which the comment names.
const (
	rowTable      = iota // Row
	changeTable          // Change
	pokeTable            // Poke
	targetTable          // Target
	intoTable            // Into
	lessTable            // Less
	learningTable        // Learning
	tableKinds
)

// layout says of each table how many words a row has, and which of them depend on where packets end up: places in
// the lists of the packet (0 for none), places in its results, and numbers of rows of its intoTable.
var layout = [tableKinds]struct {
	words                 int
	lists, results, intos []int
}{
	rowTable:      {words: 7},
	changeTable:   {words: 3},
	pokeTable:     {words: 3},
	targetTable:   {words: 10, intos: []int{3}, results: []int{7, 8}},
	intoTable:     {words: 7, lists: []int{4}},
	lessTable:     {words: 2},
	learningTable: {words: 12, lists: []int{3, 4, 5, 6}},
}

// packet is what one brain has for the device in one part of a step. Packets are made side by side and sent
// together, so a packet counts its places from its own start.
type packet struct {
	lists   []int32 // neurons, slots, and addresses in two halves
	tables  [tableKinds][]uint64
	results int            // words that the device writes for the brain
	held    []*cuda.Buffer // memory that nobody else has any more, but to which tables point
	at      struct {
		lists, results, intos int
		tables                [tableKinds]int
	} // where the lists, the results and the tables are among those of all packets, in words; intos in rows
}

// reset empties a packet and keeps its memory.
func (p *packet) reset() {
	p.lists, p.results, p.held = p.lists[:0], 0, nil
	for t := range p.tables {
		p.tables[t] = p.tables[t][:0]
	}
}

// add adds a row to a table.
func (p *packet) add(table int, words ...uint64) { p.tables[table] = append(p.tables[table], words...) }

// rows returns the number of rows of a table.
func (p *packet) rows(table int) int { return len(p.tables[table]) / layout[table].words }

// pair32 returns the word of two numbers.
func pair32(a, b int) uint64 { return uint64(uint32(a)) | uint64(uint32(b))<<32 }

func addressOf(b *cuda.Buffer) uint64 {
	if b == nil {
		return 0
	}
	return uint64(b.Uintptr())
}

// listBase is the place of the first list, in bytes, so that 0 is no place.
const listBase = 8

// begin returns the place of a list that is added next.
func (p *packet) begin() uint64 {
	if len(p.lists)%2 != 0 {
		p.lists = append(p.lists, 0)
	}
	return uint64(listBase + 4*len(p.lists))
}

// ints adds a list and returns its place.
func (p *packet) ints(list []int32) uint64 {
	at := p.begin()
	p.lists = append(p.lists, list...)
	return at
}

// slots adds the slots of neurons and returns the place of the list.
func (p *packet) slots(m *deviceArea, neurons []int32) uint64 {
	at := p.begin()
	for _, j := range neurons {
		p.lists = append(p.lists, m.slotOf(j))
	}
	return at
}

// bundle is the packets of all brains of a step on the device, joined in the order of the brains.
type bundle struct {
	words   []uint64
	buffer  *cuda.Buffer
	results *cuda.Buffer // a word that is not 0 if a row was too long, and then what the device writes for each packet
	size    int          // words of results
	first   [tableKinds]int
	rows    [tableKinds]int
}

// send joins packets, with lists first and then table by table, and copies them to the device.
func (u *bundle) send(g *device, workers int, packets ...*packet) (err error) {
	at := 0
	u.size = 1
	for _, p := range packets {
		p.at.lists, p.at.results = at, u.size
		at += (len(p.lists) + 1) / 2
		u.size += p.results
	}
	for t := range layout {
		u.first[t] = at
		for _, p := range packets {
			p.at.tables[t] = at
			at += len(p.tables[t])
		}
		u.rows[t] = (at - u.first[t]) / layout[t].words
	}
	for _, p := range packets {
		p.at.intos = (p.at.tables[intoTable] - u.first[intoTable]) / layout[intoTable].words
	}
	if u.results, err = g.zeros(8*u.size, "winners"); err != nil {
		return err
	}
	if u.buffer, err = g.alloc(8*at, "tables"); err != nil {
		return err
	}
	u.words = slices.Grow(u.words[:0], at)[:at]
	parallel.Do(workers, len(packets), func(_, k int) { u.put(packets[k]) })
	return g.on().CopyIn(context.Background(), u.buffer, 0, u.words)
}

// put writes a packet to its place in the bundle.
func (u *bundle) put(p *packet) {
	lists, results := addressOf(u.buffer)+8*uint64(p.at.lists)-listBase, addressOf(u.results)+8*uint64(p.at.results)
	to := u.words[p.at.lists:]
	for i, n := range p.lists {
		if i%2 == 0 {
			to[i/2] = uint64(uint32(n))
		} else {
			to[i/2] |= uint64(uint32(n)) << 32
		}
	}
	for t, words := range p.tables {
		l, to := &layout[t], u.words[p.at.tables[t]:][:len(words)]
		copy(to, words)
		if len(l.lists)+len(l.results)+len(l.intos) == 0 {
			continue
		}
		for ; len(to) > 0; to = to[l.words:] {
			for _, w := range l.lists {
				if to[w] != 0 {
					to[w] += lists
				}
			}
			for _, w := range l.results {
				to[w] += results
			}
			for _, w := range l.intos {
				to[w] += uint64(p.at.intos)
			}
		}
	}
}

// from returns a table from a row on.
func (u *bundle) from(table, row int) cuda.Part {
	return u.buffer.At(8 * (u.first[table] + row*layout[table].words))
}

// free gives the memory of the device back and keeps that of the processor.
func (u *bundle) free() {
	for _, b := range []*cuda.Buffer{u.buffer, u.results} {
		if b != nil {
			b.Free()
		}
	}
	u.buffer, u.results = nil, nil
}
