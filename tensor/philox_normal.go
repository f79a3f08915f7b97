// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package tensor

import (
	"math"
	"unsafe"

	"github.com/euryale-dev/euryale/kernels"
)

// Normal returns a standard normal number: the normal quantile of a uniform number with 64 random
// bits. The top bit is the sign and the others are a probability in (0, 1/2), so the tails reach
// 9.1 standard deviations. It always advances by two words, so that normal number i of a stream can
// be addressed.
func (s *Stream) Normal() float64 {
	return normalOf(s.Uint64())
}

func normalOf(u uint64) float64 {
	p := (float64(int64(u&(1<<63-1))) + 0.5) * 0x1p-64
	sign := u & (1 << 63) // a coin toss: no branch can guess it
	return math.Float64frombits(math.Float64bits(upperQuantile(p)) | sign)
}

// NormalTo fills dst with standard normal numbers and returns it. They are those that Normal would
// return one by one, several times as fast.
func (s *Stream) NormalTo(dst []float64) []float64 { return s.normalTo(kernels.Best(), dst) }

func (s *Stream) normalTo(l kernels.Level, dst []float64) []float64 {
	for i := 0; i < len(dst); {
		if i += s.normalVectors(l, dst[i:]); i == len(dst) {
			break
		}
		single := 16
		if s.pos%4 == 2 { // the next number ends a counter
			single = 1
		}
		for end := min(len(dst), i+single); i < end; i++ {
			dst[i] = s.Normal()
		}
	}
	return dst
}

// normalVectors writes the first numbers of dst, as many as whole vectors hold and at most 256, and
// returns how many. Their words stand in dst before, since memory of its own would be allocated.
func (s *Stream) normalVectors(l kernels.Level, dst []float64) int {
	if len(dst) < 16 || s.pos%4 != 0 { // the words of a counter belong to two numbers
		return 0
	}
	words := unsafe.Slice((*uint64)(unsafe.Pointer(&dst[0])), min(256, len(dst)))
	n := kernels.Philox(l, words, s.pos/4, uint64(s.purpose)<<32|uint64(s.id), s.seed)
	s.pos += 2 * uint64(n)
	normals(l, dst, words[:n])
	return n
}

// Normals fills dst with the standard normal numbers that Stream.Normal makes of words from
// Stream.Uint64. dst may have the memory of words, and Normals panics if it is shorter.
func Normals(dst []float64, words []uint64) { normals(kernels.Best(), dst, words) }

func normals(l kernels.Level, dst []float64, words []uint64) {
	for i := 0; i < len(words); {
		n := kernels.NormalQuantiles(l, dst[i:], words[i:])
		i += n
		for end := min(len(words), i+8); i < end; i++ { // one of the next eight is in the far tail
			dst[i] = normalOf(words[i])
		}
	}
}

// BoxMuller maps two random words to two normal numbers as the CUDA kernels do.
//
//	u1 = ((a>>8)+1) 2^-24,  u2 = (b>>8) 2^-24,  sqrt(-2 log u1) (cos, sin)(2 pi u2)
//
// Their 24 bits end the tails at 5.8 standard deviations; use Stream.Normal for
// statistics.
func BoxMuller(a, b uint32) (float64, float64) {
	r := math.Sqrt(-2 * math.Log(float64(a>>8+1)*0x1p-24))
	sin, cos := math.Sincos(2 * math.Pi * float64(b>>8) * 0x1p-24)
	return r * cos, r * sin
}

// upperQuantile returns z >= 0 with P(Z > z) = p for p in (0, 1/2].
//
// Products are rounded before they are added, so that every processor returns the same bits as
// kernels.NormalQuantiles.
//
// Reference: Wichura, algorithm AS 241 (PPND16), doi 10.2307/2347330; relative
// error about 1e-16.
func upperQuantile(p float64) float64 {
	if q := 0.5 - p; q <= 0.425 {
		return q * ratio8(0.180625-float64(q*q), &centre)
	}
	r := math.Sqrt(-naturalLog(p))
	if r <= 5 {
		return ratio8(r-1.6, &tail)
	}
	return ratio8(r-5, &farTail)
}

// naturalLog returns log(x) of a normal number x, with the bits of math.Log on amd64, which those of other
// processors are not.
//
// Reference: FreeBSD's e_log.c, as in package math.
func naturalLog(x float64) float64 {
	f, exponent := math.Frexp(x)
	k := float64(exponent)
	if f < math.Sqrt2/2 {
		f, k = 2*f, k-1
	}
	f--
	s := f / (2 + f)
	s2 := s * s
	s4 := s2 * s2
	odd := float64((float64((float64(s4*1.479819860511658591e-01)+1.818357216161805012e-01)*s4) + 2.857142874366239149e-01) * s4)
	odd = float64((odd + 6.666666666666735130e-01) * s2)
	even := float64((float64((float64(s4*1.531383769920937332e-01)+2.222219843214978396e-01)*s4) + 3.999999999940941908e-01) * s4)
	half := float64(float64(0.5*f) * f)
	sum := float64(k*1.90821492927058770002e-10) + float64(s*(half+(odd+even)))
	return float64(k*6.93147180369123816490e-01) - ((half - sum) - f)
}

// ratio8 divides two polynomials of degree 7, coefficients from the lowest.
func ratio8(x float64, c *[2][8]float64) float64 {
	a, b := &c[0], &c[1]
	p, q := a[7], b[7]
	for i := 6; i >= 0; i-- {
		p, q = float64(p*x)+a[i], float64(q*x)+b[i]
	}
	return p / q
}

var centre = [2][8]float64{
	{3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3, 1.3731693765509461125e4,
		4.5921953931549871457e4, 6.7265770927008700853e4, 3.3430575583588128105e4, 2.5090809287301226727e3},
	{1, 4.2313330701600911252e1, 6.8718700749205790830e2, 5.3941960214247511077e3,
		2.1213794301586595867e4, 3.9307895800092710610e4, 2.8729085735721942674e4, 5.2264952788528545610e3},
}

var tail = [2][8]float64{
	{1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550, 3.64784832476320460504,
		1.27045825245236838258, 2.41780725177450611770e-1, 2.27238449892691845833e-2, 7.74545014278341407640e-4},
	{1, 2.05319162663775882187, 1.67638483018380384940, 6.89767334985100004550e-1,
		1.48103976427480074590e-1, 1.51986665636164571966e-2, 5.47593808499534494600e-4, 1.05075007164441684324e-9},
}

var farTail = [2][8]float64{
	{6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580, 2.96560571828504891230e-1,
		2.65321895265761230930e-2, 1.24266094738807843860e-3, 2.71155556874348757815e-5, 2.01033439929228813265e-7},
	{1, 5.99832206555887937690e-1, 1.36929880922735805310e-1, 1.48753612908506148525e-2,
		7.86869131145613259100e-4, 1.84631831751005468180e-5, 1.42151175831644588870e-7, 2.04426310338993978564e-15},
}
