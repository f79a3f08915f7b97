package cuda

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	dsp "gonum.org/v1/gonum/dsp/fourier"
)

// Fourier transforms the last axes of complex arrays, without dividing: attributes say how many axes,
// and whether it is the inverse.
func Fourier(s *Step) bool {
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
	switch radix := radices(p.n); {
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
	k := Launch{Kernel: f.g.name("fft_copy"), Grid: gridOf(n, perThread, mostGrid), Block: block}
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
	m, radix := p.n, radices(p.n)
	chirped := radix == nil
	chirp, spectrum := "", ""
	if chirped {
		m = smoothFrom(2*p.n - 1)
		radix = radices(m)
		chirp, spectrum = f.chirp(p.n, m)
	}
	rows := p.rows()
	lines := min(rows, max(1, min(f.capacity()/m, max(8, f.capacity()/4/m))))
	threads := min(block, max(warp, (lines*m/4+warp-1)/warp*warp))
	groups := (rows + lines - 1) / lines
	size := f.capacity() / 4
	for size < lines*m {
		size *= 2
	}
	room := fmt.Sprintf("fft_room_%d", size)
	f.Shared(room, fmt.Sprintf("__shared__ R %s[%d];\n", room, 2*size))
	roots := f.roots(m, m)
	k := Launch{Kernel: f.g.name("fft"), Grid: max(1, min(groups, mostGrid)), Block: threads}
	f.open(p, k)
	sign, conj := pick(f.inverse && !chirped, "1", "-1"), pick(f.inverse && chirped, "-", "")
	f.Printf("\tcomplex *x = (complex *)%s;\n\tconst R *w = %s;\n\tfor (index_t group = blockIdx.x; group < %s; group += gridDim.x) {\n", room, roots, number(groups))
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
		f.Printf("\t\tint t = (int)(j * (l %% %s));\n\t\tcomplex root = eu_root(%s, t %% %d) * eu_root(%s, t / %d);\n\t\troot.y = %sroot.y;\n\t\tv = v * root;\n",
			number(p.lines[len(p.lines)-1].n), f.roots(p.twist, low), low, f.rootsBy(p.twist, low), low, pick(f.inverse, "-", ""))
	}
	f.Printf("\t\t%s\n\t}\n\t__syncthreads();\n\t}\n}\n\n", p.store)
}

// stages transforms lines of m numbers in shared memory.
func (f *fourier) stages(radix []int, m, lines, threads int, sign string) {
	before := 1
	for _, r := range radix {
		f.Printf("\teu_stage<%d, %d, %d, %d, %d>(x, w, R(%s));\n", r, m, before, lines, threads, sign)
		before *= r
	}
}

// roots returns a table of exp(-2 pi i k/n), k = 0 ... count-1.
func (f *fourier) roots(n, count int) string {
	return f.table(fmt.Sprintf("roots %d %d", n, count), count, func(k int) (x, y float64) { return root(k, n) })
}

// rootsBy returns a table of exp(-2 pi i k step/n) for multiples of a step below n.
func (f *fourier) rootsBy(n, step int) string {
	return f.table(fmt.Sprintf("roots %d by %d", n, step), (n+step-1)/step, func(k int) (x, y float64) { return root(k*step, n) })
}

// root returns exp(-2 pi i k/n), 0 <= k < n, from an angle of at most an eighth of a turn.
func root(k, n int) (x, y float64) {
	eighth := 8 * k / n
	turn := func(k int) (c, s float64) {
		s, c = math.Sincos(2 * math.Pi * float64(k) / float64(n))
		return c, s
	}
	switch {
	case eighth == 0:
		c, s := turn(k)
		return c, -s
	case 8*k <= 2*n: // up to a quarter: the mirror image
		s, c := math.Sincos(math.Pi / 2 * float64(n-4*k) / float64(n))
		return s, -c
	case 2*k <= n:
		c, s := root(k*4-n, 4*n)
		return s, -c
	}
	x, y = root(n-k, n)
	return x, -y
}

// chirp returns tables of exp(-pi i k^2/n), and of the transform of its conjugate over m numbers, divided
// by m.
//
// Reference: Bluestein, doi:10.1109/TAU.1970.1162132.
func (f *fourier) chirp(n, m int) (chirp, spectrum string) {
	at := func(k int) (x, y float64) { return root(k*k%(2*n), 2*n) }
	chirp = f.table(fmt.Sprintf("chirp %d", n), n, at)
	name := fmt.Sprintf("chirp %d %d", n, m)
	if f.g.reals[name] == "" {
		b := make([]complex128, m)
		for k := range n {
			x, y := at(k)
			b[k] = complex(x, -y)
			b[(m-k)%m] = b[k]
		}
		b = dsp.NewCmplxFFT(m).Coefficients(nil, b)
		f.table(name, m, func(k int) (x, y float64) { return real(b[k]) / float64(m), imag(b[k]) / float64(m) })
	}
	return chirp, f.g.reals[name]
}

