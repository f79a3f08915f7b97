// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne_test

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/homodyne"
)

// A file of correlations is read as a configuration says.
func Example() {
	dir, err := os.MkdirTemp("", "homodyne")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	const frames = 4
	c2 := make([]float64, frames*frames)
	for i := range c2 {
		c2[i] = 1.2
	}
	name := filepath.Join(dir, "c2.hdf")
	made := homodyne.Correlation{Q: 0.0054, Phi: []float64{0, 90}, First: 1, Last: frames, Step: 0.1, C2: [][]float64{c2, c2}}
	if err := homodyne.Write(name, homodyne.APSU, &made); err != nil {
		panic(err)
	}
	config, err := homodyne.ParseConfig([]byte(`
analysis_mode: static
analyzer_parameters: {dt: 0.1, start_frame: 2, end_frame: -1, scattering: {wavevector_q: 0.0054}}
phi_filtering: {target_ranges: [{min_angle: 80, max_angle: 100}]}
performance: {memory_limit_gb: 8}
`), "config.yaml")
	if err != nil {
		panic(err)
	}
	f, err := homodyne.Open(name)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	c, err := f.Read(config.Selection())
	if err != nil {
		panic(err)
	}
	fmt.Println(config.Model, "without", config.IgnoredText())
	fmt.Println(c.Phi, config.Clock.Times(c.First, c.Last, c.Step))
	for _, note := range c.Notes {
		fmt.Println("-", note)
	}
	// Output:
	// static_anisotropic without performance
	// [90] [0.15000000000000002 0.25 0.35000000000000003]
	// - 2 bins at q = 0.0054 1/angstrom
	// - angles within 80..100 degrees: 1 of 2
}
