// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package script_test

import (
	"context"
	"fmt"
	"log"

	"github.com/euryale-dev/euryale/sim/assembly/script"
)

// This example runs an experiment that is written down as YAML: an assembly forms, is completed
// from half of its neurons, and the overlap of the two is measured.
func Example() {
	s, err := script.Parse("complete.yaml", []byte(`
p: 0.1
seed: 1
stimuli: {S: 50}
areas: {A: {n: 2000, k: 50, beta: 0.1}}
run:
  - {form: A, stimulus: S, steps: 20}
  - {complete: A, part: 0.5, steps: 5, as: completed}
`))
	if err != nil {
		log.Fatal(err)
	}
	result, err := s.Run(context.Background(), script.Settings{})
	if err != nil {
		log.Fatal(err)
	}
	for _, m := range result.Measures {
		fmt.Printf("%s: %s %.2f after step %d\n", m.Name, m.Quantity, m.Value, m.Step)
	}
	last := result.Rounds[len(result.Rounds)-1]
	fmt.Printf("%d rounds in %s mode; %s has fired %d neurons in all\n", len(result.Rounds), result.Mode, last.Area, last.Support)

	_, err = script.Parse("wrong.yaml", []byte("p: 0.1\nareas: {A: {n: 2000, k: 50, betta: 0.1}}\n"))
	fmt.Println(err)
	// Output:
	// completed: overlap 0.98 after step 25
	// 25 rounds in lazy-exact mode; A has fired 91 neurons in all
	// wrong.yaml:1:1: run is missing: give a list of steps
	// wrong.yaml:2:29: there is no key of area A "betta": did you mean beta?
}
