// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly

import (
	"context"
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/kernels/cuda"
)

// packet is what goes to the device for one part of a step: tables and lists, in one copy. Addresses within
// it are known once it has memory.
type packet struct {
	words    []uint64
	relative []int // words that are places in the packet
	buffer   *cuda.Buffer
	draws    table
	changes  table
	pokes    table
}

// table is a list of structs that is still growing.
type table struct {
	words    []uint64
	relative []int
	n        int
}

func (t *table) add(words ...any) {
	for _, w := range words {
		switch w := w.(type) {
		case uint64:
			t.words = append(t.words, w)
		case float64:
			t.words = append(t.words, math.Float64bits(w))
		case [2]int32:
			t.words = append(t.words, uint64(uint32(w[0]))|uint64(uint32(w[1]))<<32)
		case cuda.Part:
			t.words = append(t.words, addressOf(w))
		case *cuda.Buffer:
			t.words = append(t.words, addressOf(cuda.Part{Buffer: w}))
		case place8:
			t.relative = append(t.relative, len(t.words))
			t.words = append(t.words, uint64(w))
		default:
			panic(fmt.Sprintf("assembly: a %T in a table", w))
		}
	}
	t.n++
}

// place8 is a place in a packet, in words.
type place8 int

func addressOf(p cuda.Part) uint64 {
	if p.Buffer == nil {
		return 0
	}
	return uint64(p.Buffer.Uintptr()) + uint64(p.Offset)
}

// ints adds a list to a packet.
func (p *packet) ints(list []int32) place8 {
	at := len(p.words)
	for i := 0; i < len(list); i += 2 {
		w := uint64(uint32(list[i]))
		if i+1 < len(list) {
			w |= uint64(uint32(list[i+1])) << 32
		}
		p.words = append(p.words, w)
	}
	return place8(at)
}

// put adds a table to a packet and returns where it is.
func (p *packet) put(t table) int {
	at := len(p.words)
	for _, r := range t.relative {
		p.relative = append(p.relative, at+r)
	}
	p.words = append(p.words, t.words...)
	return 8 * at
}

// send copies the packet to the device.
func (p *packet) send(g *device) (err error) {
	if p.buffer, err = g.alloc(8*len(p.words), "tables"); err != nil {
		return err
	}
	base := uint64(p.buffer.Uintptr())
	for _, r := range p.relative {
		p.words[r] = base + 8*p.words[r]
	}
	return g.on().CopyIn(context.Background(), p.buffer, 0, p.words)
}

func (p *packet) free() {
	if p.buffer != nil {
		p.buffer.Free()
	}
}
