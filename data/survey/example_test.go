// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package survey_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/survey"
)

// A spectrum is read from a table and prepared for a fit. The pixel that the table marks as bad gets a
// flux between those of its neighbours and a large error, so that it has no effect.
func Example() {
	dir, err := os.MkdirTemp("", "survey")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, "star.csv")
	const table = `wave (nm),flux,error,mask
500.0,10,0.5,0
500.1,12,0.5,0
500.2,999,0.5,1
500.3,14,0.5,0
`
	if err := os.WriteFile(name, []byte(table), 0o644); err != nil {
		log.Fatal(err)
	}
	raw, err := survey.ReadSpectrum(name, survey.Units{Vacuum: true})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("S/N %.0f\n", raw.SignalToNoise())
	arm := survey.Prepare(raw, survey.Preparation{})
	for i := range arm.Wave {
		fmt.Printf("%.0f Angstrom: %.0f +- %.1f, bad: %t\n", arm.Wave[i], arm.Flux[i], arm.Err[i], arm.Bad[i])
	}
	// Output:
	// S/N 24
	// 5000 Angstrom: 10 +- 0.5, bad: false
	// 5001 Angstrom: 12 +- 0.5, bad: false
	// 5002 Angstrom: 13 +- 13000.0, bad: true
	// 5003 Angstrom: 14 +- 0.5, bad: false
}
