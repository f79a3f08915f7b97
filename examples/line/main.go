// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command line is the program in the README: it samples the parameters of a straight line
// with an unknown error.
package main

import (
	"context"
	"fmt"
	"log"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/infer/dist"
)

func main() {
	x, y := []float64{0, 1, 2, 3, 4, 5}, []float64{1.1, 2.9, 5.2, 7.1, 8.8, 11.2}
	m := infer.NewModel("line")
	a := m.Param("intercept", dist.Normal(0, 10))
	b := m.Param("slope", dist.Normal(0, 10))
	s := m.Param("sigma", dist.HalfNormal(1))
	m.Observe("y", dist.Normal(ad.Add(a, ad.Mul(b, ad.Const(x))), s), y)
	post, err := m.Compile()
	if err != nil {
		log.Fatal(err)
	}
	fit, err := infer.Sample(context.Background(), post, infer.Settings{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(fit.Summary())
}
