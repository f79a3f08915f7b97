// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"

	device "github.com/euryale-dev/euryale/kernels/cuda"
)

// Fourier transforms the last axes of complex arrays, without dividing: attributes say how many axes,
// and whether it is the inverse.
func Fourier(s *Step) bool {
	if fourierByLibrary(s, device.ComplexTransform, s.Value.Shape[:len(s.Value.Shape)-1], s.Attr[1] == 1) {
		return true
	}
	f := newFourier(s, s.Attr[1] == 1)
	shape := s.Value.Shape[:len(s.Value.Shape)-1]
	from := "in0"
	for k := range s.Attr[0] {
		f.axis(shape, len(shape)-1-k, from)
		from = "out"
	}
	return true
}

// RealFourier transforms the last axes of real arrays to half spectra: attributes say how many axes,
// the length of the last, and whether the frequencies that stand for two are doubled.
func RealFourier(s *Step) bool {
	if s.Attr[2] == 0 && fourierByLibrary(s, device.RealToComplex, s.InShape(0), false) {
		return true
	}
	f := newFourier(s, false)
	n := s.Attr[1]
	shape := s.Value.Shape[:len(s.Value.Shape)-1]
	rows := 1
	for _, d := range shape[:len(shape)-1] {
		rows *= d
	}
	half := n/2 + 1
	f.run(pass{n: n, count: half, lines: []lineAxis{{rows, n, half}}, inStep: 1, outStep: 1, from: "in0", to: "out",
		load: "v.x = from[at];", store: fmt.Sprintf("%sto[2 * to_at] = v.x; to[2 * to_at + 1] = v.y;", pick(s.Attr[2] == 1, paired(n, "R(2)"), ""))})
	for k := 1; k < s.Attr[0]; k++ {
		f.axis(shape, len(shape)-1-k, "out")
	}
	return true
}

// RealInverse transforms half spectra to real arrays: attributes say how many axes, the length of the
// last, and whether the frequencies that stand for two are halved before.
func RealInverse(s *Step) bool {
	f := newFourier(s, true)
	n, half := s.Attr[1], s.Attr[1]/2+1
	from := "in0"
	shape := s.InShape(0)
	shape = shape[:len(shape)-1]
	if s.Attr[0] > 1 {
		f.to = f.reserve(s.Value.In[0].Size() / 2)
	}
	for k := 1; k < s.Attr[0]; k++ {
		f.axis(shape, len(shape)-1-k, from)
		from = f.to
	}
	last := ""
	if n%2 == 0 {
		last = fmt.Sprintf(" || j == %d", n/2)
	}
	f.run(pass{n: n, count: n, lines: []lineAxis{{s.Size() / n, half, n}}, inStep: 1, outStep: 1, from: from, to: "out",
		load: fmt.Sprintf("bool mirror = j >= %[1]d; at += mirror ? %[2]d - 2 * j : 0; v.x = from[2 * at]; v.y = j == 0%[3]s ? R(0) : mirror ? -from[2 * at + 1] : from[2 * at + 1]; %[4]s",
			half, n, last, pick(s.Attr[2] == 1, paired(n, "R(0.5)"), "")),
		store: "to[to_at] = v.x;"})
	return true
}

// fourierByLibrary lets cuFFT transform the last axes of a large array of a shape, without that of the
// complex parts, and reports whether it does.
func fourierByLibrary(s *Step, kind device.Transform, shape []int, inverse bool) bool {
	x := s.Value.In[0]
	rank := s.Attr[0]
	if s.g.libraries == nil || s.Size() < s.g.choice("library_transform") || rank > 3 || x.Layout.Offset%2 != 0 || !s.g.libraries.HasFFT() {
		return false
	}
	f := device.FFT{Type: device.Float64, Kind: kind, Shape: append([]int(nil), shape[len(shape)-rank:]...), Batch: 1}
	for _, n := range shape[:len(shape)-rank] {
		f.Batch *= n
	}
	if s.g.precision == 32 {
		f.Type = device.Float32
	}
	from, to, offset := x.Layout.Root.Place.Buf, s.Place.Buf, x.Layout.Offset*s.g.precision/8
	s.list = append(s.list, Launch{Kernel: "cuFFT", Library: func(l *device.Libraries, on *device.Stream, at func(buf int) device.Part) error {
		src := at(from)
		src.Offset += offset
		return l.FFT(on, f, at(to), src, inverse)
	}})
	return true
}

