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

// Rows are lines whose elements are neighbours. They are transposed in pieces of 16 bytes of each row.

// rows is how many rows have their pieces in one vector, group how many such vectors make a square.
func (m machine) group() int { return 16 / m.size() }

// allRows returns the addresses of as many rows as there are lanes, and what moves eight of them, or all (-1), on.
func (m machine) allRows(base, stride reg.Register) (row func(i int) operand.Mem, advance func(eight int, by operand.Op)) {
	blocks := []strided{newStrided(base, stride, 4)}
	for i := 8; i < m.lanes(); i += 8 {
		b := strided{base: GP64(), base3: GP64(), stride: stride, stride3: blocks[0].stride3}
		LEAQ(operand.Mem{Base: base, Index: stride, Scale: 8}, b.base)
		LEAQ(operand.Mem{Base: b.base, Index: b.stride3, Scale: 1}, b.base3)
		blocks = append(blocks, b)
	}
	row = func(i int) operand.Mem { return blocks[i/8].row(i%8, 0) }
	advance = func(eight int, by operand.Op) {
		for i, b := range blocks {
			if eight < 0 || eight == i {
				b.advance(by)
			}
		}
	}
	return row, advance
}

// rowsIn copies pieces of 16 bytes of all rows to the places pos of the block. Where there are enough it reads whole
// vectors: rows a power of two apart would push each other from the cache between their pieces. Rows of real numbers
// become complex ones.
func (m machine) rowsIn(name string, real bool) {
	m.begin(name, "w, src *T, stride int, pos *int, pieces int")
	w, pos, n := pointer("w"), pointer("pos"), pointer("pieces")
	row, advance := m.allRows(pointer("src"), pointer("stride"))
	g, p := m.group(), m.bytes()/16
	step, zero := 4, m.new() // bytes of places for each vector
	if real {
		step = 8
		m.zero(zero)
	}
	place := func(piece int, columns []vec) {
		for i := 0; i < g; i += 8 / step {
			x := split{columns[i], zero}
			if !real {
				x.im = columns[i+1]
			}
			re, im := m.pair(m.place(w, pos, step*(piece*g+i)), 0)
			m.put(x, re, im)
		}
	}
	Label("whole")
	CMPQ(n, operand.U32(uint32(p)))
	JLT(operand.LabelRef("part"))
	v := make([][]vec, g) // v[t] are the pieces of rows t, g+t, 2g+t, ...
	for t := range v {
		v[t] = make([]vec, p)
		for q := range v[t] {
			v[t][q] = m.new()
			VMOVUPS(row(m.lane(q*g+t)), v[t][q])
		}
		v[t] = m.piecesTransposed(v[t])
	}
	for c := range p {
		place(c, m.transposed(column(v, c)))
	}
	ADDQ(operand.U32(uint32(step*g*p)), pos)
	advance(-1, operand.U32(uint32(m.bytes())))
	SUBQ(operand.U32(uint32(p)), n)
	JMP(operand.LabelRef("whole"))

	Label("part")
	TESTQ(n, n)
	JZ(operand.LabelRef("done"))
	r := make([]vec, g)
	for t := range r {
		r[t] = m.new()
		for q := range p {
			at := row(m.lane(q*g + t))
			switch {
			case q == 0:
				VMOVUPS(at, r[t].AsX())
			case m.wide:
				VINSERTF32X4(operand.U8(uint8(q)), at, r[t], r[t])
			default:
				VINSERTF128(operand.U8(uint8(q)), at, r[t], r[t])
			}
		}
	}
	place(0, m.transposed(r))
	ADDQ(operand.U32(uint32(step*g)), pos)
	advance(-1, operand.U32(16))
	DECQ(n)
	JMP(operand.LabelRef("part"))
	Label("done")
	VZEROUPPER()
	RET()
}

func column(v [][]vec, c int) []vec {
	out := make([]vec, len(v))
	for t := range v {
		out[t] = v[t][c]
	}
	return out
}

