// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import "math"

type vec = [3]float64

// mat3 holds rows.
type mat3 [3]vec

func dot(a, b vec) float64 { return a[0]*b[0] + a[1]*b[1] + a[2]*b[2] }

func scale(f float64, a vec) vec { return vec{f * a[0], f * a[1], f * a[2]} }

func cross(a, b vec) vec {
	return vec{a[1]*b[2] - a[2]*b[1], a[2]*b[0] - a[0]*b[2], a[0]*b[1] - a[1]*b[0]}
}

func (m mat3) times(v vec) vec { return vec{dot(m[0], v), dot(m[1], v), dot(m[2], v)} }

func (m mat3) transposed() (t mat3) {
	for i := range m {
		for j := range m {
			t[i][j] = m[j][i]
		}
	}
	return t
}

func (m mat3) product(o mat3) (p mat3) {
	for i := range m {
		for j := range o {
			for k := range o {
				p[i][j] += m[i][k] * o[k][j]
			}
		}
	}
	return p
}

// turn returns the rotation by angle about the unit vector axis (Rodrigues).
func turn(axis vec, angle float64) (m mat3) {
	s, c := math.Sincos(angle)
	for i := range m {
		unit := vec{}
		unit[i] = 1
		w := cross(axis, unit)
		for j := range m {
			m[j][i] = c*unit[j] + s*w[j] + (1-c)*dot(axis, unit)*axis[j]
		}
	}
	return m
}

// fromZ returns the smallest rotation that brings +z to the unit vector k.
func fromZ(k vec) mat3 {
	z := vec{0, 0, 1}
	axis := cross(z, k)
	s := math.Sqrt(dot(axis, axis))
	if s == 0 {
		return turn(z, 0)
	}
	return turn(scale(1/s, axis), math.Atan2(s, k[2]))
}

// beam is one direction of the light.
type beam struct {
	k      vec // unit vector along the light
	e1, e2 vec // electric field at 0 and at 90 degrees: e = cos e1 + sin e2
	angles []float64
}

// newBeam sets up direction k of c, with angles in radians.
func newBeam(c *Config, k vec) *beam {
	r := fromZ(k)
	b := &beam{k: k, e1: r.times(vec{1, 0, 0}), e2: r.times(vec{0, 1, 0})}
	base := 0.0
	if c.Case != Transmission {
		base = baseAngle(b.e1, b.e2)
		if c.CorrectBaseAngle {
			base *= 180 / math.Pi
		}
	}
	list, _ := c.Angles.List()
	for _, a := range list {
		b.angles = append(b.angles, (a+base)*math.Pi/180)
	}
	return b
}

// baseSteps is the resolution of baseAngle in CyRSoXS: the number of steps in half a turn.
const baseSteps = 100000

// baseAngle returns the angle, from 0 to 2 pi in steps, by which e1 is rotated about the beam into
// the plane y = 0, towards +x.
func baseAngle(e1, e2 vec) float64 {
	angle := math.Atan2(-e1[1], e2[1])
	if s, c := math.Sincos(angle); c*e1[0]+s*e2[0] < 0 {
		angle += math.Pi
	}
	steps := math.Mod(math.Round(angle*baseSteps/math.Pi)+2*baseSteps, 2*baseSteps)
	return steps * math.Pi / baseSteps
}