// paired multiplies the frequencies other than 0 and n/2 by a factor.
func paired(n int, factor string) string {
	return fmt.Sprintf("if (j != 0 && 2 * j != %d) { v.x *= %s; v.y *= %s; } ", n, factor, factor)
}

// fourier makes the kernels of one transform along several axes.
type fourier struct {
	*Step
	inverse bool
	to      string // where transforms along whole axes go
	used    int    // numbers of the scratch memory that are taken
}

func newFourier(s *Step, inverse bool) *fourier {
	s.Shared("complex numbers", fourierText)
	return &fourier{Step: s, inverse: inverse, to: "out"}
}

// fourierRoom is the shared memory of a block that transforms lines, in bytes: what every GPU gives
// without being asked. Tests make it smaller.
var fourierRoom = 48 << 10

// fourierNumbers is how many complex numbers a block transforms where lines are short.
const fourierNumbers = 2048

// capacity is the number of complex numbers in shared memory.
func (f *fourier) capacity() int { return fourierRoom / (f.g.precision / 4) }

// reserve takes scratch memory for n complex numbers and returns the C expression of it.
func (f *fourier) reserve(n int) string {
	at := f.used
	f.used += 2 * n
	f.g.partials = max(f.g.partials, (f.used*f.g.precision/8+7)/8)
	return fmt.Sprintf("((R *)partial + %s)", number(at))
}

// Loads and stores of complex numbers.
const (
	loadComplex  = "v.x = from[2 * at]; v.y = from[2 * at + 1];"
	storeComplex = "to[2 * to_at] = v.x; to[2 * to_at + 1] = v.y;"
)

// axis transforms one axis of complex arrays; from and the result have the same shape.
func (f *fourier) axis(shape []int, axis int, from string) {
	outer, inner, n := Around(shape, axis)
	f.run(pass{n: n, count: n, lines: []lineAxis{{outer, n * inner, n * inner}, {inner, 1, 1}}, inStep: inner, outStep: inner, from: from, to: f.to,
		load: loadComplex, store: storeComplex})
}

// lineAxis is an index of lines: how many there are, and how far apart they begin before and after a
// transform.
type lineAxis struct{ n, in, out int }

// pass transforms lines of n numbers. load sets v to number j of a line, which is at `at`; store puts number
// j, of the first count ones, to to_at.
type pass struct {
	n, count        int
	lines           []lineAxis
	inStep, outStep int
	from, to        string
	load, store     string
	twist           int // n of the roots of unity that the result is multiplied by, to the power of j times the last index; 0: none
}

func (p *pass) rows() int {
	rows := 1
	for _, l := range p.lines {
		rows *= l.n
	}
	return rows
}

// packed returns the axes of lines that follow each other in memory, n numbers each, before or after.
func (p *pass) packed(n int, in, out bool) []lineAxis {
	list := append([]lineAxis(nil), p.lines...)
	for i := len(list) - 1; i >= 0; i-- {
		if in {
			list[i].in = n
		}
		if out {
			list[i].out = n
		}
		n *= list[i].n
	}
	return list
}

