// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Random numbers: the blocks of Philox4x32-10, and the normal quantile of 64-bit words. Products are rounded before
// they are added, as in Go, and the logarithm is that of package math.

// emitPhilox writes the blocks of two vectors of counters at a time, a counter in each 64-bit lane, and returns how many
// words of 64 bits are done.
func emitPhilox(m machine) {
	TEXT("philox"+m.suffix(), noSplit, "func(dst *uint64, block, stream, seed uint64, n int) (done int)")
	Pragma("noescape")
	dst, n := pointer("dst"), pointer("n")
	block := m.iadd(m.spread("block"), m.counters())
	next := m.new()
	per := 4 * m.lanes()
	Label("loop")
	CMPQ(n, operand.U32(uint32(per)))
	JLT(operand.LabelRef("done"))
	m.last("iadd", nil, m.raw(uint64(m.lanes()), 0), block, next)
	k0, id := m.spread("seed"), m.spread("stream")
	k1, purpose := m.shr(k0, 32), m.shr(id, 32)
	a := [4]vec{block, m.shr(block, 32), id, purpose}
	b := [4]vec{next, m.shr(next, 32), id, purpose}
	for range 10 {
		a, b = m.philoxRound(a, k0, k1), m.philoxRound(b, k0, k1)
		k0, k1 = m.iadd(k0, m.raw(0x9E3779B9, 0)), m.iadd(k1, m.raw(0xBB67AE85, 0))
	}
	for v, c := range [][4]vec{a, b} {
		first, second := m.join(c[0], c[1]), m.join(c[2], c[3])
		for half, name := range []string{"unpacklo", "unpackhi"} {
			r := m.new()
			m.do(name, second, first, r)
			m.do("loadu", r, operand.Mem{Base: dst, Disp: (2*v + half) * m.bytes()})
		}
	}
	m.last("iadd", nil, m.raw(uint64(m.lanes()), 0), next, block)
	ADDQ(operand.U32(uint32(2*2*m.bytes())), dst)
	SUBQ(operand.U32(uint32(per)), n)
	JMP(operand.LabelRef("loop"))
	Label("done")
	VZEROUPPER()
	total := Load(Param("n"), GP64())
	SUBQ(n, total)
	Store(total, Return("done"))
	RET()
}

// spread is a parameter in all lanes.
func (m machine) spread(name string) vec {
	at, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	r := m.new()
	m.do("broadcast", at.Addr, r)
	return r
}

// counters is the offset of each lane's counter: an order that unpacking turns into the order of memory.
func (m machine) counters() vec {
	order := []uint64{0, 2, 1, 3}
	if m.wide {
		order = []uint64{0, 4, 1, 5, 2, 6, 3, 7}
	}
	at := GLOBL("counters"+m.level(), 8|16)
	for i, c := range order {
		DATA(8*i, operand.U64(c))
	}
	r := m.new()
	m.do("loadu", at, r)
	return r
}

// philoxRound works on the low halves of the lanes; the high halves hold anything.
func (m machine) philoxRound(c [4]vec, k0, k1 vec) [4]vec {
	p0, p1 := m.product32(c[0], 0xD2511F53), m.product32(c[2], 0xCD9E8D57)
	return [4]vec{m.xor3(m.shr(p1, 32), c[1], k0), p1, m.xor3(m.shr(p0, 32), c[3], k1), p0}
}

// product32 is the product of the low halves of the lanes and a number.
func (m machine) product32(a vec, times uint64) vec {
	r := m.new()
	if m.wide {
		VPMULUDQ_BCST(m.memory(constant{times}), a, r)
	} else {
		VPMULUDQ(m.memory(constant{times}), a, r)
	}
	return r
}

func (m machine) xor3(a, b, c vec) vec {
	if m.wide {
		VPTERNLOGQ(operand.U8(0x96), b, c, a)
		return a
	}
	VPXOR(b, a, a)
	VPXOR(c, a, a)
	return a
}

// join makes words of 64 bits from the low halves of two vectors.
func (m machine) join(low, high vec) vec {
	return m.or(m.and(low, m.raw(1<<32-1, 0)), m.shl(high, 32))
}

