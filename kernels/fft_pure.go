// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"math"
	"unsafe"
)

var (
	pureFFT64 = pureFFT[float64]()
	pureFFT32 = pureFFT[float32]()
)

const pureLanes = 8

// fftElement is one number of every line of a block.
type fftElement[T float] struct{ re, im [pureLanes]T }

// fftLegs are the numbers that one butterfly combines.
type fftLegs[T float] [8]*fftElement[T]

func pureFFT[T float]() fftKernels[T] {
	k := fftKernels[T]{lanes: pureLanes, line: identity(pureLanes), odd: pureOdd[T], linesIn: pureLinesIn[T], linesOut: pureLinesOut[T], linesOutTimes: pureLinesOutTimes[T], linesOutOver: pureLinesOutOver[T],
		rowsIn: pureRowsIn[T], rowsOut: pureRowsOut[T],
		realRowsIn: pureRealRowsIn[T], realRowsOut: pureRealRowsOut[T], mirror: pureMirror[T], untangle: pureUntangle[T], tangle: pureTangle[T], scatterProduct: pureScatterProduct[T]}
	for r, f := range map[int]func(x fftLegs[T]){2: butterfly2[T], 3: butterfly3[T], 4: butterfly4[T], 5: butterfly5[T], 8: butterfly8[T]} {
		k.first[r] = func(w *T, n int) {
			for b := 0; b < n; b += r {
				f(legs(elements(w, n)[b:], r, 1))
			}
		}
		k.pass[r] = func(w, tw *T, l, n int) {
			factors := unsafe.Slice(tw, 2*l*(r-1))
			for b := 0; b < n; b += l * r {
				for j := range l {
					x := legs(elements(w, n)[b+j:], r, l)
					for i := 1; i < r; i++ {
						at := 2 * (j*(r-1) + i - 1)
						x[i].times(factors[at], factors[at+1])
					}
					f(x)
				}
			}
		}
	}
	return k
}

func elements[T float](w *T, n int) []fftElement[T] {
	return unsafe.Slice((*fftElement[T])(unsafe.Pointer(w)), n)
}

func legs[T float](w []fftElement[T], r, l int) (x fftLegs[T]) {
	for i := range r {
		x[i] = &w[i*l]
	}
	return x
}

func (x *fftElement[T]) times(c, s T) {
	for i, re := range x.re {
		im := x.im[i]
		x.re[i], x.im[i] = re*c-im*s, im*c+re*s
	}
}

func butterfly2[T float](x fftLegs[T]) {
	a, b := x[0], x[1]
	for i := range pureLanes {
		a.re[i], b.re[i] = a.re[i]+b.re[i], a.re[i]-b.re[i]
		a.im[i], b.im[i] = a.im[i]+b.im[i], a.im[i]-b.im[i]
	}
}

func butterfly3[T float](x fftLegs[T]) {
	a, b, c := x[0], x[1], x[2]
	s := T(math.Sqrt(3) / 2)
	for i := range pureLanes {
		tr, ti := b.re[i]+c.re[i], b.im[i]+c.im[i]
		dr, di := s*(b.re[i]-c.re[i]), s*(b.im[i]-c.im[i])
		mr, mi := a.re[i]-tr/2, a.im[i]-ti/2
		a.re[i], a.im[i] = a.re[i]+tr, a.im[i]+ti
		b.re[i], b.im[i] = mr+di, mi-dr
		c.re[i], c.im[i] = mr-di, mi+dr
	}
}

func butterfly4[T float](x fftLegs[T]) {
	a, b, c, d := x[0], x[1], x[2], x[3]
	for i := range pureLanes {
		pr, pi, mr, mi := a.re[i]+c.re[i], a.im[i]+c.im[i], a.re[i]-c.re[i], a.im[i]-c.im[i]
		qr, qi, nr, ni := b.re[i]+d.re[i], b.im[i]+d.im[i], b.re[i]-d.re[i], b.im[i]-d.im[i]
		a.re[i], a.im[i] = pr+qr, pi+qi
		b.re[i], b.im[i] = mr+ni, mi-nr
		c.re[i], c.im[i] = pr-qr, pi-qi
		d.re[i], d.im[i] = mr-ni, mi+nr
	}
}

func butterfly5[T float](x fftLegs[T]) {
	a, b, c, d, e := x[0], x[1], x[2], x[3], x[4]
	c1, s1 := T(math.Cos(2*math.Pi/5)), T(math.Sin(2*math.Pi/5))
	c2, s2 := T(math.Cos(4*math.Pi/5)), T(math.Sin(4*math.Pi/5))
	for i := range pureLanes {
		t1r, t1i, d1r, d1i := b.re[i]+e.re[i], b.im[i]+e.im[i], b.re[i]-e.re[i], b.im[i]-e.im[i]
		t2r, t2i, d2r, d2i := c.re[i]+d.re[i], c.im[i]+d.im[i], c.re[i]-d.re[i], c.im[i]-d.im[i]
		pr, pi := a.re[i]+c1*t1r+c2*t2r, a.im[i]+c1*t1i+c2*t2i
		qr, qi := a.re[i]+c2*t1r+c1*t2r, a.im[i]+c2*t1i+c1*t2i
		ur, ui := s1*d1r+s2*d2r, s1*d1i+s2*d2i
		vr, vi := s2*d1r-s1*d2r, s2*d1i-s1*d2i
		a.re[i], a.im[i] = a.re[i]+t1r+t2r, a.im[i]+t1i+t2i
		b.re[i], b.im[i], e.re[i], e.im[i] = pr+ui, pi-ur, pr-ui, pi+ur
		c.re[i], c.im[i], d.re[i], d.im[i] = qr+vi, qi-vr, qr-vi, qi+vr
	}
}

