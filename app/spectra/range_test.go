// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/models/spectra"
)

// A range that masks no pixel of any spectrum is told, with the wavelengths that there are.
func TestRangeThatMasksNothing(t *testing.T) {
	stars := []spectra.Star{
		{Spectra: []spectra.Spectrum{{Lam: []float64{5000, 5100, 5200}}}},
		{Spectra: []spectra.Spectrum{{Lam: []float64{8000, 8100}}}},
		{},
	}
	for text, want := range map[string]string{
		"5050:5100": "", "8100:9000": "",
		"510:515":   "--mask-range 510:515 masks no pixel: those that are fitted lie at 5000 to 8100 Angstrom. Is the range in nm? In Angstrom it is 5100:5150",
		"9000:9100": "--mask-range 9000:9100 masks no pixel: those that are fitted lie at 5000 to 8100 Angstrom",
	} {
		if got := masksNothing(text, stars); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A range in the wrong order is told with the right one.
func TestRangeInTheWrongOrder(t *testing.T) {
	if _, err := wavelengths("mask-range", "5300:5200"); err == nil || !strings.Contains(err.Error(), "write 5200:5300") {
		t.Error(err)
	}
}
