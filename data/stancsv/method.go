// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stancsv

import (
	"fmt"
	"slices"
)

// CmdStan writes tables of one form for all of its methods, and only some of them hold draws from a posterior.

// noDraws says what the tables of methods without draws hold.
var noDraws = map[string]string{
	"optimize": "the steps of CmdStan's optimize towards a mode",
	"diagnose": "CmdStan's test of gradients",
	"log_prob": "log densities and gradients at given points",
}

// Approximate methods draw independently from an approximation of the posterior.
var approximate = []string{"variational", "pathfinder", "laplace"}

// Method returns the CmdStan method that wrote the file, such as sample or variational, or "" if the file does not say.
func (c *Chain) Method() string { return c.Settings["method"] }

// Approximate reports whether the draws are independent ones from an approximation of the posterior, by
// CmdStan's methods variational, pathfinder and laplace, rather than a Markov chain.
func (c *Chain) Approximate() bool { return slices.Contains(approximate, c.Method()) }

// splitMethod refuses tables that hold no draws, and separates the first row of a variational approximation, which is its
// mean.
func (c *Chain) splitMethod() error {
	if what := noDraws[c.Method()]; what != "" {
		return fmt.Errorf("the table holds %s and no draws from a posterior (method = %s): run CmdStan's method sample, or laplace for draws around a mode", what, c.Method())
	}
	if c.Method() == "variational" && len(c.Draws) > 0 {
		c.Mean, c.Draws = c.Draws[0], c.Draws[1:]
	}
	return nil
}

// arrange moves the columns of c into the given order. It returns an error that names columns which only one of the two has.
func (c *Chain) arrange(columns []string) error {
	if slices.Equal(c.Columns, columns) {
		return nil
	}
	at := make([]int, len(columns))
	for i, name := range columns {
		if at[i] = slices.Index(c.Columns, name); at[i] < 0 {
			return fmt.Errorf("it lacks the column %s", name)
		}
	}
	for _, name := range c.Columns {
		if !slices.Contains(columns, name) {
			return fmt.Errorf("only it has the column %s", name)
		}
	}
	move := func(rows [][]float64) [][]float64 {
		for k, row := range rows {
			moved := make([]float64, len(row))
			for i, from := range at {
				moved[i] = row[from]
			}
			rows[k] = moved
		}
		return rows
	}
	c.Draws, c.Warmup = move(c.Draws), move(c.Warmup)
	if c.Mean != nil {
		c.Mean = move([][]float64{c.Mean})[0]
	}
	c.Columns = slices.Clone(columns)
	return nil
}

// Arrange gives all chains the order of columns of the first one. It returns an error that names the chain, and the
// column, where chains do not have the same columns; names are those of the files, for messages.
func Arrange(chains []*Chain, names []string) error {
	for i, c := range chains {
		if err := c.arrange(chains[0].Columns); err != nil {
			return fmt.Errorf("stancsv: %s and %s are not chains of one run: %s has %d columns and %s has %d, and of the latter %w: name only chains of the same run", names[0], names[i], names[0], len(chains[0].Columns), names[i], len(c.Columns), err)
		}
	}
	return nil
}
