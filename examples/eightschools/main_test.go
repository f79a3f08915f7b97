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
1 divergences of 4000
mu         4.3 +- 3.4   ess 3000   R-hat 1.00
tau        4.0 +- 3.3   ess  232   R-hat 1.03
theta[A]   6.4 +- 5.8   ess 1292   R-hat 1.00
4 checks of the draws failed: divergences, E-BFMI, effective sample size, R-hat.
The model agrees with the data (reduced chi-square 0.583, expected 0.168 to 2.74).

non-centred: theta = mu + tau z, z ~ normal(0, 1)
0 divergences of 4000
mu         4.4 +- 3.3   ess 4730   R-hat 1.00
tau        3.7 +- 3.3   ess 2301   R-hat 1.00
theta[A]   6.2 +- 5.5   ess 4205   R-hat 1.00
All checks of the draws passed.
The model agrees with the data (reduced chi-square 0.641, expected 0.168 to 2.74).

`
	if got := b.String(); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}
