// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gpubench

import (
	"fmt"
	"slices"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/roofline"
	// Engines register their figures.
	_ "github.com/euryale-dev/euryale/optim"
	_ "github.com/euryale-dev/euryale/sim/assembly"
	_ "github.com/euryale-dev/euryale/sim/rsoxs"
	_ "github.com/euryale-dev/euryale/sim/xpcs/correlate"
	_ "github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// Explanation is the table of what the model of a card expects.
type Explanation struct {
	Card string         `json:"card"`
	Rows []ExplainedRow `json:"rows"`
}

// ExplainedRow is a row with the kernels of its program. Times are in milliseconds.
type ExplainedRow struct {
	Name     string            `json:"name"`
	How      string            `json:"how"`                  // as in a Row, or engine
	Expected float64           `json:"expected_ms"`          // of a run among many
	Measured float64           `json:"gpu_ms,omitempty"`     // where a device was there
	Host     float64           `json:"host_ms"`              // that the host takes for each run, while the device works
	Kernels  float64           `json:"kernels_ms,omitempty"` // of a figure of an engine, which may count a share of the launches below
	Bus      float64           `json:"bus_ms,omitempty"`
	Bound    string            `json:"bound,omitempty"`   // of a figure of an engine
	Cached   bool              `json:"cached"`            // whether all arrays stay in the L2 cache
	Unknown  string            `json:"unknown,omitempty"` // why the row has no expectation
	Launches []ExplainedLaunch `json:"kernels,omitempty"`
}

// ExplainedLaunch is a kernel of a row.
type ExplainedLaunch struct {
	Kernel    string  `json:"kernel"`
	Times     int     `json:"times"` // launches in a row
	Grid      int     `json:"grid"`
	Block     int     `json:"block"`
	Occupancy int     `json:"blocks_per_multiprocessor"`
	Bytes     float64 `json:"bytes"`   // of all arrays, each once
	Sectors   float64 `json:"sectors"` // of 32 bytes, that warps ask for
	Floats    float64 `json:"float_instructions"`
	Integers  float64 `json:"integer_instructions"`
	Expected  float64 `json:"expected_us"` // microseconds
	Bound     string  `json:"bound"`
	Unknown   string  `json:"unknown,omitempty"` // what of the work is not counted
}

// Explain says what the model of a card expects of the rows whose names contain a text. It needs no device.
func Explain(card roofline.Card, only string) (*Explanation, error) {
	out := &Explanation{Card: card.Name}
	for _, r := range rows() {
		if !strings.Contains(r.name, only) {
			continue
		}
		switch r.kernel {
		case "":
		case "matmul":
			out.Rows = append(out.Rows, explained(card, r.name, "kernel", r.product(), roofline.Call))
		default:
			out.Rows = append(out.Rows, explained(card, r.name, "kernel", []roofline.Launch{r.launch(card)}, roofline.Call))
		}
		list, err := r.launches()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.name, err)
		}
		out.Rows = append(out.Rows, explained(card, r.name, "program", list, roofline.Run))
	}
	for _, f := range roofline.Figures() {
		if !strings.Contains(f.Name, only) {
			continue
		}
		r, err := engine(card, f)
		if err != nil {
			return nil, err
		}
		out.Rows = append(out.Rows, r)
	}
	return out, nil
}

// engine is what a card needs for a figure of an engine.
func engine(card roofline.Card, f roofline.Figure) (ExplainedRow, error) {
	s, err := card.Figure(f)
	if err != nil {
		return ExplainedRow{}, err
	}
	out := ExplainedRow{Name: f.Name, How: "engine", Expected: 1e3 * s.Seconds, Host: 1e3 * s.Host, Kernels: 1e3 * s.Kernels, Bus: 1e3 * s.Bus, Bound: s.Bound, Unknown: s.Unknown}
	out.Launches = launched(s.Launches, s.Each)
	return out, nil
}

// launches lists the kernels of the program of a row.
func (r row) launches() ([]roofline.Launch, error) {
	out, in := r.graph(func(n int) []float64 { return make([]float64, n) })
	return ad.Launches([]*ad.Node{out}, ad.Settings{Inputs: []*ad.Node{in}, Precision: 32, Backend: ad.CUDA{OwnKernels: true}})
}

// explained is what a card needs for launches.
func explained(card roofline.Card, name, how string, list []roofline.Launch, host float64) ExplainedRow {
	seconds, each := card.Program(list, host)
	out := ExplainedRow{Name: name, How: how, Expected: 1e3 * seconds, Host: 1e3 * host, Cached: card.Cached(list), Launches: launched(list, each)}
	for _, l := range out.Launches {
		if out.Unknown == "" {
			out.Unknown = l.Unknown
		}
	}
	return out
}

func launched(list []roofline.Launch, each []roofline.Estimate) (out []ExplainedLaunch) {
	for i, l := range list {
		e, w := each[i], &l.Work
		out = append(out, ExplainedLaunch{Kernel: l.Kernel, Times: max(1, l.Times), Grid: l.Grid, Block: l.Block, Occupancy: e.Occupancy, Bytes: w.Bytes(), Sectors: w.Sectors,
			Floats: w.Float32 + w.Float64 + w.Special, Integers: w.Integers, Expected: 1e6 * e.Seconds, Bound: e.Bound, Unknown: w.Unknown})
	}
	return out
}

// With puts measured times beside those that are expected.
func (e *Explanation) With(r *Report) {
	for i := range e.Rows {
		for _, m := range r.Rows {
			if x := &e.Rows[i]; m.Name == x.Name && m.How == x.How {
				x.Measured = m.Millis
			}
		}
	}
}

// String returns the table for people.
func (e *Explanation) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Times that the model described in docs/GPU.md expects of one %s", e.Card)
	if slices.ContainsFunc(e.Rows, func(r ExplainedRow) bool { return r.Measured > 0 }) {
		b.WriteString(", beside those that were measured now.\n")
	} else {
		b.WriteString("; nothing was measured.\n")
	}
	for _, r := range e.Rows {
		fmt.Fprintf(&b, "\n%s, %s: %.4f ms", r.Name, r.How, r.Expected)
		if r.Measured > 0 {
			fmt.Fprintf(&b, " expected, %.4f ms measured", r.Measured)
		}
		switch {
		case r.How == "engine":
			fmt.Fprintf(&b, " (kernels %.4f, bus %.4f, host %.4f), bound by %s", r.Kernels, r.Bus, r.Host, r.Bound)
		case r.Expected <= r.Host:
			b.WriteString(", which the host needs")
		}
		if r.Cached {
			b.WriteString("; arrays in the L2 cache")
		}
		b.WriteString("\n")
		for _, l := range r.Launches {
			name := l.Kernel
			if l.Times > 1 {
				name = fmt.Sprintf("%s x %d", name, l.Times)
			}
			fmt.Fprintf(&b, "  %-16s %6d x %-4d %8.2f MB %8.2f M sectors %9.1f M float %9.1f M integer %9.2f us  %s", name, l.Grid, l.Block, l.Bytes/1e6, l.Sectors/1e6, l.Floats/1e6, l.Integers/1e6, l.Expected, l.Bound)
			if l.Unknown != "" {
				fmt.Fprintf(&b, " (at least: %s are not counted)", l.Unknown)
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}
