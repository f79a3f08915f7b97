// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package homodyne reads and writes the files of the programs homodyne, xpcsjax and heterodyne, which
// fit models of moving samples to two-time correlations: correlations in the layouts of the APS,
// configurations, and results.
//
// A File holds correlations of many bins; Read returns those at one q as a Correlation. A Config is the
// content of a configuration, with every parameter of the model. Fit and Posterior hold results under
// the names that scripts expect, and ReadStart reads such results written by other programs.
//
//	config, err := homodyne.ReadConfig("flow.yaml")
//	if err != nil { ... }                              // names file, line, key and the nearest known one
//	f, err := homodyne.Open(config.Data)
//	if err != nil { ... }
//	defer f.Close()
//	c2, err := f.Read(config.Selection())
//	if err != nil { ... }
//	t := config.Clock.Times(c2.First, c2.Last, c2.Step)  // s
//	fmt.Println(c2.Q, c2.Phi, len(t), c2.Notes)
package homodyne
