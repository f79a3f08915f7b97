// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist

import (
	"math"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// VonMises is the distribution of an angle (rad) around mu with concentration kappa. The
// density is periodic and accepts any angle; draws and the transform use angles from -pi
// to pi. It has no LogCDF.
//
//	log p = kappa cos(x-mu) - log(2 pi I0(kappa))
func VonMises(mu, kappa any) Dist {
	p := Nodes(mu, kappa)
	return Dist{Name: "vonmises", Params: p, Support: Support{Lower: ad.Scalar(-math.Pi), Upper: ad.Scalar(math.Pi)},
		InsideOf: func(x *ad.Node) *ad.Node { return ad.Less(ad.Abs(x), plusInfinity) }, Center: zero,
		LogProbOf: func(x *ad.Node) *ad.Node { // cos d - 1 = -2 sin^2(d/2)
			half := ad.Square(ad.Sin(ad.Scale(0.5, ad.Sub(x, p[0]))))
			return ad.Neg(ad.Add(ad.Mul(p[1], ad.Scale(2, half)), ad.Shift(ad.BesselLogI0e(p[1]), math.Log(2*math.Pi))))
		},
		RandOf: func(src Source, p []float64) float64 { return wrapped(p[0] + vonMisesRand(src, p[1])) },
		CDFOf: func(x float64, p []float64) float64 {
			mean := p[0]
			if !(math.Abs(mean) <= math.Pi) { // turns of a large angle would take digits from x
				mean = math.Atan2(math.Sincos(mean))
			}
			return anglesBetween(-math.Pi-mean, x-mean, p[1])
		},
	}
}

// wrapped returns the equivalent angle in [-pi, pi).
func wrapped(x float64) float64 {
	x = math.Mod(x+math.Pi, 2*math.Pi)
	if x < 0 {
		x += 2 * math.Pi
	}
	return x - math.Pi
}

// vonMisesRand draws the angle from the mean by rejection from a wrapped Cauchy
// distribution.
//
// Reference: Best and Fisher, doi 10.2307/2346732.
func vonMisesRand(src Source, kappa float64) float64 {
	if !(kappa >= 0) {
		return math.NaN()
	}
	if kappa < 1e-8 {
		return 2 * math.Pi * (open(src) - 0.5)
	}
	s := 0.5 / kappa
	r := s + math.Sqrt(1+s*s)
	if kappa > 1e8 { // the wrapped distribution is normal to machine precision
		return src.Normal() / math.Sqrt(kappa)
	}
	for {
		z := math.Cos(math.Pi * open(src))
		w := (1 + r*z) / (r + z)
		y := kappa * (r - w)
		u := open(src)
		if y*(2-y) > u || math.Log(y/u)+1 >= y {
			return math.Copysign(math.Acos(max(-1, min(1, w))), open(src)-0.5)
		}
	}
}

// anglesBetween returns the probability of angles from the mean between two, which grows by 1 per turn. Tails on one side
// of the mean are subtracted from each other, not from halves.
func anglesBetween(from, to, kappa float64) float64 {
	place := func(d float64) (whole, tail float64) { // of what is below d
		whole = math.Round(d / (2 * math.Pi))
		d -= 2 * math.Pi * whole
		if tail = angleTail(math.Abs(d), kappa); d > 0 {
			return whole + 1, -tail
		}
		return whole, tail
	}
	a, tailA := place(from)
	b, tailB := place(to)
	return b - a + (tailB - tailA)
}

// angleTail returns the probability of angles beyond d on one side of the mean, up to half a turn.
func angleTail(d, kappa float64) float64 {
	fall := func(t float64) float64 { // of the log density
		s := math.Sin(t / 2)
		return 2 * kappa * s * s
	}
	if fall(d) > 800 {
		return 0 // and steps might be below the spacing of numbers
	}
	width := min(1, 1.5/math.Sqrt(kappa), 8/(kappa*math.Sin(d)))
	sum, first := 0.0, fall(d)
	for at := d; at < math.Pi && fall(at)-first < 45; at += width {
		sum += integrate(func(t float64) float64 { return math.Exp(first - fall(t)) }, at, min(at+width, math.Pi))
	}
	return sum * math.Exp(-first-logI0e.Eval(kappa)) / (2 * math.Pi)
}

var logI0e = ad.BesselLogI0e(zero).Op()

func init() {
	register(Family{Name: "vonmises", Params: []string{"mu", "kappa"}, Want: []Support{Real, NonNegative},
		Make: func(p ...any) Dist { return VonMises(p[0], p[1]) },
		At:   [][]float64{{0, 1}, {2.5, 6}}})
}
