// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"fmt"
	"math"
)

// Constants are the optical constants of a uniaxial material at one energy:
// n = 1 - delta + i beta along the director (Para) and across it (Perp).
type Constants struct{ DeltaPara, BetaPara, DeltaPerp, BetaPerp float64 }

// Optics holds the constants by energy, as in Config.Energies, then by material.
type Optics [][]Constants

// zeros returns constants of vacuum in the layout of o.
func (o Optics) zeros() Optics {
	z := make(Optics, len(o))
	for e := range z {
		z[e] = make([]Constants, len(o[e]))
	}
	return z
}

// contrast is what the dielectric tensor of a material is made of:
//
//	N = [iso Vfrac + axial pa] 1 + tensor pa s s^T,  pa = aligned volume fraction
//	iso = e_i - 1,  axial = e_o - e_i,  tensor = e_p - e_o
//	e_p = n_para^2,  e_o = n_perp^2,  e_i = ((n_para + 2 n_perp)/3)^2
//
// as differences that cancel nothing.
type contrast struct{ iso, axial, tensor complex128 }

func (c Constants) contrast() contrast {
	p, o := complex(-c.DeltaPara, c.BetaPara), complex(-c.DeltaPerp, c.BetaPerp) // n - 1
	i := (p + 2*o) / 3
	return contrast{
		iso:    i * (2 + i),
		axial:  (o - i) * (2 + o + i),
		tensor: (p - o) * (2 + p + o),
	}
}

// back returns the gradient with respect to the constants from that with respect
// to the contrast (dL/dRe + i dL/dIm).
func (c Constants) back(g contrast) Constants {
	conj := func(z complex128) complex128 { return complex(real(z), -imag(z)) }
	p, o := complex(1-c.DeltaPara, c.BetaPara), complex(1-c.DeltaPerp, c.BetaPerp)
	i := (p + 2*o) / 3
	gp := conj(2*p) * g.tensor
	gq := conj(2*o) * (g.axial - g.tensor)
	gi := conj(2*i) * (g.iso - g.axial)
	gp += gi / 3
	gq += 2 * gi / 3
	return Constants{DeltaPara: -real(gp), BetaPara: imag(gp), DeltaPerp: -real(gq), BetaPerp: imag(gq)}
}

// checkValues makes the checks of check, and refuses constants that cannot be those of a material.
func (o Optics) checkValues(energies []float64, materials int) error {
	if err := o.check(energies, materials); err != nil {
		return err
	}
	for e, row := range o {
		for m, c := range row {
			if most := max(math.Abs(c.DeltaPara), math.Abs(c.BetaPara), math.Abs(c.DeltaPerp), math.Abs(c.BetaPerp)); most > largestConstant {
				return fmt.Errorf("rsoxs: optics: a constant of material %d at energy %d is %g in size: want at most %g; for X-rays they are far below 1, so check the columns of the file", m+1, e, most, largestConstant)
			}
		}
	}
	return nil
}

// largestConstant bounds optical constants, so that intensities do not overflow.
const largestConstant = 1e6

// check compares the size of o with energies and materials.
func (o Optics) check(energies []float64, materials int) error {
	var bad problems
	if len(o) != len(energies) {
		bad.add("there are constants for %d energies: want %d", len(o), len(energies))
	}
	for e, row := range o {
		if len(row) != materials {
			bad.add("there are constants of %d materials at energy %d: want %d", len(row), e, materials)
		}
		for m, c := range row {
			if !finite(c.DeltaPara, c.BetaPara, c.DeltaPerp, c.BetaPerp) {
				bad.add("the constants of material %d at energy %d are %v: want finite numbers", m+1, e, c)
			}
		}
	}
	if err := bad.err("rsoxs: optics"); err != nil {
		return fmt.Errorf("%w", err)
	}
	return nil
}
