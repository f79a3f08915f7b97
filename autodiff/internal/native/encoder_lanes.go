// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package native

import "encoding/binary"

// Instructions of AVX-512 on eight lanes (the same manual, section 2.7). Mask register 1 selects the lanes of arrays that are shorter.
var (
	opLoadLanes  = opcode{1, 0x10} // VMOVUPD
	opStoreLanes = opcode{1, 0x11}
	opUnpackHigh = opcode{1, 0x15} // VUNPCKHPD
	opSpread     = opcode{1, 0x19} // VBROADCASTSD, in map 0F38
)

// evex writes the prefix of an instruction whose operands are dst, a and a register b (0 for memory), and the opcode. more holds the bits for
// zeroing (0x80), one number for all lanes (0x10) and the mask register.
func (e *encoder) evex(o opcode, dst, a, b int8, more byte) {
	first := byte(0xf1) // all registers below 8, map 0F
	if o == opSpread {
		first = 0xf2
	}
	if dst >= 8 {
		first &^= 0x80
	}
	if b >= 8 {
		first &^= 0x20
	}
	e.lanes = true
	e.code = append(e.code, 0x62, first, 0x84|byte(^a&15)<<3|1, 0x48|more, o.code)
}

// wide writes dst = a op b.
func (e *encoder) wide(o opcode, dst, a, b int8) {
	e.evex(o, dst, a, b, 0)
	e.code = append(e.code, 0xc0|byte(dst&7)<<3|byte(b&7))
}

// wideMemory writes dst = a op memory, or a store of dst.
func (e *encoder) wideMemory(o opcode, dst, a int8, h home) {
	e.evex(o, dst, a, 0, 0)
	e.address(dst, h)
}

// masked loads or stores the first n lanes.
func (e *encoder) masked(o opcode, dst int8, h home, n int8) {
	more := byte(0)
	if n < Lanes {
		e.setMask(n)
		if more = 1; o == opLoadLanes {
			more = 0x81
		}
	}
	e.evex(o, dst, 0, 0, more)
	e.address(dst, h)
}

// address writes the operand of an instruction of AVX-512 in memory.
func (e *encoder) address(reg int8, h home) {
	if h.base == inPool {
		e.code = append(e.code, byte(reg&7)<<3|5)
		e.fixups = append(e.fixups, fixup{len(e.code), h.at})
		e.code = append(e.code, 0, 0, 0, 0)
		return
	}
	e.code = append(e.code, 0x80|byte(reg&7)<<3|addressed[h.base])
	e.code = binary.LittleEndian.AppendUint32(e.code, uint32(8*h.at))
}

// setMask selects the first n lanes in mask register 1.
func (e *encoder) setMask(n int8) {
	if e.mask == n {
		return
	}
	e.mask = n
	e.code = append(e.code, 0xbb, byte(1<<n-1), 0, 0, 0) // MOVL $mask, BX
	e.code = append(e.code, 0xc5, 0xf8, 0x92, 0xcb)      // KMOVW BX, K1
}

// narrow writes dst = a op b of four lanes (long 1) or two (long 0).
func (e *encoder) narrow(o opcode, long byte, dst, a, b int8) {
	at := len(e.code)
	e.prefix(opcode{1, o.code}, dst, a, b)
	if b < 8 {
		e.code[at+1] |= long << 2
	} else {
		e.code[at+2] |= long << 2
	}
	e.code = append(e.code, 0xc0|byte(dst&7)<<3|byte(b&7))
}

// extract puts lanes 4 to 7 of a register into dst.
func (e *encoder) extract(dst, from int8) {
	first := byte(0xf3) // map 0F3A
	if from >= 8 {
		first &^= 0x80
	}
	if dst >= 8 {
		first &^= 0x20
	}
	e.lanes = true
	e.code = append(e.code, 0x62, first, 0xfd, 0x48, 0x1b, 0xc0|byte(from&7)<<3|byte(dst&7), 1) // VEXTRACTF64X4
}

// extractHalf puts lanes 2 and 3 of a register into dst.
func (e *encoder) extractHalf(dst, from int8) {
	first := byte(0xe3)
	if from >= 8 {
		first &^= 0x80
	}
	if dst >= 8 {
		first &^= 0x20
	}
	e.code = append(e.code, 0xc4, first, 0x7d, 0x19, 0xc0|byte(from&7)<<3|byte(dst&7), 1) // VEXTRACTF128
}
