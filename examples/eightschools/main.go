// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command eightschools shows why a hierarchical model can mislead a sampler, and what
// helps. It samples coaching effects in eight schools four times: with chains that move in the
// parameters, first with the effects drawn around their mean, as one writes the model, then in
// standardised form; in the coordinates that the warm-up chooses, for the model as one writes it; and
// as it is done by default, with the effects integrated out and drawn back.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

func main() {
	if err := report(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// Effects on test scores, in points, and their standard errors: Rubin,
// doi:10.3102/10769986006004377.
var (
	effect = []float64{28, 8, -3, 7, -1, 1, 18, 12}
	sd     = []float64{15, 10, 16, 11, 9, 11, 10, 18}
)

// schools returns the model; form sets how theta is sampled.
func schools(form ...infer.Option) (*infer.Posterior, error) {
	m := infer.NewModel("eight schools")
	school := m.Dim("school", "A", "B", "C", "D", "E", "F", "G", "H")
	mu := m.Param("mu", dist.Normal(0, 5))
	tau := m.Param("tau", dist.HalfCauchy(5))
	theta := m.Param("theta", dist.Normal(mu, tau), append(form, infer.Over(school))...)
	m.Observe("effect", dist.Normal(theta, m.Data("sd", sd)), effect)
	return m.Compile()
}

func report(w io.Writer) error {
	for _, form := range []struct {
		name     string
		options  []infer.Option
		settings infer.Settings
	}{
		{"centred: theta ~ normal(mu, tau)", nil, infer.Settings{Coordinates: infer.DeclaredCoordinates}},
		{"non-centred: theta = mu + tau z, z ~ normal(0, 1)", []infer.Option{infer.NonCentred()}, infer.Settings{Coordinates: infer.DeclaredCoordinates}},
		{"centred, in chosen coordinates", nil, infer.Settings{NoMarginals: true}},
		{"centred, with theta integrated out", nil, infer.Settings{}},
	} {
		post, err := schools(form.options...)
		if err != nil {
			return err
		}
		fit, err := infer.Sample(context.Background(), post, form.settings)
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\n%d divergences of 4000\n", form.name, fit.Divergent())
		for _, name := range []string{"mu", "tau", "theta[A]"} {
			r := fit.Summary().Row(name)
			fmt.Fprintf(w, "%-9s %4.1f +- %3.1f   ess %4.0f   R-hat %.2f\n", name, r.Mean, r.SD, r.ESSBulk, r.RHat)
		}
		model, err := fit.CheckModel(infer.CheckSettings{})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "%s\n%s\n\n", fit.Diagnose().Verdict(), model.Summary())
	}
	return nil
}
