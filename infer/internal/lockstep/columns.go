// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package lockstep

import (
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
)

// Columns computes the columns of draws, many draws at a time.
type Columns struct {
	state *ad.State
	// given is the number of the first input of the data.
	given int
	// q holds the draws and to their columns.
	q, to []float64
}

// columnLanes is the number of draws whose columns are computed together.
const columnLanes = 64

// CompileColumns compiles the columns, whose inputs are the parameters and then the data.
func CompileColumns(columns, parameters, data []*ad.Node) (*ad.Program, error) {
	return ad.Compile(columns, ad.Settings{Inputs: slices.Concat(parameters, data), Batch: columnLanes, Batched: parameters, Backend: ad.CPU{Threads: 1}})
}

// NewColumns returns what runs a program of CompileColumns of so many parameters.
func NewColumns(prog *ad.Program, parameters int) *Columns {
	s := prog.NewState()
	return &Columns{state: s, given: parameters, q: s.InputSpan(0, parameters), to: s.OutputSpan(0, prog.Outputs())}
}

// Of returns the n columns of each draw, given the data. Where the program fails it calls
// one for the draws one by one. After an error of one it returns the columns up to there.
func (w *Columns) Of(draws, data [][]float64, n int, one func(q, out []float64) error) ([][]float64, error) {
	for i, v := range data {
		copy(w.state.Input(w.given+i), v)
	}
	room := make([]float64, n*len(draws))
	all := make([][]float64, 0, len(draws))
	for from := 0; from < len(draws); from += columnLanes {
		rows := draws[from:min(len(draws), from+columnLanes)]
		for i, q := range rows {
			scatter(w.q, q, i, columnLanes)
		}
		failed := w.state.Run() != nil
		for i, q := range rows {
			out := room[:n:n]
			room = room[n:]
			if gather(out, w.to, i, columnLanes); failed {
				if err := one(q, out); err != nil {
					return all, err
				}
			}
			all = append(all, out)
		}
	}
	return all, nil
}
