// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// machine emits arithmetic for one instruction set and one element type. Its methods look like arithmetic: they take
// values, return a new virtual register and leave their operands alone, except the ones that say otherwise.
type machine struct {
	wide   bool // AVX-512; otherwise AVX2 with FMA
	double bool // float64; otherwise float32
	neon   bool // code of AVX2 to be translated
}

// value is a register or a constant.
type value interface{}

// constant is a number of the element type; bits sets the pattern directly.
type constant struct{ bits uint64 }

// mask is the result of a comparison: an opmask register or a vector of all-ones lanes.
type mask = reg.Register

func (m machine) lanes() int { return m.bytes() / m.size() }
func (m machine) bytes() int {
	if m.wide {
		return 64
	}
	return 32
}
func (m machine) size() int {
	if m.double {
		return 8
	}
	return 4
}

// suffix names the stubs of this machine, such as F64AVX512.
func (m machine) suffix() string {
	s := "F32"
	if m.double {
		s = "F64"
	}
	return s + m.level()
}

func (m machine) goType() string {
	if m.double {
		return "float64"
	}
	return "float32"
}

func (m machine) new() reg.VecVirtual {
	if m.wide {
		return ZMM()
	}
	return YMM()
}

// num is the constant v, pick chooses it by element type.
func (m machine) num(v float64) constant {
	if m.double {
		return constant{math.Float64bits(v)}
	}
	return constant{uint64(math.Float32bits(float32(v)))}
}
func (m machine) pick(d, s float64) constant {
	if m.double {
		return m.num(d)
	}
	return m.num(s)
}
func (m machine) raw(d uint64, s uint32) constant {
	if m.double {
		return constant{d}
	}
	return constant{uint64(s)}
}
func (m machine) sign() constant { return m.raw(1<<63, 1<<31) }
func (m machine) rest() constant { return m.raw(1<<63-1, 1<<31-1) }

// magic added to a small number leaves its nearest integer in the low bits.
func (m machine) magic() constant { return m.pick(0x1.8p52, 0x1.8p23) }

// memory returns the place of a constant: 32 bytes of copies, so that AVX2 can use it as a full operand; AVX-512
// broadcasts the first.
func (m machine) memory(c constant) operand.Mem {
	name := fmt.Sprintf("c%d_%x", m.size()*8, c.bits)
	if at, ok := constants[name]; ok {
		return at
	}
	at := GLOBL(name, 8|16) // RODATA|NOPTR
	for off := 0; off < 32; off += m.size() {
		if m.double {
			DATA(off, operand.U64(c.bits))
		} else {
			DATA(off, operand.U32(uint32(c.bits)))
		}
	}
	constants[name] = at
	return at
}

var constants = map[string]operand.Mem{}

// load returns v in a register.
func (m machine) load(v value) reg.VecVirtual {
	c, ok := v.(constant)
	if !ok {
		return v.(reg.VecVirtual)
	}
	r := m.new()
	m.do("broadcast", m.memory(c), r)
	return r
}

// do emits the instruction of the element type; a constant first operand becomes memory.
func (m machine) do(name string, ops ...operand.Op) {
	e, ok := instructions[name]
	if !ok {
		panic("no instruction " + name)
	}
	i := 1
	if m.double {
		i = 0
	}
	e[i](ops...)
}

// last emits an instruction whose last source (first in Go's order, after lead) may be a constant.
func (m machine) last(name string, lead []operand.Op, v value, rest ...operand.Op) {
	c, ok := v.(constant)
	switch {
	case !ok:
		m.do(name, append(append(lead, v.(reg.VecVirtual)), rest...)...)
	case m.wide:
		m.do(name+".b", append(append(lead, m.memory(c)), rest...)...)
	default:
		m.do(name, append(append(lead, m.memory(c)), rest...)...)
	}
}

func (m machine) two(name string, a, b value) reg.VecVirtual {
	r := m.new()
	m.last(name, nil, b, m.load(a), r)
	return r
}

func (m machine) add(a, b value) reg.VecVirtual { return m.two("add", a, b) }
func (m machine) sub(a, b value) reg.VecVirtual { return m.two("sub", a, b) }
func (m machine) mul(a, b value) reg.VecVirtual { return m.two("mul", a, b) }
func (m machine) div(a, b value) reg.VecVirtual { return m.two("div", a, b) }
func (m machine) and(a, b value) reg.VecVirtual { return m.two("and", a, b) }
func (m machine) or(a, b value) reg.VecVirtual  { return m.two("or", a, b) }
func (m machine) xor(a, b value) reg.VecVirtual { return m.two("xor", a, b) }

