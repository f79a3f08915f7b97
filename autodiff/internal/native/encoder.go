// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package native

import "encoding/binary"

// encoder writes instructions of AVX on single numbers (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, section 2.3).
// The arguments of the code are in AX (First), CX (Second) and DX (scratch); constants stand behind the code.
type encoder struct {
	code   []byte
	pool   []uint64
	known  map[uint64]int32
	fixups []fixup
	lanes  bool // whether the current piece has instructions on lanes
	mask   int8 // number of lanes that the mask register selects; 0: unknown
}

// fixup is where the distance to a constant is to be written.
type fixup struct {
	at    int
	entry int32
}

// opcode is a prefix (0: none, 1: 66, 2: F3, 3: F2) and the opcode in map 0F.
type opcode struct{ prefix, code byte }

var (
	opLoad  = opcode{3, 0x10} // VMOVSD
	opStore = opcode{3, 0x11}
	opSqrt  = opcode{3, 0x51}
	opAnd   = opcode{1, 0x54} // VANDPD
	opXor   = opcode{1, 0x57} // VXORPD
	opAdd   = opcode{3, 0x58}
	opMul   = opcode{3, 0x59}
	opSub   = opcode{3, 0x5c}
	opDiv   = opcode{3, 0x5e}
)

// number returns the place of a constant in the pool. Each takes 16 bytes, as operands of packed instructions do.
func (e *encoder) number(low, high uint64) int32 {
	at, known := e.known[low]
	if !known {
		if e.known == nil {
			e.known = map[uint64]int32{}
		}
		at = int32(len(e.pool))
		e.known[low] = at
		e.pool = append(e.pool, low, high)
	}
	return at
}

// row returns the place of an array in the pool.
func (e *encoder) row(bits [Lanes]uint64) int32 {
	at := int32(len(e.pool))
	e.pool = append(e.pool, bits[:]...)
	return at
}

// prefix writes the prefix of an instruction whose operands are dst, a and a register b (0 for memory), and the opcode.
func (e *encoder) prefix(o opcode, dst, a, b int8) {
	rest := byte(^a&15)<<3 | o.prefix
	r := byte(0x80)
	if dst >= 8 {
		r = 0
	}
	if b < 8 {
		e.code = append(e.code, 0xc5, r|rest, o.code)
		return
	}
	e.code = append(e.code, 0xc4, r|0x40|0x01, rest, o.code) // the bit of b, inverted, is 0
}

// register writes dst = a op b.
func (e *encoder) register(o opcode, dst, a, b int8) {
	e.prefix(o, dst, a, b)
	e.code = append(e.code, 0xc0|byte(dst&7)<<3|byte(b&7))
}

// compare writes what a predicate says of a and b into dst, all bits 1 or 0 (VCMPSD).
func (e *encoder) compare(dst, a, b int8, predicate byte) {
	e.register(opcode{3, 0xc2}, dst, a, b)
	e.code = append(e.code, predicate)
}

// blend writes dst = x where the mask has its sign bit, else y (VBLENDVPD).
func (e *encoder) blend(dst, mask, x, y int8) {
	first := byte(0xe3) // map 0F3A
	if dst >= 8 {
		first &^= 0x80
	}
	if x >= 8 {
		first &^= 0x20
	}
	e.code = append(e.code, 0xc4, first, byte(^y&15)<<3|1, 0x4b, 0xc0|byte(dst&7)<<3|byte(x&7), byte(mask)<<4)
}

// memory writes dst = a op memory, or a store of dst. Loads and stores have no a, which is 0.
func (e *encoder) memory(o opcode, dst, a int8, h home) {
	e.prefix(o, dst, a, 0)
	reg := byte(dst&7) << 3
	switch {
	case h.base == inPool:
		e.code = append(e.code, reg|5)
		e.fixups = append(e.fixups, fixup{len(e.code), h.at})
		e.code = append(e.code, 0, 0, 0, 0)
	case -16 <= h.at && h.at < 16:
		e.code = append(e.code, 0x40|reg|addressed[h.base], byte(8*h.at))
	default:
		e.code = append(e.code, 0x80|reg|addressed[h.base])
		e.code = binary.LittleEndian.AppendUint32(e.code, uint32(8*h.at))
	}
}

// addressed are the registers that hold the addresses of memories.
var addressed = [...]byte{inFirst: 0, inSecond: 1, inScratch: 2}

// ret ends a piece. What follows must not find registers of lanes in use, which would slow it down.
func (e *encoder) ret() {
	if e.lanes {
		e.code = append(e.code, 0xc5, 0xf8, 0x77) // VZEROUPPER
	}
	e.code = append(e.code, 0xc3)
}

// finished returns the code with its constants behind it.
func (e *encoder) finished() []byte {
	for len(e.code)%16 != 0 {
		e.code = append(e.code, 0xcc)
	}
	for _, f := range e.fixups {
		binary.LittleEndian.PutUint32(e.code[f.at:], uint32(len(e.code)+8*int(f.entry)-(f.at+4)))
	}
	for _, x := range e.pool {
		e.code = binary.LittleEndian.AppendUint64(e.code, x)
	}
	return e.code
}
