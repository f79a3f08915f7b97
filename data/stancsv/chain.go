package stancsv

import (
	"fmt"
	"slices"
	"strings"
)

// Chain is the table of one chain.
type Chain struct {
	Columns  []string
	Draws    [][]float64       // [draw][column], without warm-up
	Warmup   [][]float64       // [draw][column]; nil if it was not saved
	Settings map[string]string // of the comment lines "key = value" before the draws
	Adapted  *Adaptation       // what the warm-up ended with; nil if the file does not say
	Elapsed  *Elapsed          // nil if the file does not say
}

// Adaptation is what a chain sampled with.
type Adaptation struct {
	StepSize  float64
	InvMetric [][]float64 // one row: the diagonal of the inverse mass matrix; several: all of it; none: not known
}

// Elapsed holds the times of a chain.
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

// Parameters lists the columns that are not the sampler's own.
func (c *Chain) Parameters() []string {
	var out []string
	for _, n := range c.Columns {
		if !own(n) {
			out = append(out, n)
		}
	}
	return out
}

// own reports whether a column is the sampler's.
func own(name string) bool { return strings.HasSuffix(name, "__") }

// FormatError reports a file that is not a table of draws.
type FormatError struct {
	File string
	Line int
	What string
}

func (e *FormatError) Error() string {
	return fmt.Sprintf("stancsv: %s line %d: %s", e.File, e.Line, e.What)
}
