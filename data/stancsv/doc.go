// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package stancsv reads and writes the draws of one chain in CmdStan's format: a CSV table with the
// settings in comment lines before it, the adaptation between warm-up and draws, and the times after
// it.
//
//	c, err := stancsv.Open("chain-1.csv")     // ours or CmdStan's
//	mean := c.Column("mu")
//	tree, err := stancsv.Tree(chains)         // several chains as labelled arrays
//	chains, err := stancsv.Chains(tree)       // and back
//
// Columns that end in "__" are the sampler's own (lp__, divergent__, energy__,
// ...). Names of array elements are name.1, name.2, ..., matrices name.1.1,
// name.2.1, ..., counted from 1 with the first index running fastest; Columns
// gives them as written. Numbers are written with 17 significant digits, so
// they read back unchanged.
package stancsv
