// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/models/stan"
)

// Unconstrained numbers have the names of columns where each is that of one element.
func TestCoordinates(t *testing.T) {
	p, err := stan.Parse("p.stan", "parameters { real<lower=0> s; vector[2] v; simplex[3] w; matrix[2,2] m; array[2] real<upper=1> a; } model { s ~ normal(0, 1); }", stan.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	post, err := p.Compile(stan.Data{}, stan.CompileSettings{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := post.Coordinates(), []string{"s", "v[1]", "v[2]", "w", "w", "m", "m", "m", "m", "a[1]", "a[2]"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}
