// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// signature is the type of a function whose element type is written T.
func (m machine) signature(params string) string {
	return "func(" + regexp.MustCompile(`\bT\b`).ReplaceAllString(params, m.goType()) + ")"
}

// begin starts a kernel of Fourier transforms.
func (m machine) begin(name, params string) {
	TEXT("fft"+name+m.suffix(), noSplit, m.signature(params))
	Pragma("noescape")
}

// place is base plus as many elements as the number at table + disp says.
func (m machine) place(base, table reg.Register, disp int) reg.Register {
	t := GP64()
	MOVQ(operand.Mem{Base: table, Disp: disp}, t)
	SHLQ(operand.U8(uint8(math.Log2(float64(m.element())))), t)
	ADDQ(base, t)
	return t
}

// pair is the address of an element's real and imaginary parts.
func (m machine) pair(p reg.Register, disp int) (re, im operand.Mem) {
	re = operand.Mem{Base: p, Disp: disp}
	return re, re.Offset(m.bytes())
}

// linesIn copies n rows of interleaved numbers, one of each line, to the places pos of the block.
func (m machine) linesIn() {
	m.begin("LinesIn", "w, src *T, stride int, pos *int, n int")
	w, src, stride, pos, n := pointer("w"), pointer("src"), pointer("stride"), pointer("pos"), pointer("n")
	Label("loop")
	to := m.place(w, pos, 0)
	x := m.getLine(m.pair(src, 0))
	re, im := m.pair(to, 0)
	m.put(x, re, im)
	ADDQ(operand.U32(8), pos)
	ADDQ(stride, src)
	DECQ(n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// linesOut copies the n elements of a block to rows of interleaved numbers.
func (m machine) linesOut() {
	m.begin("LinesOut", "dst *T, stride int, w *T, n int")
	dst, stride, w, n := pointer("dst"), pointer("stride"), pointer("w"), pointer("n")
	Label("loop")
	lo, hi := m.pair(dst, 0)
	m.putLine(m.get(m.pair(w, 0)), lo, hi)
	ADDQ(operand.U32(uint32(m.element())), w)
	ADDQ(stride, dst)
	DECQ(n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// linesOutTimes is linesOut of the products of the elements with factors, which are laid out as a block; linesOutOver
// takes their conjugates.
func (m machine) linesOutTimes(name string, conj bool) {
	m.begin(name, "dst *T, stride int, w, factors *T, n int")
	dst, stride, w, f, n := pointer("dst"), pointer("stride"), pointer("w"), pointer("factors"), pointer("n")
	Label("loop")
	x, c := m.get(m.pair(w, 0)), m.get(m.pair(f, 0))
	y := split{m.mul(x.re, c.re), m.mul(x.im, c.re)}
	if conj {
		m.do("fma231", x.im, c.im, y.re)
		m.do("fnma231", x.re, c.im, y.im)
	} else {
		m.do("fnma231", x.im, c.im, y.re)
		m.do("fma231", x.re, c.im, y.im)
	}
	lo, hi := m.pair(dst, 0)
	m.putLine(y, lo, hi)
	ADDQ(operand.U32(uint32(m.element())), w)
	ADDQ(operand.U32(uint32(m.element())), f)
	ADDQ(stride, dst)
	DECQ(n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// untangle turns the transform Z of the complex numbers x[2j] + i x[2j+1], j < m, into X, the first half of that of the
// real x, except X[0] and X[m]. In place, k = 1..m/2; tw has exp(-2 pi i k/(2m))/2.
//
//	X[k] = e + w o, X[m-k] = conj(e - w o), e = (Z[k] + conj Z[m-k])/2, o = (Z[k] - conj Z[m-k])/(2i)
func (m machine) untangle() {
	m.begin("Untangle", "w, tw *T, m int")
	lo, tw, size := pointer("w"), pointer("tw"), pointer("m")
	hi, n := m.ends(lo, size)
	half := m.load(m.num(0.5))
	Label("loop")
	a, b := m.get(m.pair(lo, 0)), m.get(m.pair(hi, 0))
	e := split{m.add(a.re, b.re), m.sub(a.im, b.im)}
	o := split{m.add(a.im, b.im), m.sub(b.re, a.re)}
	o = m.twiddled(o, tw, 0)
	re, im := m.pair(lo, 0)
	m.put(split{m.fma(e.re, half, o.re), m.fma(e.im, half, o.im)}, re, im)
	re, im = m.pair(hi, 0)
	m.put(split{m.fms(e.re, half, o.re), m.fnma(e.im, half, o.im)}, re, im)
	ADDQ(operand.U32(uint32(m.element())), lo)
	SUBQ(operand.U32(uint32(m.element())), hi)
	ADDQ(operand.U32(uint32(2*m.size())), tw)
	DECQ(n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// ends moves lo to element 1 and returns element m-1 and m/2.
func (m machine) ends(lo, size reg.Register) (hi, n reg.Register) {
	hi, n = GP64(), GP64()
	MOVQ(size, hi)
	SHLQ(operand.U8(uint8(math.Log2(float64(m.element())))), hi)
	ADDQ(lo, hi)
	SUBQ(operand.U32(uint32(m.element())), hi)
	ADDQ(operand.U32(uint32(m.element())), lo)
	MOVQ(size, n)
	SHRQ(operand.U8(1), n)
	return hi, n
}

// tangle is the inverse: from X in src the elements k and m-k of Z, k = 1..m/2, times 2, at the places pos of w.
//
//	Z[k] = e + f, Z[m-k] = conj(e - f), e = X[k] + conj X[m-k], f = i conj(w) (X[k] - conj X[m-k])
func (m machine) tangle() {
	m.begin("Tangle", "w, src, tw *T, pos *int, m int")
	w, lo, tw, first, size := pointer("w"), pointer("src"), pointer("tw"), pointer("pos"), pointer("m")
	last := GP64()
	LEAQ(operand.Mem{Base: first, Index: size, Scale: 8, Disp: -8}, last)
	ADDQ(operand.U32(8), first)
	hi, n := m.ends(lo, size)
	two := m.load(m.num(2))
	Label("loop")
	a, b := m.get(m.pair(lo, 0)), m.get(m.pair(hi, 0))
	e := split{m.add(a.re, b.re), m.sub(a.im, b.im)}
	d := split{m.sub(a.re, b.re), m.add(a.im, b.im)}
	c, s := m.new(), m.new()
	m.do("broadcast", operand.Mem{Base: tw}, c)
	m.do("broadcast", operand.Mem{Base: tw, Disp: m.size()}, s)
	f := split{m.mul(d.re, s), m.mul(d.re, c)}
	m.do("fnma231", d.im, c, f.re)
	m.do("fma231", d.im, s, f.im)
	re, im := m.pair(m.place(w, first, 0), 0)
	m.put(split{m.fma(f.re, two, e.re), m.fma(f.im, two, e.im)}, re, im)
	re, im = m.pair(m.place(w, last, 0), 0)
	m.put(split{m.fnma(f.re, two, e.re), m.fms(f.im, two, e.im)}, re, im)
	ADDQ(operand.U32(uint32(m.element())), lo)
	SUBQ(operand.U32(uint32(m.element())), hi)
	ADDQ(operand.U32(8), first)
	SUBQ(operand.U32(8), last)
	ADDQ(operand.U32(uint32(2*m.size())), tw)
	DECQ(n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// mirror makes the places pos of w from the first half X of a Hermitian spectrum of odd length n: X[k] at place k and
// its conjugate at place n-k, k = 1..n/2.
func (m machine) mirror() {
	m.begin("Mirror", "w, src *T, pos *int, n int")
	w, src, first, n := pointer("w"), pointer("src"), pointer("pos"), pointer("n")
	last := GP64()
	LEAQ(operand.Mem{Base: first, Index: n, Scale: 8, Disp: -8}, last)
	ADDQ(operand.U32(8), first)
	ADDQ(operand.U32(uint32(m.element())), src)
	SHRQ(operand.U8(1), n)
	minus := m.load(m.sign())
	Label("loop")
	x := m.get(m.pair(src, 0))
	re, im := m.pair(m.place(w, first, 0), 0)
	m.put(x, re, im)
	x.im = m.xor(x.im, minus)
	re, im = m.pair(m.place(w, last, 0), 0)
	m.put(x, re, im)
	ADDQ(operand.U32(uint32(m.element())), src)
	ADDQ(operand.U32(8), first)
	SUBQ(operand.U32(8), last)
	DECQ(n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// scatterProduct sets element pos[j] of w to element j of src times factor j, j < n.
func (m machine) scatterProduct() {
	m.begin("ScatterProduct", "w, src, factors *T, pos *int, n int")
	w, src, f, pos, n := pointer("w"), pointer("src"), pointer("factors"), pointer("pos"), pointer("n")
	Label("loop")
	x := m.twiddled(m.get(m.pair(src, 0)), f, 0)
	re, im := m.pair(m.place(w, pos, 0), 0)
	m.put(x, re, im)
	ADDQ(operand.U32(uint32(m.element())), src)
	ADDQ(operand.U32(uint32(2*m.size())), f)
	ADDQ(operand.U32(8), pos)
	DECQ(n)
	JNZ(operand.LabelRef("loop"))
	VZEROUPPER()
	RET()
}

// fields is the text of the table of kernels of this machine.
func (m machine) fftFields() string {
	var b strings.Builder
	s := m.suffix()
	fmt.Fprintf(&b, "lanes: %d,\nline: []int{", m.lanes())
	for i := range m.lanes() {
		fmt.Fprintf(&b, "%d, ", m.lane(i))
	}
	b.WriteString("},\n")
	for _, kind := range []string{"First", "Pass", "From", "To"} {
		fmt.Fprintf(&b, "%s: [9]fft%s[%s]{", strings.ToLower(kind), kind, m.goType())
		for _, r := range radices {
			fmt.Fprintf(&b, "%d: fft%s%d%s, ", r, kind, r, s)
		}
		b.WriteString("},\n")
	}
	for _, kind := range []string{"Odd", "LinesIn", "LinesOut", "LinesOutTimes", "LinesOutOver", "RowsIn", "RowsOut", "RealRowsIn", "RealRowsOut",
		"Untangle", "Tangle", "Mirror", "ScatterProduct"} {
		fmt.Fprintf(&b, "%s: fft%s%s,\n", strings.ToLower(kind[:1])+kind[1:], kind, s)
	}
	return b.String()
}
