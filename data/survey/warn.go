// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey

// The bits of RVS_WARN.
const (
	WarnChisq    = 1 << iota // chi-square is hardly lower than that of the continuum alone
	WarnVelocity             // velocity near the end of its range
	WarnError                // error of the velocity above 100 km/s
	WarnParam                // a parameter at the edge of its plausible range
	WarnVSini                // rotation above 100 km/s
	WarnSpectrum             // missing data: there are none that can be used
	WarnHessian              // the curvature at the optimum is not positive
	// The reference does not have the following bits.
	WarnPixels // pixels or a second star that no template explains are in the fit, so that the velocity may be theirs
	WarnSpikes // pixels were left out as spikes; SUCCESS does not depend on it
	WarnMinima // other velocities fit almost as well
)

// Warn returns the bits of RVS_WARN for a fit in which velocities were sought from minVel to maxVel, in
// km/s.
func (r *Row) Warn(minVel, maxVel float64) int64 {
	if !r.Fitted {
		return WarnSpectrum
	}
	w := int64(0)
	set := func(bit int64, on bool) {
		if on {
			w |= bit
		}
	}
	near := func(x, lo, hi, margin float64) bool { return x < lo+margin || x > hi-margin }
	chisq, cont, _ := r.totals()
	set(WarnChisq, cont-chisq < 50)
	set(WarnVelocity, near(r.VRad, minVel, maxVel, 5))
	set(WarnError, r.VRadErr > 100)
	set(WarnParam, near(r.Teff, 2300, 15000, 10) || near(r.FeH, -4, 1, 0.01) || near(r.LogG, -0.5, 6.5, 0.01))
	set(WarnVSini, r.VSini > 100)
	set(WarnHessian, r.BadHessian)
	set(WarnPixels, r.Unexplained)
	set(WarnSpikes, r.LeftOut > 0)
	set(WarnMinima, r.OtherVelocities)
	return w
}
