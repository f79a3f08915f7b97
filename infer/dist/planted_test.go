// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// Distributions of vectors refuse means and factors that do not fit, each by its name.
func TestMeansAndFactorsThatDoNotFit(t *testing.T) {
	factor, three := ad.Const([]float64{1, 0, 0.5, 2}, 2, 2), ad.Const([]float64{1, 2, 3})
	for _, d := range []dist.Dist{
		dist.MultivariateNormalCholesky(three, factor),
		dist.MultivariateStudentTCholesky(4, three, factor),
		dist.MultivariateStudentTCholesky(4, ad.Const([]float64{1, 2}), ad.Const([]float64{1, 0, 0.5, -2}, 2, 2)),
	} {
		if err := d.Err(); err == nil || !strings.Contains(err.Error(), d.Name) {
			t.Errorf("%s: %v", d.Name, err)
		}
	}
}

// A distribution that was made of too few numbers says how many it wants; one that was not made
// by this package at all is an error too.
func TestLawsWithoutDensity(t *testing.T) {
	l, err := dist.FamilyByName("normal")
	if err != nil {
		t.Fatal(err)
	}
	if err := l.New(1).Err(); err == nil || !strings.Contains(err.Error(), "2 numbers") {
		t.Errorf("one number for normal: %v", err)
	}
	if err := (dist.Dist{Name: "mine"}).Err(); err == nil {
		t.Error("a distribution of nothing has no error")
	}
	// Checks of the whole distribution do not hide those of its parameters.
	if err := dist.MultivariateStudentTCholesky(-1, ad.Const([]float64{1, 2}), ad.Const([]float64{1, 0, 0.5, 2}, 2, 2)).Err(); err == nil {
		t.Error("-1 degrees of freedom are taken")
	}
}
