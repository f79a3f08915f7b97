// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
)

// The power law is that of diffusion and the relaxation time the true one, within four errors, and the model agrees.
func TestReport(t *testing.T) {
	var b bytes.Buffer
	if err := report(&b); err != nil {
		t.Fatal(err)
	}
	var alpha, sd, q, tau, err, truth float64
	if _, fail := fmt.Sscanf(b.String(), "tau falls with q to the power %g +- %g\nat q = %g per angstrom tau is %g +- %g s, in truth %g s\n", &alpha, &sd, &q, &tau, &err, &truth); fail != nil {
		t.Fatal(fail, b.String())
	}
	if math.Abs(alpha-2) > 4*sd || sd > 0.1 || math.Abs(tau-truth) > 4*err || err > 0.1*truth || !strings.Contains(b.String(), "The model agrees") {
		t.Error(b.String())
	}
}
