// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package partition_test

import (
	"fmt"
	"log"
	"math"

	"github.com/euryale-dev/euryale/sim/xpcs/partition"
)

// This example divides a detector into four rings of q for correlations, and each ring into three
// narrower ones for intensities. A beam stop is masked.
func Example() {
	const size = 64
	q, phi, mask := make([]float64, size*size), make([]float64, size*size), make([]bool, size*size)
	for i := range q {
		x, y := float64(i%size)-31.5, float64(i/size)-31.5
		q[i], phi[i] = 1e-3*math.Hypot(x, y), math.Atan2(y, x)*180/math.Pi
		mask[i] = math.Hypot(x, y) > 5 // true for pixels that are kept
	}
	p, err := partition.New(partition.Axis{Name: "q", Unit: "1/angstrom", Values: q}, partition.Axis{Name: "phi", Unit: "deg", Values: phi},
		mask, partition.Settings{Dynamic: [2]int{4, 1}, Static: [2]int{12, 1}})
	if err != nil {
		log.Fatal(err)
	}
	if err := p.Check(); err != nil { // static bins lie within dynamic ones
		log.Fatal(err)
	}
	pixels := make([]int, p.Dynamic.Count()+1)
	for _, bin := range p.Dynamic.Of {
		pixels[bin]++
	}
	fmt.Println(pixels[0], "pixels are masked")
	for i, center := range p.Dynamic.Centers[0] {
		fmt.Printf("bin %d: q = %.4f %s, %d pixels\n", i+1, center, p.Units[0], pixels[i+1])
	}
	// Output:
	// 80 pixels are masked
	// bin 1: q = 0.0101 1/angstrom, 636 pixels
	// bin 2: q = 0.0199 1/angstrom, 1228 pixels
	// bin 3: q = 0.0298 1/angstrom, 1652 pixels
	// bin 4: q = 0.0396 1/angstrom, 500 pixels
}
