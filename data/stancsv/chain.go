// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stancsv

import (
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data"
)

// Chain is the table of one chain.
type Chain struct {
	Columns  []string
	Draws    [][]float64       // draws after warm-up, [draw][column]
	Warmup   [][]float64       // draws of the warm-up, [draw][column]; nil if they were not saved
	Mean     []float64         // mean of a variational approximation, [column]; nil for other methods
	Settings map[string]string // settings from the comment lines "key = value" before the draws
	Adapted  *Adaptation       // result of the warm-up; nil if the file does not give it
	Elapsed  *Elapsed          // times of the chain; nil if the file does not give them
}

// Adaptation is the step size and metric that a chain sampled with.
type Adaptation struct {
	StepSize  float64
	InvMetric [][]float64 // inverse mass matrix: one row if it is diagonal, several rows for the full matrix, none if unknown
}

// Elapsed holds the times of a chain in s.
type Elapsed struct{ Warmup, Sampling float64 } // s

// Column returns the draws of a column, or nil.
func (c *Chain) Column(name string) []float64 {
	i := slices.Index(c.Columns, name)
	if i < 0 {
		return nil
	}
	out := make([]float64, len(c.Draws))
	for k, row := range c.Draws {
		out[k] = row[i]
	}
	return out
}

// Parameters lists the columns that do not belong to the sampler.
func (c *Chain) Parameters() []string {
	var out []string
	for _, n := range c.Columns {
		if !own(n) {
			out = append(out, n)
		}
	}
	return out
}

// own reports whether a column belongs to the sampler.
func own(name string) bool { return strings.HasSuffix(name, "__") }

// FormatError says what is wrong with a file, and where.
type FormatError = data.FormatError