// quantiles is the normal quantile of words: the top bit is the sign, and the others are a probability in (0, 1/2). It
// stops before probabilities below 2^-36.
func quantiles() kernel {
	return kernel{name: "normalQuantile", args: []string{"words"}, scalar: -1, flag: machine.farTail, body: func(m machine, x []vec) vec {
		return m.or(m.upperQuantile(m.probability(x[0])), m.and(x[0], m.sign()))
	}}
}

// farTail is not zero if a lane's probability is below 2^-36.
func (m machine) farTail(x []vec) reg.GPVirtual {
	k := m.cmp(m.and(x[0], constant{1<<63 - 1<<28}), eq, m.num(0))
	f := GP64()
	if m.wide {
		KMOVW(k, f.As32())
	} else {
		VMOVMSKPD(k, f.As32())
	}
	return f
}

// probability is (w + 1/2) 2^-64 of the low 63 bits w.
func (m machine) probability(x vec) vec {
	w := m.abs(x)
	high := m.or(m.shr(w, 32), m.num(0x1p84)) // 2^84 + 2^32 times the high half
	low := m.or(m.and(w, constant{1<<32 - 1}), m.num(0x1p52))
	return m.mul(m.add(m.add(m.sub(high, m.num(0x1p84+0x1p52)), low), m.num(0.5)), m.num(0x1p-64))
}

// upperQuantile is the z >= 0 that is exceeded with probability p.
func (m machine) upperQuantile(p vec) vec {
	q := m.sub(m.num(0.5), p)
	centre := m.mul(q, m.ratio8(m.sub(m.num(0.180625), m.mul(q, q)), &quantileCentre))
	r := m.sqrt(m.neg(m.logOfMath(p)))
	tail := m.ratio8(m.sub(r, m.num(1.6)), &quantileTail)
	return m.blend(m.cmp(q, le, m.num(0.425)), centre, tail)
}

// ratio8 divides two polynomials of degree 7.
func (m machine) ratio8(x vec, c *[2][8]float64) vec {
	var p [2]vec
	for i := range p {
		p[i] = m.load(m.num(c[i][7]))
		for k := 6; k >= 0; k-- {
			p[i] = m.add(m.mul(p[i], x), m.num(c[i][k]))
		}
	}
	return m.div(p[0], p[1])
}

// logOfMath is math.Log of amd64, bit by bit, for a positive normal x below 1.
func (m machine) logOfMath(x vec) vec {
	f := m.or(m.and(x, constant{1<<52 - 1}), m.num(0.5))
	k := m.sub(m.or(m.shr(x, 52), m.num(0x1p52)), m.num(0x1p52+1022))
	one := m.load(m.num(1))
	low := m.cmp(m.num(math.Sqrt2/2), nlt, f)
	less := m.blend(low, one, m.xor(one, one))
	k = m.sub(k, less)
	f = m.sub(m.mul(f, m.add(less, one)), one)
	s := m.div(f, m.add(f, m.num(2)))
	s2 := m.mul(s, s)
	s4 := m.mul(s2, s2)
	series := func(c ...float64) vec {
		p := m.mul(s4, m.num(c[0]))
		for _, v := range c[1:] {
			p = m.mul(m.add(p, m.num(v)), s4)
		}
		return p
	}
	// The sum of the odd terms ends with a factor of s2 instead of s4.
	odd := m.mul(m.add(series(1.479819860511658591e-01, 1.818357216161805012e-01, 2.857142874366239149e-01), m.num(6.666666666666735130e-01)), s2)
	even := series(1.531383769920937332e-01, 2.222219843214978396e-01, 3.999999999940941908e-01)
	half := m.mul(m.mul(f, m.num(0.5)), f)
	sum := m.add(m.mul(k, m.num(1.90821492927058770002e-10)), m.mul(s, m.add(half, m.add(odd, even))))
	return m.sub(m.mul(k, m.num(6.93147180369123816490e-01)), m.sub(m.sub(half, sum), f))
}

// Coefficients of Wichura's algorithm AS 241, the lowest first: numerators and denominators, as in package tensor.
var (
	quantileCentre = [2][8]float64{
		{3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
			4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3},
		{1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
			2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3},
	}
	quantileTail = [2][8]float64{
		{1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
			1.27045825245236838258, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
		{1, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
			1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9},
	}
)
