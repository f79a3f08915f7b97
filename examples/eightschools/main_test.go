// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"testing"
)

// Draws are the same for any number of threads; a change of the sampler changes
// them, and the story must still be true then.
func TestReport(t *testing.T) {
	var b bytes.Buffer
	if err := report(&b); err != nil {
		t.Fatal(err)
	}
	const want = `centred: theta ~ normal(mu, tau)
2 divergences of 4000
mu         4.4 +- 3.3   ess 2258   R-hat 1.00
tau        3.9 +- 3.1   ess  155   R-hat 1.02
theta[A]   6.3 +- 5.6   ess 1992   R-hat 1.00
4 checks of the draws failed: divergences, E-BFMI, effective sample size, R-hat.
The model agrees with the data (reduced chi-square 0.287, expected 0.168 to 2.74).

non-centred: theta = mu + tau z, z ~ normal(0, 1)
1 divergences of 4000
mu         4.4 +- 3.2   ess 4549   R-hat 1.00
tau        3.6 +- 3.3   ess 1903   R-hat 1.00
theta[A]   6.2 +- 5.6   ess 4157   R-hat 1.00
One check of the draws failed: divergences.
The model agrees with the data (reduced chi-square 0.624, expected 0.168 to 2.74).

centred, in chosen coordinates
0 divergences of 4000
mu         4.3 +- 3.3   ess 4897   R-hat 1.00
tau        3.7 +- 3.3   ess 4356   R-hat 1.00
theta[A]   6.3 +- 5.6   ess 3820   R-hat 1.00
All checks of the draws passed.
The model agrees with the data (reduced chi-square 0.67, expected 0.168 to 2.74).

`
	if got := b.String(); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}