// run makes the kernels of a pass: one where a line fits into shared memory. Long lines are the rows and
// the columns of a matrix, one after the other; lengths with prime factors above 7 are convolutions.
func (f *fourier) run(p pass) {
	m := smoothFrom(2*p.n - 1)
	switch radix := radices(p.n, f.radix()); {
	case radix != nil && p.n <= f.capacity(), radix == nil && m <= f.capacity():
		f.kernel(p)
	case radix == nil:
		f.longChirp(p, m)
	case p.load != loadComplex || p.store != storeComplex:
		// Complex numbers at first, and what is asked for at last.
		used := f.used
		a, b := f.reserve(p.rows()*p.n), f.reserve(p.rows()*p.n)
		first, last := p, p
		first.lines, first.outStep, first.to, first.store, first.count = p.packed(p.n, false, true), 1, a, storeComplex, p.n
		f.copy(first)
		f.long(pass{n: p.n, count: p.n, lines: p.packed(p.n, true, true), inStep: 1, outStep: 1, from: a, to: b, load: loadComplex, store: storeComplex}, a)
		last.lines, last.inStep, last.from, last.load = p.packed(p.n, true, false), 1, b, loadComplex
		f.copy(last)
		f.used = used
	default:
		used := f.used
		f.long(p, f.reserve(p.rows()*p.n))
		f.used = used
	}
}

// long transforms lines of n = n1 n2 numbers by way of scratch memory: the n2 columns of n1 numbers, times
// roots of unity, and then the n1 rows, which have every n1-th number of the result.
//
// Reference: Bailey, doi:10.1007/BF00162341.
func (f *fourier) long(p pass, scratch string) {
	n1 := f.divisor(p.n)
	n2 := p.n / n1
	first := pass{n: n1, count: n1, lines: append(p.packed(p.n, false, true), lineAxis{n2, p.inStep, 1}), inStep: n2 * p.inStep, outStep: n2, from: p.from, to: scratch,
		load: loadComplex, store: storeComplex, twist: p.n}
	f.kernel(first)
	rest := pass{n: n2, count: n2, lines: append(p.packed(p.n, true, false), lineAxis{n1, n2, p.outStep}), inStep: 1, outStep: n1 * p.outStep, from: scratch, to: p.to,
		load: loadComplex, store: storeComplex}
	if n2 > f.capacity() {
		f.long(rest, scratch)
		return
	}
	f.kernel(rest)
}

// divisor returns the factor of n, at most the capacity, nearest to its root.
func (f *fourier) divisor(n int) int {
	best := 1
	for d := 2; d <= f.capacity() && d <= n/2; d++ {
		if n%d == 0 && max(d, n/d) < max(best, n/best) {
			best = d
		}
	}
	return best
}

// longChirp transforms lines of any length as convolutions of m numbers.
func (f *fourier) longChirp(p pass, m int) {
	used := f.used
	a, b := f.reserve(p.rows()*m), f.reserve(p.rows()*m)
	chirp, spectrum := f.chirp(p.n, m)
	first, last := p, p
	sign := pick(f.inverse, "-", "")
	first.lines, first.outStep, first.to, first.count = p.packed(m, false, true), 1, a, m
	first.load = fmt.Sprintf("if (j < %d) { %s v.y = %sv.y; v = v * eu_root(%s, j); }", p.n, p.load, sign, chirp)
	first.store = storeComplex
	f.copy(first)
	inner := pass{n: m, count: m, lines: p.packed(m, true, true), inStep: 1, outStep: 1, from: a, to: b, load: loadComplex, store: storeComplex}
	inverse := f.inverse
	f.inverse = false
	f.long(inner, a)
	f.inverse = true
	product := inner
	product.from, product.to, product.load = b, a, loadComplex+fmt.Sprintf(" v = v * eu_root(%s, j);", spectrum)
	f.copy(product)
	f.long(inner, a)
	f.inverse = inverse
	last.lines, last.inStep, last.from, last.load = p.packed(m, true, false), 1, b, fmt.Sprintf("%s v = v * eu_root(%s, j); v.y = %sv.y;", loadComplex, chirp, sign)
	f.copy(last)
	f.used = used
}

// index returns the type of indices below n.
func index(n int) string { return pick(n < 1<<30, "int", "index_t") }

