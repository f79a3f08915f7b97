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
16 divergences of 4000
mu         4.0 +- 3.2   ess  114   R-hat 1.03
tau        3.5 +- 3.1   ess   13   R-hat 1.23
theta[A]   5.7 +- 5.2   ess  148   R-hat 1.03
5 problems: divergences, E-BFMI, effective sample size, R-hat, acceptance.
The model agrees with the data (reduced chi-square 0.507, expected 0.168 to 2.74).

non-centred: theta = mu + tau z, z ~ normal(0, 1)
0 divergences of 4000
mu         4.4 +- 3.4   ess 4936   R-hat 1.00
tau        3.6 +- 3.2   ess 2007   R-hat 1.00
theta[A]   6.2 +- 5.5   ess 4555   R-hat 1.00
All checks of the draws passed.
The model agrees with the data (reduced chi-square 0.43, expected 0.168 to 2.74).

`
	if got := b.String(); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}
