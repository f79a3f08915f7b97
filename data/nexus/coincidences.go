// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package nexus

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/internal/errtext"
)

const (
	gaussian = 25 // coincidences below which errors of g2, as those of Poisson's distribution, are skewed by more than 1/5
	judgable = 3  // those below which g2 takes so few values, most of them 0, that no test of residuals applies
)

// fewest returns the smallest number of expected coincidences of a bin, from 1, its delay in frames, and at how many delays there are too few for
// errors of a normal distribution; 0 delays if the numbers are not known.
func (m *Multitau) fewest(bin int) (least, delay float64, few int) {
	least = math.Inf(1)
	if m.Coincidences == nil {
		return least, 0, 0
	}
	for k, v := range m.Coincidences.Column(bin - 1) {
		if v < gaussian {
			few++
		}
		if v < least {
			least, delay = v, m.Delay[k]
		}
	}
	return least, delay, few
}

// FewPhotons says that photons are too few in a bin, from 1, for errors of g2 that have a normal distribution, and what to do; both are "" if they
// are not, or if that is not known. judged reports whether residuals of a fit can be judged nevertheless.
func (m *Multitau) FewPhotons(bin int) (text, remedy string, judged bool) {
	least, delay, few := m.fewest(bin)
	if few == 0 {
		return "", "", true
	}
	how := fmt.Sprintf("an error of about %.2g", 1/math.Sqrt(least))
	if least == 0 {
		how = "no error that is known"
	}
	text = fmt.Sprintf("photons are too few in bin %d for errors of a normal distribution at %d of %s: %.3g pairs of photons are expected at %s, where g2 has %s (that of Poisson's distribution)", bin, few, errtext.Count(len(m.Delay), "delay"), least, errtext.Count(int(delay), "frame"), how)
	return text, "make bins wider, average frames (correlate --average), or measure longer", least >= judgable
}

// FewestPhotons returns the bin, from 1, with the smallest number of expected coincidences, and the number of bins with too few for errors of a
// normal distribution; 0 if there are none or if that is not known.
func (m *Multitau) FewestPhotons() (bin, bins int) {
	smallest := math.Inf(1)
	for b := 1; b <= m.G2.Cols; b++ {
		least, _, few := m.fewest(b)
		if few > 0 {
			bins++
		}
		if few > 0 && least < smallest {
			bin, smallest = b, least
		}
	}
	return bin, bins
}
