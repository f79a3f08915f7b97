package cyrsoxs

import "math"

// HC is the product of Planck's constant and the speed of light in the digits of
// CyRSoXS, eV nm.
const HC = 1239.84197

// Transmission returns the fraction of intensity that leaves a film of a uniform
// material, for light along z polarized along x. Energy in eV, thickness in nm;
// theta and psi are the angles of the extraordinary axis
// (cos psi sin theta, sin psi sin theta, cos theta), radians.
//
//	T = exp(-4 pi beta t / wavelength), beta = 2 pi |Im p_x|,
//	p_x = (n_perp^2 + (n_para^2 - n_perp^2) s_x^2 - 1) / (4 pi)
func (c Constants) Transmission(energy, thicknessNM, theta, psi float64) float64 {
	square := func(delta, beta float64) complex128 {
		n := complex(1-delta, beta)
		return n * n
	}
	para, perp := square(c.DeltaPara, c.BetaPara), square(c.DeltaPerp, c.BetaPerp)
	sx := math.Cos(psi) * math.Sin(theta)
	beta := math.Abs(imag(perp+(para-perp)*complex(sx*sx, 0))) / 2
	return math.Exp(-4 * math.Pi * beta * thicknessNM * energy / HC)
}