// min and max return b when either is NaN or both are zero.
func (m machine) min(a, b value) reg.VecVirtual { return m.two("min", a, b) }
func (m machine) max(a, b value) reg.VecVirtual { return m.two("max", a, b) }

// iadd and isub work on the bit patterns as integers.
func (m machine) iadd(a, b value) reg.VecVirtual { return m.two("iadd", a, b) }
func (m machine) isub(a, b value) reg.VecVirtual { return m.two("isub", a, b) }
func (m machine) shl(a value, n int) reg.VecVirtual {
	r := m.new()
	m.do("shl", operand.U8(uint8(n)), m.load(a), r)
	return r
}
func (m machine) shr(a value, n int) reg.VecVirtual {
	r := m.new()
	m.do("shr", operand.U8(uint8(n)), m.load(a), r)
	return r
}

func (m machine) abs(a value) reg.VecVirtual { return m.and(a, m.rest()) }
func (m machine) neg(a value) reg.VecVirtual { return m.xor(a, m.sign()) }
func (m machine) sqrt(a value) reg.VecVirtual {
	r := m.new()
	m.do("sqrt", m.load(a), r)
	return r
}

// round modes: 0 nearest even, 1 down, 2 up, 3 towards zero (8: without the inexact exception).
func (m machine) round(a value, mode int) reg.VecVirtual {
	r := m.new()
	m.do(m.name("round"), operand.U8(uint8(mode|8)), m.load(a), r)
	return r
}

// name is the AVX-512 variant of an instruction that AVX2 spells differently.
func (m machine) name(s string) string {
	if m.wide {
		return s + "512"
	}
	return s
}

func (m machine) copy(a value) reg.VecVirtual {
	if _, ok := a.(constant); ok {
		return m.load(a)
	}
	r := m.new()
	m.do("move", a.(reg.VecVirtual), r)
	return r
}

// fma is a*b + c, fnma is c - a*b, fms is a*b - c, each rounded once.
func (m machine) fma(a, b, c value) reg.VecVirtual  { return m.fused("fma", a, b, c) }
func (m machine) fnma(a, b, c value) reg.VecVirtual { return m.fused("fnma", a, b, c) }
func (m machine) fms(a, b, c value) reg.VecVirtual  { return m.fused("fms", a, b, c) }

func (m machine) fused(name string, a, b, c value) reg.VecVirtual {
	if _, ok := a.(constant); ok {
		a, b = b, a
	}
	t := m.copy(a)
	if _, ok := b.(constant); ok {
		m.last(name+"132", nil, b, m.load(c), t)
	} else {
		m.last(name+"213", nil, c, b.(reg.VecVirtual), t)
	}
	return t
}

// horner evaluates the polynomial with the constant coefficient first.
func (m machine) horner(x reg.VecVirtual, c []float64) reg.VecVirtual {
	p := m.load(m.num(c[len(c)-1]))
	for i := len(c) - 2; i >= 0; i-- {
		m.last("fma213", nil, m.num(c[i]), x, p)
	}
	return p
}

// poly evaluates the polynomial as even and odd halves: half the waiting for one more multiplication.
// x2 is the square of x.
func (m machine) poly(x, x2 reg.VecVirtual, c []float64) reg.VecVirtual {
	if len(c) < 5 {
		return m.horner(x, c)
	}
	var even, odd []float64
	for i, v := range c {
		if i%2 == 0 {
			even = append(even, v)
		} else {
			odd = append(odd, v)
		}
	}
	p, q := m.horner(x2, even), m.horner(x2, odd)
	m.do("fma231", x, q, p) // p += q*x
	return p
}

// Predicates of cmp; all quiet.
const (
	eq, lt, le, unord, ne, nlt, ge, gt = 0x00, 0x11, 0x12, 0x03, 0x04, 0x15, 0x1d, 0x1e
)

func (m machine) cmp(a value, pred int, b value) mask {
	if m.wide {
		k := K()
		m.last("cmp", []operand.Op{operand.U8(uint8(pred))}, b, m.load(a), k)
		return k
	}
	r := m.new()
	m.last("cmp", []operand.Op{operand.U8(uint8(pred))}, b, m.load(a), r)
	return r
}

// blend is yes where the mask is set and no elsewhere.
func (m machine) blend(k mask, yes, no value) reg.VecVirtual {
	r := m.new()
	if m.wide {
		m.last("blend512", nil, yes, m.load(no), k, r)
	} else {
		m.last("blend", []operand.Op{k}, yes, m.load(no), r)
	}
	return r
}
