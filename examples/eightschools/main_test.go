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
4 divergences of 4000
mu         4.3 +- 3.3   ess 3321   R-hat 1.00
tau        4.1 +- 3.3   ess  263   R-hat 1.03
theta[A]   6.3 +- 5.6   ess 1754   R-hat 1.00
4 problems: divergences, E-BFMI, effective sample size, R-hat.

non-centred: theta = mu + tau z, z ~ normal(0, 1)
0 divergences of 4000
mu         4.4 +- 3.4   ess 4936   R-hat 1.00
tau        3.6 +- 3.2   ess 2007   R-hat 1.00
theta[A]   6.2 +- 5.5   ess 4555   R-hat 1.00
Diagnostics satisfactory.

`
	if got := b.String(); got != want {
		t.Errorf("printed\n%s\nwant\n%s", got, want)
	}
}
