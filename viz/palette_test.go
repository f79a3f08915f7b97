// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"image/color"
	"math"
	"testing"
)

// toLab is the inverse of lab.color.
func toLab(c color.NRGBA) lab {
	lin := func(v uint8) float64 {
		x := float64(v) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	r, g, b := lin(c.R), lin(c.G), lin(c.B)
	l := math.Cbrt(0.4122214708*r + 0.5363325363*g + 0.0514459929*b)
	m := math.Cbrt(0.2119034982*r + 0.6806995451*g + 0.1073969566*b)
	s := math.Cbrt(0.0883024619*r + 0.2817188376*g + 0.6299787005*b)
	return lab{0.2104542553*l + 0.7936177850*m - 0.0040720468*s,
		1.9779984951*l - 2.4285922050*m + 0.4505937099*s,
		0.0259040371*l + 0.7827717662*m - 0.8086757660*s}
}

func TestIntensityGetsLighterInEvenSteps(t *testing.T) {
	m := evenMap()
	const stride = 10 // beyond the rounding to 8 bits
	least, most := math.Inf(1), 0.0
	for i := stride; i < len(m); i += stride {
		a, b := toLab(m[i-stride]), toLab(m[i])
		if b.l <= a.l {
			t.Errorf("colour %d is not lighter than colour %d", i, i-stride)
		}
		least, most = min(least, b.distance(a)), max(most, b.distance(a))
	}
	if most/least > 1.25 {
		t.Errorf("steps differ by a factor of %.2f", most/least)
	}
	if first, last := toLab(m[0]).l, toLab(m[len(m)-1]).l; first > 0.2 || last < 0.9 {
		t.Errorf("lightness from %.2f to %.2f", first, last)
	}
}

func TestSignedMapIsLightestAtZero(t *testing.T) {
	m := signedMap()
	n := len(m)
	for i := 12; i < n/2; i += 12 {
		if toLab(m[i]).l <= toLab(m[i-12]).l || toLab(m[n-1-i]).l <= toLab(m[n-1-i+12]).l {
			t.Errorf("lightness does not rise towards the middle at %d", i)
		}
	}
	if mid := m[n/2]; min(mid.R, mid.G, mid.B) < 235 {
		t.Errorf("the middle is %v", mid)
	}
}

// Brettel-style simulation is more than is needed here: lightness and hue of the
// chains must differ plainly.
func TestChainsDiffer(t *testing.T) {
	for i, a := range okabeIto {
		for _, b := range okabeIto[:i] {
			if d := toLab(a).distance(toLab(b)); d < 0.12 {
				t.Errorf("%v and %v are %.3f apart", a, b, d)
			}
		}
	}
}