// copy makes a kernel that loads and stores the numbers of a pass and transforms nothing.
func (f *fourier) copy(p pass) {
	n := p.rows() * p.count
	k := Launch{Kernel: f.g.name("fft_copy"), Grid: gridOf(n, f.g.choice("elements"), mostGrid), Block: block}
	k.Work = f.textWork(n, p.load+p.store, k)
	f.open(p, k)
	f.Printf("\tfor (index_t i = blockIdx.x * (index_t)%[1]d + threadIdx.x; i < %[2]s; i += (index_t)gridDim.x * %[1]d) {\n", block, number(n))
	f.Printf("\t\tidx l = (idx)(i / %[1]s); int j = (int)(i %% %[1]s);\n%[2]s\t\tidx at = at0 + j * (idx)%[3]s, to_at = to0 + j * (idx)%[4]s;\n\t\tcomplex v = {R(0), R(0)};\n\t\t%[5]s\n\t\t%[6]s\n\t}\n}\n\n",
		number(p.count), p.places(true, true), number(p.inStep), number(p.outStep), p.load, p.store)
}

// open begins the kernel of a pass, and declares from and to, the numbers before and after, and the type of
// indices.
func (f *fourier) open(p pass, k Launch) {
	span := 1
	for _, l := range p.lines {
		span += (l.n - 1) * max(l.in, l.out)
	}
	span += (max(p.n, p.count) - 1) * max(p.inStep, p.outStep)
	f.Begin(k)
	f.Printf("\ttypedef %s idx;\n\tconst R *from = %s; R *to = %s;\n", index(2*span), p.from, p.to)
}

// places declares where line l begins before and after, at0 and to0.
func (p *pass) places(in, out bool) string {
	at, to, rest := []string{"0"}, []string{"0"}, "l"
	for i := len(p.lines) - 1; i >= 0; i-- {
		x := p.lines[i]
		idx := "(" + rest + ")"
		if i > 0 {
			idx = fmt.Sprintf("(%s %% %s)", rest, number(x.n))
			rest = fmt.Sprintf("%s / %s", rest, number(x.n))
		}
		if x.n > 1 {
			at, to = append(at, idx+" * (idx)"+number(x.in)), append(to, idx+" * (idx)"+number(x.out))
		}
	}
	text := ""
	if in {
		text += "\t\tidx at0 = " + strings.Join(at, " + ") + ";\n"
	}
	if out {
		text += "\t\tidx to0 = " + strings.Join(to, " + ") + ";\n"
	}
	return text
}

