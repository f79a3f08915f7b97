// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mmcloughlin/avo/ir"
	"github.com/mmcloughlin/avo/operand"
)

const dataName = "numbers"

// dataPool is all constants of a file in one piece, so that a function needs one register to address them. A constant whose halves
// are equal is stored once.
type dataPool struct {
	offset map[string]int  // bytes from the start, by name
	once   map[string]bool // whether the halves are equal
	words  []uint32
}

// Constants of translations: the sign bits of every other lane, from the first or the second on, and the weights of lanes in a mask,
// of the lower half and then of the upper one.
const (
	evenSigns64, oddSigns64 = "even64", "odd64"
	evenSigns32, oddSigns32 = "even32", "odd32"
	weights64, weights32    = "weights64", "weights32"
)

func newDataPool(f *ir.File) *dataPool {
	d := &dataPool{offset: map[string]int{}, once: map[string]bool{}}
	for _, s := range f.Sections {
		if g, ok := s.(*ir.Global); ok {
			d.add(g.Symbol.Name, globalWords(g)...)
		}
	}
	const sign = 1 << 31
	d.add(evenSigns64, 0, sign, 0, 0, 0, sign, 0, 0)
	d.add(oddSigns64, 0, 0, 0, sign, 0, 0, 0, sign)
	d.add(evenSigns32, sign, 0, sign, 0, sign, 0, sign, 0)
	d.add(oddSigns32, 0, sign, 0, sign, 0, sign, 0, sign)
	d.add(weights64, 1, 0, 2, 0, 4, 0, 8, 0)
	d.add(weights32, 1, 2, 4, 8, 16, 32, 64, 128)
	return d
}

func (d *dataPool) add(name string, words ...uint32) {
	d.offset[name] = 4 * len(d.words)
	if len(words) == 8 && slices.Equal(words[:4], words[4:]) {
		d.once[name] = true
		words = words[:4]
	}
	d.words = append(d.words, words...)
}

func globalWords(g *ir.Global) []uint32 {
	w := make([]uint32, g.Size/4)
	for _, datum := range g.Data {
		i := datum.Offset / 4
		switch v := datum.Value.(type) {
		case operand.U64:
			w[i], w[i+1] = uint32(v), uint32(v>>32)
		case operand.U32:
			w[i] = uint32(v)
		default:
			panic(fmt.Sprintf("no translation of data %v of %s", v, g.Symbol.Name))
		}
	}
	return w
}

func (d *dataPool) String() string {
	var b strings.Builder
	b.WriteString("\n")
	for i := 0; i < len(d.words); i += 2 {
		fmt.Fprintf(&b, "DATA %s<>+%d(SB)/8, $0x%08x%08x\n", dataName, 4*i, d.words[i+1], d.words[i])
	}
	fmt.Fprintf(&b, "GLOBL %s<>(SB), RODATA|NOPTR, $%d\n", dataName, 4*len(d.words))
	return b.String()
}