// table returns the C expression of a table of complex numbers in the precision of the program.
func (f *fourier) table(name string, n int, at func(k int) (x, y float64)) string {
	if f.g.reals[name] == "" {
		v := make([]int64, 0, 2*n)
		for k := range n {
			x, y := at(k)
			if f.g.precision == 32 {
				v = append(v, int64(uint64(math.Float32bits(float32(x)))|uint64(math.Float32bits(float32(y)))<<32))
			} else {
				v = append(v, int64(math.Float64bits(x)), int64(math.Float64bits(y)))
			}
		}
		f.g.reals[name] = strings.Replace(f.Table(v), "index_t", "R", 1)
	}
	return f.g.reals[name]
}

// radices splits a length into radices, fours before twos; nil if it has another prime factor.
func radices(n int) []int {
	list := []int{}
	for _, r := range []int{7, 5, 3, 4, 2} {
		for n%r == 0 {
			list, n = append(list, r), n/r
		}
	}
	if n > 1 {
		return nil
	}
	return list
}

// smoothFrom returns the least length from n on that is a product of twos, threes and fives.
func smoothFrom(n int) int {
	best := 1 << bits.Len(uint(n))
	for five := 1; five < best; five *= 5 {
		for three := five; three < best; three *= 3 {
			for two := three; ; two *= 2 {
				if two >= n {
					best = min(best, two)
					break
				}
			}
		}
	}
	return best
}

// fourierText has complex numbers, butterflies and the stages of a transform in shared memory, which sort
// themselves. Reference: Stockham, doi:10.1145/1464182.1464209.
var fourierText = `struct complex { R x, y; };
static inline __device__ complex operator+(complex a, complex b) { complex r = {a.x + b.x, a.y + b.y}; return r; }
static inline __device__ complex operator-(complex a, complex b) { complex r = {a.x - b.x, a.y - b.y}; return r; }
static inline __device__ complex operator*(complex a, complex b) { complex r = {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x}; return r; }
static inline __device__ complex eu_root(const R *w, index_t k) { complex r = {w[2 * k], w[2 * k + 1]}; return r; }
static inline __device__ complex eu_turned(complex a, R s) { complex r = {-s * a.y, s * a.x}; return r; } // times s i
template <int r> struct Butterfly;
template <> struct Butterfly<2> { static inline __device__ void run(complex *v, R) { complex a = v[0]; v[0] = a + v[1]; v[1] = a - v[1]; } };
template <> struct Butterfly<4> { static inline __device__ void run(complex *v, R s) {
	complex a = v[0] + v[2], b = v[0] - v[2], c = v[1] + v[3], d = eu_turned(v[1] - v[3], s);
	v[0] = a + c; v[1] = b + d; v[2] = a - c; v[3] = b - d;
} };
` + oddButterfly(3) + oddButterfly(5) + oddButterfly(7) + `template <int r, int n, int before, int lines, int threads> static inline __device__ void eu_stage(complex *x, const R *w, R s) {
	const int each = n / r, all = lines * each, c = (all + threads - 1) / threads;
	complex v[c][r];
#pragma unroll
	for (int p = 0; p < c; p++) {
		int b = threadIdx.x + p * threads;
		if (b >= all) break;
		int t = b % each, k = t % before;
		const complex *from = x + b / each * n + t;
#pragma unroll
		for (int q = 0; q < r; q++) {
			v[p][q] = from[q * each];
			if (before > 1 && q > 0) {
				complex z = eu_root(w, k * q * (each / before));
				z.y *= -s;
				v[p][q] = v[p][q] * z;
			}
		}
		Butterfly<r>::run(v[p], s);
	}
	__syncthreads();
#pragma unroll
	for (int p = 0; p < c; p++) {
		int b = threadIdx.x + p * threads;
		if (b >= all) break;
		int t = b % each, k = t % before;
		complex *to = x + b / each * n + (t - k) * r + k;
#pragma unroll
		for (int q = 0; q < r; q++) to[q * before] = v[p][q];
	}
	__syncthreads();
}
`

// oddButterfly writes the transform of r numbers, r odd, from the sums and differences of pairs.
func oddButterfly(r int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "template <> struct Butterfly<%d> { static inline __device__ void run(complex *v, R s) {\n\tcomplex u = v[0];\n", r)
	h := r / 2
	for j := 1; j <= h; j++ {
		fmt.Fprintf(&b, "\tcomplex p%[1]d = v[%[1]d] + v[%[2]d], m%[1]d = eu_turned(v[%[1]d] - v[%[2]d], s);\n", j, r-j)
	}
	var sum []string
	for j := 1; j <= h; j++ {
		sum = append(sum, fmt.Sprintf("p%d", j))
	}
	fmt.Fprintf(&b, "\tv[0] = u + %s;\n", strings.Join(sum, " + "))
	for k := 1; k <= h; k++ {
		fmt.Fprintf(&b, "\t{ complex a = u, d = {R(0), R(0)};\n")
		for j := 1; j <= h; j++ {
			x, y := root(j*k%r, r)
			fmt.Fprintf(&b, "\ta.x += R(%.17[2]g) * p%[1]d.x; a.y += R(%.17[2]g) * p%[1]d.y; d.x += R(%.17[3]g) * m%[1]d.x; d.y += R(%.17[3]g) * m%[1]d.y;\n", j, x, -y)
		}
		fmt.Fprintf(&b, "\tv[%d] = a + d; v[%d] = a - d; }\n", k, r-k)
	}
	b.WriteString("} };\n")
	return b.String()
}