// rowsOut copies the block to pieces of 16 bytes of all rows, of real rows the real parts. Where there are enough it
// writes whole vectors, to eight rows at a time: with more, rows about a power of two apart would push each other's
// unfinished lines from the cache.
func (m machine) rowsOut(name string, real bool) {
	m.begin(name, "dst *T, stride int, w *T, pieces int")
	step := m.bytes()
	if real {
		step = m.element()
	}
	g, p := m.group(), m.bytes()/16
	w, n := GP64(), GP64()
	dst, stride := pointer("dst"), pointer("stride")
	row, advance := m.allRows(dst, stride)
	columns := func(piece int) []vec {
		c := make([]vec, g)
		for i := range c {
			c[i] = m.new()
			m.do("loadu", operand.Mem{Base: w, Disp: (piece*g + i) * step}, c[i])
		}
		return c
	}
	for first := 0; first < m.lanes(); first += 8 {
		loop, end := fmt.Sprintf("whole%d", first), fmt.Sprintf("end%d", first)
		Load(Param("w"), w)
		Load(Param("pieces"), n)
		Label(loop)
		CMPQ(n, operand.U32(uint32(p)))
		JLT(operand.LabelRef(end))
		ts := m.groupRows(first)
		v := make([][]vec, p)
		for c := range v {
			v[c] = m.transposedRows(columns(c), ts)
		}
		for i, t := range ts {
			for q, x := range m.piecesTransposed(column(v, i)) {
				VMOVUPS(x, row(m.lane(q*g+t)))
			}
		}
		ADDQ(operand.U32(uint32(p*g*step)), w)
		advance(first/8, operand.U32(uint32(m.bytes())))
		SUBQ(operand.U32(uint32(p)), n)
		JMP(operand.LabelRef(loop))
		Label(end)
	}
	Label("part")
	TESTQ(n, n)
	JZ(operand.LabelRef("done"))
	for t, x := range m.transposed(columns(0)) {
		for q := range p {
			at := row(m.lane(q*g + t))
			switch {
			case q == 0:
				VMOVUPS(x.AsX(), at)
			case m.wide:
				VEXTRACTF32X4(operand.U8(uint8(q)), x, at)
			default:
				VEXTRACTF128(operand.U8(uint8(q)), x, at)
			}
		}
	}
	ADDQ(operand.U32(uint32(g*step)), w)
	advance(-1, operand.U32(16))
	DECQ(n)
	JMP(operand.LabelRef("part"))
	Label("done")
	VZEROUPPER()
	RET()
}

// groupRows lists the places in a group whose rows are first to first+7.
func (m machine) groupRows(first int) []int {
	var ts []int
	for t := range m.group() {
		if m.lane(t)/8*8 == first {
			ts = append(ts, t)
		}
	}
	return ts
}

// transposedRows is transposed, of which only the rows ts are wanted: all, or half of them.
func (m machine) transposedRows(r []vec, ts []int) []vec {
	if len(ts) == len(r) {
		return m.transposed(r)
	}
	half := "unpacklo"
	if ts[0] > 0 {
		half = "unpackhi"
	}
	a, b, out := m.new(), m.new(), []vec{m.new(), m.new()}
	m.do(half, r[1], r[0], a)
	m.do(half, r[3], r[2], b)
	VSHUFPS(operand.U8(0x44), b, a, out[0])
	VSHUFPS(operand.U8(0xee), b, a, out[1])
	return out
}

// piecesTransposed transposes a matrix of pieces of 128 bits, whose rows are vectors.
func (m machine) piecesTransposed(r []vec) []vec {
	shuffle := func(imm uint8, a, b vec) vec {
		x := m.new()
		if m.wide {
			VSHUFF64X2(operand.U8(imm), b, a, x)
		} else {
			VPERM2F128(operand.U8(imm), b, a, x)
		}
		return x
	}
	if !m.wide {
		return []vec{shuffle(0x20, r[0], r[1]), shuffle(0x31, r[0], r[1])}
	}
	a, b := shuffle(0x44, r[0], r[1]), shuffle(0x44, r[2], r[3])
	c, d := shuffle(0xee, r[0], r[1]), shuffle(0xee, r[2], r[3])
	return []vec{shuffle(0x88, a, b), shuffle(0xdd, a, b), shuffle(0x88, c, d), shuffle(0xdd, c, d)}
}

// transposed transposes the squares within 128 bits.
func (m machine) transposed(r []vec) []vec {
	t := make([]vec, len(r))
	for i := range t {
		t[i] = m.new()
	}
	for i := 0; i < len(r); i += 2 {
		m.do("unpacklo", r[i+1], r[i], t[i])
		m.do("unpackhi", r[i+1], r[i], t[i+1])
	}
	if m.double {
		return t
	}
	out := make([]vec, len(r))
	for i := range out {
		out[i] = m.new()
		VSHUFPS(operand.U8([]uint8{0x44, 0xee}[i%2]), t[2+i/2], t[i/2], out[i])
	}
	return out
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
