// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cuda

import (
	"fmt"
	"math"
	"math/bits"
	"strings"

	dsp "gonum.org/v1/gonum/dsp/fourier"
)

// roots returns a table of exp(-2 pi i k/n), k = 0 ... count-1.
func (f *fourier) roots(n, count int) string {
	return f.table(fmt.Sprintf("roots %d %d", n, count), count, func(k int) (x, y float64) { return root(k, n) })
}

// rootsBy returns a table of exp(-2 pi i k step/n) for multiples of a step below n.
func (f *fourier) rootsBy(n, step int) string {
	return f.table(fmt.Sprintf("roots %d by %d", n, step), (n+step-1)/step, func(k int) (x, y float64) { return root(k*step, n) })
}

// stageRoots returns a table of the roots of all stages but the first, in the order in which threads beside each other load them: those of number q of the butterflies of r
// numbers are exp(-2 pi i k q/(before r)), k = 0 ... before-1, q = 1 ... r-1.
func (f *fourier) stageRoots(m int, radix []int) string {
	type place struct{ k, n int }
	var all []place
	before := 1
	for _, r := range radix {
		for q := 1; q < r && before > 1; q++ {
			for k := range before {
				all = append(all, place{k * q, before * r})
			}
		}
		before *= r
	}
	return f.table(fmt.Sprintf("stages %d", m), len(all), func(i int) (x, y float64) { return root(all[i].k, all[i].n) })
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

// radices splits a length into radices; nil if it has a prime factor above 7. Its twos are as few powers as can be, of at most most, whose exponents differ by at most one, larger ones first.
func radices(n, most int) []int {
	list := []int{}
	for _, r := range []int{7, 5, 3} {
		for n%r == 0 {
			list, n = append(list, r), n/r
		}
	}
	twos := bits.TrailingZeros(uint(n))
	if n>>twos > 1 {
		return nil
	}
	largest := bits.Len(uint(most)) - 1
	for stages := (twos + largest - 1) / largest; stages > 0; stages-- {
		exponent := (twos + stages - 1) / stages
		list, twos = append(list, 1<<exponent), twos-exponent
	}
	return list
}

// radix returns the largest radix of the transforms of a program.
func (f *fourier) radix() int { return f.g.choice("fft_radix") }

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
var fourierText = `struct alignas(2 * sizeof(R)) complex { R x, y; };
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
template <> struct Butterfly<8> { static inline __device__ void run(complex *v, R s) {
	const R h = R(0.70710678118654752);
	complex a[4] = {v[0], v[2], v[4], v[6]}, b[4] = {v[1], v[3], v[5], v[7]};
	Butterfly<4>::run(a, s); Butterfly<4>::run(b, s);
	complex t = b[1] + eu_turned(b[1], s), u = eu_turned(b[3], s) - b[3];
	b[1].x = h * t.x; b[1].y = h * t.y; b[2] = eu_turned(b[2], s); b[3].x = h * u.x; b[3].y = h * u.y;
#pragma unroll
	for (int k = 0; k < 4; k++) { v[k] = a[k] + b[k]; v[k + 4] = a[k] - b[k]; }
} };
template <> struct Butterfly<16> { static inline __device__ void run(complex *v, R s) { // fours of fours
	const R c = R(0.92387953251128676), d = R(0.38268343236508977), h = R(0.70710678118654752);
	const complex by[10] = {{R(1), R(0)}, {c, s * d}, {h, s * h}, {d, s * c}, {R(0), s}, {R(0), R(0)}, {-h, s * h}, {R(0), R(0)}, {R(0), R(0)}, {-c, -s * d}};
	complex t[4][4];
#pragma unroll
	for (int j = 0; j < 4; j++) {
#pragma unroll
		for (int q = 0; q < 4; q++) t[j][q] = v[j + 4 * q];
		Butterfly<4>::run(t[j], s);
	}
#pragma unroll
	for (int k = 0; k < 4; k++) {
		complex u[4];
#pragma unroll
		for (int j = 0; j < 4; j++) u[j] = j * k == 0 ? t[j][k] : t[j][k] * by[j * k];
		Butterfly<4>::run(u, s);
#pragma unroll
		for (int q = 0; q < 4; q++) v[k + 4 * q] = u[q];
	}
} };
` + oddButterfly(3) + oddButterfly(5) + oddButterfly(7) + `template <int r, int n, int before, int lines, int threads> static inline __device__ void eu_stage(complex *x, const complex *w, R s) {
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
				complex z = w[(q - 1) * before + k];
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
