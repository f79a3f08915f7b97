// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// Go's assembler lacks most vector instructions of floating point on arm64, so that they are written as words, each with its
// meaning in a comment; a test of package kernels assembles the comments and compares.
//
// Reference: Arm Architecture Reference Manual for A-profile (DDI 0487), section C7.2.

// code is the encoding of an instruction with operands d, n and m for vectors of four float32.
type code struct {
	bits  uint32
	kind  codeKind
	after string // the end of the text
}

type codeKind int

const (
	sized codeKind = iota // bit 22 is set for vectors of two float64
	whole                 // the lanes do not matter
)

var codes = map[string]code{
	"fadd": {bits: 0x4E20D400}, "fsub": {bits: 0x4EA0D400}, "fmul": {bits: 0x6E20DC00}, "fdiv": {bits: 0x6E20FC00},
	"fmla": {bits: 0x4E20CC00}, "fmls": {bits: 0x4EA0CC00}, "fmax": {bits: 0x4E20F400}, "fmin": {bits: 0x4EA0F400},
	"fcmeq": {bits: 0x4E20E400}, "fcmge": {bits: 0x6E20E400}, "fcmgt": {bits: 0x6EA0E400},
	"fsqrt": {bits: 0x6EA1F800}, "fneg": {bits: 0x6EA0F800},
	"frintn": {bits: 0x4E218800}, "frintm": {bits: 0x4E219800}, "frintp": {bits: 0x4EA18800}, "frintz": {bits: 0x4EA19800},
	"add": {bits: 0x4EA08400}, "sub": {bits: 0x6EA08400}, "cmlt": {bits: 0x4EA0A800, after: ", #0"},
	"umaxp": {bits: 0x6EA0A400},
	"zip1":  {bits: 0x4E803800}, "zip2": {bits: 0x4E807800}, "uzp1": {bits: 0x4E801800}, "uzp2": {bits: 0x4E805800},
	"trn1": {bits: 0x4E802800}, "trn2": {bits: 0x4E806800}, "rev64": {bits: 0x4EA00800},
	"and": {bits: 0x4E201C00, kind: whole}, "orr": {bits: 0x4EA01C00, kind: whole}, "eor": {bits: 0x6E201C00, kind: whole},
	"bsl": {bits: 0x6E601C00, kind: whole}, "bit": {bits: 0x6EA01C00, kind: whole}, "bif": {bits: 0x6EE01C00, kind: whole},
	"mvn": {bits: 0x6E205800, kind: whole},
}

// vector writes an instruction of vectors: its destination and then its operands.
func (t *translation) vector(name string, double bool, registers ...int) {
	c, ok := codes[name]
	if !ok {
		panic("no code of " + name)
	}
	bits, lanes := c.bits, ".4s"
	switch {
	case c.kind == whole:
		lanes = ".16b"
	case double:
		bits, lanes = bits|1<<22, ".2d"
	}
	text := name
	for i, r := range registers {
		bits |= uint32(r) << [3]int{0, 5, 16}[i]
		text += fmt.Sprintf("%s v%d%s", [3]string{"", ",", ","}[i], r, lanes)
	}
	t.word(bits, "%s", text+c.after)
}

// word writes the bits of an instruction.
func (t *translation) word(bits uint32, format string, a ...any) {
	t.line("WORD $0x%08x // %s", bits, fmt.Sprintf(format, a...))
}

func (t *translation) copyVector(d, n int) {
	t.word(0x4EA01C00|uint32(n)<<16|uint32(n)<<5|uint32(d), "mov v%d.16b, v%d.16b", d, n)
}

func (t *translation) zero(d int) { t.word(0x6F00E400|uint32(d), "movi v%d.2d, #0", d) }

// byLane multiplies with the first lane of m: "fmul", "fmla" or "fmls".
func (t *translation) byLane(name string, double bool, d, n, m int) {
	bits := map[string]uint32{"fmul": 0x4F809000, "fmla": 0x4F801000, "fmls": 0x4F805000}[name]
	lanes, lane := "4s", "s"
	if double {
		bits, lanes, lane = bits|1<<22, "2d", "d"
	}
	t.word(bits|uint32(m)<<16|uint32(n)<<5|uint32(d), "%s v%d.%s, v%d.%s, v%d.%s[0]", name, d, lanes, n, lanes, m, lane)
}

