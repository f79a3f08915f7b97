// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import "math"

// fftAxis transforms lines of n numbers.
//
//	n = r[0] r[1] ... : pass i joins r[i] transforms of l = r[0] ... r[i-1] numbers (decimation in time)
//
// Numbers are read to the places from which the passes bring them into order. An inverse transform is a forward one of
// the numbers in reversed order, which is another list of places. A length with a large prime factor is a convolution
// with a chirp instead (Bluestein, doi:10.1109/TAU.1970.1162132).
type fftAxis[T float] struct {
	k      *fftKernels[T]
	n      int
	radix  []int
	tw     [][]T // twiddle factors of each pass, for legs 1..r-1 and j < l
	angles [][]T // fftAngles of each pass that has no kernel for its radix
	pos    [2][]int
	starts [2][]int // places that the butterflies of the first pass start from, forwards and inverse
	tmp    int      // scratch elements needed by passes of odd radix
	chirp  *fftChirp[T]
}

// fftLargest is the largest prime factor that has a pass of its own.
const fftLargest = 61

func newFFTAxis[T float](k *fftKernels[T], n int) *fftAxis[T] {
	x := &fftAxis[T]{k: k, n: n}
	radix, rest := fftRadices(n)
	if rest > 1 {
		x.chirp = newFFTChirp(k, n)
		x.pos = fftReversed(identity(n))
		return x
	}
	x.radix = radix
	x.pos = fftReversed(fftPlaces(n, radix))
	l := 1
	for i, r := range radix {
		x.tw, x.angles = append(x.tw, nil), append(x.angles, nil)
		if i > 0 || x.isOdd(r) {
			x.tw[i] = fftFactors[T](l, r, x.isOdd(r))
		}
		if x.isOdd(r) {
			x.angles[i] = fftAngles[T](r)
			x.tmp = max(x.tmp, r-1)
		}
		l *= r
	}
	x.starts = x.firstLegs()
	return x
}

// isOdd reports whether a pass of radix r is done by the loop for odd numbers.
func (x *fftAxis[T]) isOdd(r int) bool { return r > 8 || x.k.pass[r] == nil }

// fftRadices factors n for the passes; rest is what is left of factors that are too large. Radices with a fast first
// and last pass stand at the ends.
func fftRadices(n int) (radix []int, rest int) {
	twos := 0
	for n%2 == 0 {
		n /= 2
		twos++
	}
	var small, odd []int
	switch {
	case twos == 1:
		small = append(small, 2)
	case twos%3 == 1:
		small = append(small, 4, 4)
		twos -= 4
	case twos%3 == 2:
		small = append(small, 4)
		twos -= 2
	}
	for ; twos >= 3; twos -= 3 {
		small = append(small, 8)
	}
	for _, p := range []int{3, 5} {
		for n%p == 0 {
			small = append(small, p)
			n /= p
		}
	}
	for p := 7; p <= fftLargest && p <= n; p += 2 {
		for n%p == 0 {
			odd = append(odd, p)
			n /= p
		}
	}
	if len(small) == 0 {
		return odd, n
	}
	return append(append(small[:1:1], odd...), small[1:]...), n
}

// fftPlaces returns where each number of a line goes before the passes.
func fftPlaces(n int, radix []int) []int {
	pos := make([]int, n)
	for j := range pos {
		at, rest, size := 0, j, n
		for i := len(radix) - 1; i >= 0; i-- {
			size /= radix[i]
			at += rest % radix[i] * size
			rest /= radix[i]
		}
		pos[j] = at
	}
	return pos
}

func identity(n int) []int {
	pos := make([]int, n)
	for j := range pos {
		pos[j] = j
	}
	return pos
}

// fftReversed adds the places of the numbers in the order 0, n-1, n-2, ..., 1.
func fftReversed(pos []int) [2][]int {
	n := len(pos)
	back := make([]int, n)
	for j := range back {
		back[j] = pos[(n-j)%n]
	}
	return [2][]int{pos, back}
}

// firstLegs lists, for each butterfly of the first pass, the number that its first leg reads and the one from which the
// others count by n/r, forwards or, for the inverse, backwards.
func (x *fftAxis[T]) firstLegs() [2][]int {
	var starts [2][]int
	if len(x.radix) == 0 {
		return starts
	}
	r := x.radix[0]
	forward, back := make([]int, 2*x.n/r), make([]int, 2*x.n/r)
	for j, at := range x.pos[0][:x.n/r] {
		b := at / r
		forward[2*b], forward[2*b+1] = j, j
		back[2*b], back[2*b+1] = (x.n-j)%x.n, x.n-j
	}
	return [2][]int{forward, back}
}

// root returns exp(-2 pi i k/n), correct to the last place or so.
func root(k, n int) (re, im float64) {
	k %= n
	// k/n = q/8 + small: the angle of an octant.
	q := (8*k + n/2) / n
	s, c := math.Sincos(2 * math.Pi * (float64(8*k-q*n) / (8 * float64(n))))
	h := math.Sqrt2 / 2
	rot := [8][2]float64{{1, 0}, {h, h}, {0, 1}, {-h, h}, {-1, 0}, {-h, -h}, {0, -1}, {h, -h}}[q%8]
	return c*rot[0] - s*rot[1], -(s*rot[0] + c*rot[1])
}

// fftFactors returns exp(-2 pi i j k/(l r)) for j < l and legs k = 1..r-1, or in the order 1, r-1, 2, r-2, ...
func fftFactors[T float](l, r int, ends bool) []T {
	tw := make([]T, 0, 2*l*(r-1))
	for j := range l {
		for i := 1; i < r; i++ {
			k := i
			if ends {
				k = (i + 1) / 2
				if i%2 == 0 {
					k = r - k
				}
			}
			re, im := root(j*k, l*r)
			tw = append(tw, T(re), T(im))
		}
	}
	return tw
}

// fftAngles returns the pairs (cosine, sine) of 2 pi i k/p for k, i = 1..(p-1)/2.
func fftAngles[T float](p int) []T {
	var out []T
	for k := 1; k <= p/2; k++ {
		for i := 1; i <= p/2; i++ {
			re, im := root(i*k, p)
			out = append(out, T(re), T(-im))
		}
	}
	return out
}

// passes does passes a to b-1 of a block.
func (x *fftAxis[T]) passes(w, tmp []T, a, b int) {
	l := 1
	for i, r := range x.radix {
		switch {
		case i < a || i >= b:
		case x.isOdd(r):
			x.k.odd(&w[0], &x.tw[i][0], l, x.n, r, &x.angles[i][0], &tmp[0])
		case i == 0:
			x.k.first[r](&w[0], x.n)
		default:
			x.k.pass[r](&w[0], &x.tw[i][0], l, x.n)
		}
		l *= r
	}
}