// kernel makes the kernel of a pass whose lines fit into shared memory: a block loads some lines, transforms
// them radix by radix and stores them.
func (f *fourier) kernel(p pass) {
	m, radix := p.n, radices(p.n, f.radix())
	chirped := radix == nil
	chirp, spectrum := "", ""
	if chirped {
		m = smoothFrom(2*p.n - 1)
		radix = radices(m, f.radix())
		chirp, spectrum = f.chirp(p.n, m)
	}
	rows := p.rows()
	neighbours := pick(p.inStep == 1 && p.outStep == 1, 1, 8) // lines of which numbers beside each other are loaded together
	lines := min(rows, max(1, min(f.capacity()/m, max(neighbours, fourierNumbers/m))))
	threads := min(pick(f.g.precision == 32 && !chirped, 768, 512), max(warp, (lines*m/perThread(radix)+warp-1)/warp*warp))
	groups := (rows + lines - 1) / lines
	size := f.capacity() / 4
	for size < lines*m {
		size *= 2
	}
	room := fmt.Sprintf("fft_room_%d", size)
	f.Shared(room, fmt.Sprintf("alignas(16) __shared__ R %s[%d];\n", room, 2*size))
	k := Launch{Kernel: f.g.name("fft"), Grid: max(1, min(groups, mostGrid)), Block: threads}
	k.Shared = 2 * size * f.g.precision / 8
	k.Work = f.fftWork(p, k, m, lines, groups, radix, chirped)
	f.open(p, k)
	sign, conj := pick(f.inverse && !chirped, "1", "-1"), pick(f.inverse && chirped, "-", "")
	f.Printf("\tcomplex *x = (complex *)%s;\n\tconst complex *w = (const complex *)%s;\n\tfor (index_t group = blockIdx.x; group < %s; group += gridDim.x) {\n", room, f.stageRoots(m, radix), number(groups))
	// Neighbouring threads load neighbouring numbers: of a line, or of neighbouring lines.
	split := func(step, n int) string {
		if step == 1 {
			return fmt.Sprintf("int line = e / %[1]d, j = e %% %[1]d;", n)
		}
		return fmt.Sprintf("int line = e %% %[1]d, j = e / %[1]d;", lines)
	}
	f.Printf("\tfor (int e = threadIdx.x; e < %d; e += %d) {\n\t\t%s\n\t\tidx l = (idx)group * %d + line;\n\t\tcomplex v = {R(0), R(0)};\n", lines*m, threads, split(p.inStep, m), lines)
	f.Printf("\t\tif (l < %s && j < %d) {\n%s\t\tidx at = at0 + j * (idx)%s;\n\t\t%s\n", number(rows), p.n, p.places(true, false), number(p.inStep), p.load)
	if chirped {
		f.Printf("\t\tv.y = %sv.y; v = v * eu_root(%s, j);\n", conj, chirp)
	}
	f.Printf("\t\t}\n\t\tx[line * %d + j] = v;\n\t}\n\t__syncthreads();\n", m)
	f.stages(radix, m, lines, threads, sign)
	if chirped {
		f.Printf("\tfor (int e = threadIdx.x; e < %d; e += %d) x[e] = x[e] * eu_root(%s, e %% %d);\n\t__syncthreads();\n", lines*m, threads, spectrum, m)
		f.stages(radix, m, lines, threads, "1")
	}
	f.Printf("\tfor (int e = threadIdx.x; e < %d; e += %d) {\n\t\t%s\n\t\tidx l = (idx)group * %d + line;\n\t\tif (l >= %s) continue;\n", lines*p.count, threads, split(p.outStep, p.count), lines, number(rows))
	f.Printf("%s\t\tidx to_at = to0 + j * (idx)%s;\n\t\tcomplex v = x[line * %d + j];\n", p.places(false, true), number(p.outStep), m)
	if chirped {
		f.Printf("\t\tv = v * eu_root(%s, j); v.y = %sv.y;\n", chirp, conj)
	}
	if p.twist > 0 {
		low := 1 << ((bits.Len(uint(p.twist)) + 1) / 2)
		f.Printf("\t\tindex_t t = j * (index_t)(l %% %s);\n\t\tcomplex root = eu_root(%s, t %% %d) * eu_root(%s, t / %d);\n\t\troot.y = %sroot.y;\n\t\tv = v * root;\n",
			number(p.lines[len(p.lines)-1].n), f.roots(p.twist, low), low, f.rootsBy(p.twist, low), low, pick(f.inverse, "-", ""))
	}
	f.Printf("\t\t%s\n\t}\n\t__syncthreads();\n\t}\n}\n\n", p.store)
}

// perThread returns how many numbers of a line a thread has: as many as the largest radix, or fewer where those of several smaller butterflies would take
// more registers, which decide how many threads a multiprocessor holds.
func perThread(radix []int) int {
	largest := max(4, slices.Max(append(radix, 1)))
	fits := func(each int) bool {
		return !slices.ContainsFunc(radix, func(r int) bool { return (each+r-1)/r*r > max(8, largest) })
	}
	for each := largest; each > 4; each-- {
		if fits(each) {
			return each
		}
	}
	return 4
}

// stages transforms lines of m numbers in shared memory.
func (f *fourier) stages(radix []int, m, lines, threads int, sign string) {
	before, at := 1, 0
	for _, r := range radix {
		f.Printf("\teu_stage<%d, %d, %d, %d, %d>(x, w + %d, R(%s));\n", r, m, before, lines, threads, at, sign)
		if before > 1 {
			at += before * (r - 1)
		}
		before *= r
	}
}