// butterfly8 joins the transforms of the four numbers at even and the four at odd places.
func butterfly8[T float](x fftLegs[T]) {
	even := [4]fftElement[T]{*x[0], *x[2], *x[4], *x[6]}
	odd := [4]fftElement[T]{*x[1], *x[3], *x[5], *x[7]}
	butterfly4(fftLegs[T]{&even[0], &even[1], &even[2], &even[3]})
	butterfly4(fftLegs[T]{&odd[0], &odd[1], &odd[2], &odd[3]})
	h := T(math.Sqrt2 / 2)
	odd[1].times(h, -h)
	odd[2].times(0, -1)
	odd[3].times(-h, -h)
	for k := range even {
		p, q, e, o := x[k], x[k+4], &even[k], &odd[k]
		for i := range pureLanes {
			p.re[i], q.re[i] = e.re[i]+o.re[i], e.re[i]-o.re[i]
			p.im[i], q.im[i] = e.im[i]+o.im[i], e.im[i]-o.im[i]
		}
	}
}

// pureOdd is a pass of odd radix p: sums and differences of opposite legs, then outputs k and p-k together.
func pureOdd[T float](w, tw *T, l, n, p int, angles, tmp *T) {
	h := p / 2
	x, t := elements(w, n), elements(tmp, 2*h)
	factors, table := unsafe.Slice(tw, 2*l*(p-1)), unsafe.Slice(angles, 2*h*h)
	for b := 0; b < n; b += l * p {
		for j := range l {
			leg := func(k int) *fftElement[T] { return &x[b+j+k*l] }
			x0 := *leg(0)
			for i := range h {
				u, v, f := leg(i+1), leg(p-1-i), factors[2*(j*(p-1)+2*i):]
				u.times(f[0], f[1])
				v.times(f[2], f[3])
				t[2*i], t[2*i+1] = *u, *v
				butterfly2(fftLegs[T]{&t[2*i], &t[2*i+1]})
				leg(0).plus(1, &t[2*i])
			}
			for k := range h {
				sum, dif := x0, fftElement[T]{}
				for i := range h {
					sum.plus(table[2*(k*h+i)], &t[2*i])
					dif.plus(table[2*(k*h+i)+1], &t[2*i+1])
				}
				u, v := leg(k+1), leg(p-1-k)
				for i := range pureLanes {
					u.re[i], v.re[i] = sum.re[i]+dif.im[i], sum.re[i]-dif.im[i]
					u.im[i], v.im[i] = sum.im[i]-dif.re[i], sum.im[i]+dif.re[i]
				}
			}
		}
	}
}

// plus adds f times y to x.
func (x *fftElement[T]) plus(f T, y *fftElement[T]) {
	for i := range pureLanes {
		x.re[i] += f * y.re[i]
		x.im[i] += f * y.im[i]
	}
}

func pureUntangle[T float](w, tw *T, m int) {
	x, f := elements(w, m+1), unsafe.Slice(tw, m/2*2)
	for k := 1; k <= m/2; k++ {
		a, b, c, s := &x[k], &x[m-k], f[2*k-2], f[2*k-1]
		for i := range pureLanes {
			er, ei := (a.re[i]+b.re[i])/2, (a.im[i]-b.im[i])/2
			or, oi := a.im[i]+b.im[i], b.re[i]-a.re[i]
			or, oi = or*c-oi*s, oi*c+or*s
			a.re[i], a.im[i], b.re[i], b.im[i] = er+or, ei+oi, er-or, oi-ei
		}
	}
}

func pureTangle[T float](w, src, tw *T, pos *int, m int) {
	x, y, f, at := elements(src, m+1), elements(w, m), unsafe.Slice(tw, m/2*2), unsafe.Slice(pos, m)
	for k := 1; k <= m/2; k++ {
		a, b, c, s := &x[k], &x[m-k], 2*f[2*k-2], 2*f[2*k-1]
		p, q := &y[at[k]], &y[at[m-k]]
		for i := range pureLanes {
			er, ei := a.re[i]+b.re[i], a.im[i]-b.im[i]
			dr, di := a.re[i]-b.re[i], a.im[i]+b.im[i]
			fr, fi := dr*s-di*c, dr*c+di*s
			p.re[i], p.im[i] = er+fr, ei+fi
			q.re[i], q.im[i] = er-fr, fi-ei
		}
	}
}

func pureScatterProduct[T float](w, src, factors *T, pos *int, n int) {
	x, f := elements(src, n), unsafe.Slice(factors, 2*n)
	for j, p := range unsafe.Slice(pos, n) {
		y := elements(w, p+1)
		y[p] = x[j]
		y[p].times(f[2*j], f[2*j+1])
	}
}

func pureMirror[T float](w, src *T, pos *int, n int) {
	x, y, at := elements(src, n/2+1), elements(w, n), unsafe.Slice(pos, n)
	for k := 1; k <= n/2; k++ {
		p, q := &y[at[k]], &y[at[n-k]]
		*p, *q = x[k], x[k]
		for i, v := range q.im {
			q.im[i] = -v
		}
	}
}
