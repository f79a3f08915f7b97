// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stan_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/stan"
)

func Example() {
	const coin = `
data {
  int<lower=0> N;
  array[N] int<lower=0, upper=1> y;
}
parameters {
  real<lower=0, upper=1> theta;
}
model {
  theta ~ beta(1, 1);
  y ~ bernoulli(theta);
}`
	program, err := stan.Parse("coin.stan", coin, stan.Settings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	data, err := stan.ReadData(strings.NewReader(`{"N": 10, "y": [0, 1, 0, 0, 0, 0, 0, 0, 0, 1]}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	post, err := program.Compile(data, stan.CompileSettings{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fit, err := infer.Sample(context.Background(), post, infer.Settings{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("theta is %.2f\n", fit.Summary().Row("theta").Mean)
	// Output: theta is 0.25
}
