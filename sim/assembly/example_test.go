// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package assembly_test

import (
	"fmt"
	"log"

	"github.com/euryale-dev/euryale/sim/assembly"
)

// This example projects a stimulus into an area until an assembly of 50 neurons has formed, and
// then completes the assembly from half of its neurons.
func Example() {
	b := assembly.New(assembly.Settings{P: 0.1, Seed: 1})
	if err := b.AddStimulus("s", 50); err != nil {
		log.Fatal(err)
	}
	if err := b.AddArea(assembly.Area{Name: "A", N: 2000, K: 50, Beta: 0.1}); err != nil {
		log.Fatal(err)
	}
	first, err := b.Plan("s>A")
	if err != nil {
		log.Fatal(err)
	}
	again, err := b.Plan("s>A", "A>A")
	if err != nil {
		log.Fatal(err)
	}
	if _, err := b.Project(first, 1); err != nil {
		log.Fatal(err)
	}
	trace, err := b.Project(again, 20)
	if err != nil {
		log.Fatal(err)
	}
	for _, step := range []int{0, 4, 19} {
		r := trace[step][0] // the only area
		fmt.Printf("step %d: %d of %d winners also fired before\n", step+2, r.Kept, len(r.Winners))
	}
	overlap, err := b.Complete("A", 0.5, 5, 1)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("completed from half: overlap %.2f\n", overlap)
	// Output:
	// step 2: 25 of 50 winners also fired before
	// step 6: 47 of 50 winners also fired before
	// step 21: 50 of 50 winners also fired before
	// completed from half: overlap 1.00
}