// laneBits is the field that selects a lane, and the letter of its size.
func laneBits(double bool, lane int) (bits uint32, letter string) {
	if double {
		return uint32(lane)<<4 | 8, "d"
	}
	return uint32(lane)<<3 | 4, "s"
}

// spreadLane copies a lane of n to all lanes of d.
func (t *translation) spreadLane(double bool, d, n, lane int) {
	b, s := laneBits(double, lane)
	lanes := "4s"
	if double {
		lanes = "2d"
	}
	t.word(0x4E000400|b<<16|uint32(n)<<5|uint32(d), "dup v%d.%s, v%d.%s[%d]", d, lanes, n, s, lane)
}

// insertLane copies lane j of n to lane i of d.
func (t *translation) insertLane(double bool, d, i, n, j int) {
	b, s := laneBits(double, i)
	size := 2
	if double {
		size = 3
	}
	t.word(0x6E000400|b<<16|uint32(j)<<(11+size)|uint32(n)<<5|uint32(d), "mov v%d.%s[%d], v%d.%s[%d]", d, s, i, n, s, j)
}

// readLane copies a lane of n to a general register.
func (t *translation) readLane(double bool, n, lane int, to int) {
	b, s := laneBits(double, lane)
	bits, name := uint32(0x0E003C00), "w"
	if double {
		bits, name = 0x4E003C00, "x"
	}
	t.word(bits|b<<16|uint32(n)<<5|uint32(to), "mov %s%d, v%d.%s[%d]", name, to, n, s, lane)
}

// turn takes the last 8 bytes of n and the first 8 of m.
func (t *translation) turn(d, n, m int) {
	t.word(0x6E000000|8<<11|uint32(m)<<16|uint32(n)<<5|uint32(d), "ext v%d.16b, v%d.16b, v%d.16b, #8", d, n, m)
}

// shift writes a shift by a constant: "shl" or "ushr".
func (t *translation) shift(name string, double bool, d, n, by int) {
	size, lanes := 32, "4s"
	if double {
		size, lanes = 64, "2d"
	}
	bits := uint32(0x4F005400) | uint32(size+by)<<16
	if name == "ushr" {
		bits = 0x6F000400 | uint32(2*size-by)<<16
	}
	t.word(bits|uint32(n)<<5|uint32(d), "%s v%d.%s, v%d.%s, #%d", name, d, lanes, n, lanes, by)
}

// widen converts two float32 to float64, the lower ones or the upper ones.
func (t *translation) widen(d, n, upper int) {
	if upper == 0 {
		t.word(0x0E617800|uint32(n)<<5|uint32(d), "fcvtl v%d.2d, v%d.2s", d, n)
		return
	}
	t.word(0x4E617800|uint32(n)<<5|uint32(d), "fcvtl2 v%d.2d, v%d.4s", d, n)
}

// narrow takes the lower half of each lane of 64 bits.
func (t *translation) narrow(d, n int) {
	t.word(0x0EA12800|uint32(n)<<5|uint32(d), "xtn v%d.2s, v%d.2d", d, n)
}

// longProduct multiplies pairs of numbers of 32 bits.
func (t *translation) longProduct(d, n, m int) {
	t.word(0x2EA0C000|uint32(m)<<16|uint32(n)<<5|uint32(d), "umull v%d.2d, v%d.2s, v%d.2s", d, n, m)
}

// total adds the lanes of n.
func (t *translation) total(double bool, d, n int) {
	if double {
		t.word(0x5EF1B800|uint32(n)<<5|uint32(d), "addp d%d, v%d.2d", d, n)
		return
	}
	t.word(0x4EB1B800|uint32(n)<<5|uint32(d), "addv s%d, v%d.4s", d, n)
}
