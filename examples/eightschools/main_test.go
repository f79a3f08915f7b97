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
0 divergences of 4000
mu         4.3 +- 3.3   ess 2699   R-hat 1.00
tau        3.6 +- 3.2   ess   91   R-hat 1.03
theta[A]   6.1 +- 5.4   ess 1820   R-hat 1.00
4 checks of the draws failed: E-BFMI, effective sample size, R-hat, acceptance rate.
The model agrees with the data (reduced chi-square 0.831, expected 0.168 to 2.74).

non-centred: theta = mu + tau z, z ~ normal(0, 1)
0 divergences of 4000
mu         4.4 +- 3.2   ess 5027   R-hat 1.00
tau        3.6 +- 3.2   ess 2575   R-hat 1.00
theta[A]   6.2 +- 5.4   ess 4436   R-hat 1.00
All checks of the draws passed.
The model agrees with the data (reduced chi-square 0.81, expected 0.168 to 2.74).

centred, in chosen coordinates
0 divergences of 4000
mu         4.3 +- 3.3   ess 4897   R-hat 1.00
tau        3.7 +- 3.3   ess 4356   R-hat 1.00
theta[A]   6.3 +- 5.6   ess 3820   R-hat 1.00
All checks of the draws passed.
The model agrees with the data (reduced chi-square 0.67, expected 0.168 to 2.74).

centred, with theta integrated out
0 divergences of 4000
mu         4.4 +- 3.2   ess 3845   R-hat 1.00
tau        3.6 +- 3.1   ess 3032   R-hat 1.00
theta[A]   6.2 +- 5.5   ess 3679   R-hat 1.00
All checks of the draws passed.
The model agrees with the data (reduced chi-square 0.741, expected 0.168 to 2.74).

`
	if got := b.String(); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}
