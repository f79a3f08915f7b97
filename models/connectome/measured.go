// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package connectome

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// Measured holds measurements of assemblies, as a JSON document, for people who do not write Go:
//
//	{"fit": "completion", "alpha": [0.1, 0.2, 0.4], "recovered": [10, 35, 80], "k": 100}
//
// Which fields it has depends on Fit: those of Degrees for "p", of Strengths for "beta", of
// Completion and of Association for "completion" and "association", and overlaps with a
// Simulator for "formation".
type Measured struct {
	Fit       string     `json:"fit"`
	Count     []int      `json:"count,omitempty"`
	Times     []int      `json:"times,omitempty"`
	Weight    []float64  `json:"weight,omitempty"`
	Alpha     []float64  `json:"alpha,omitempty"`
	Recovered []int      `json:"recovered,omitempty"`
	Rounds    []float64  `json:"rounds,omitempty"`
	Overlap   []int      `json:"overlap,omitempty"`
	K         int        `json:"k,omitempty"`
	Simulator *Simulator `json:"simulator,omitempty"`
	Dynamics  string     `json:"dynamics,omitempty"` // dynamics of a Simulator: "emulated" (default), "corrected" or "soft"
	Graphs    int        `json:"graphs,omitempty"`   // number of graphs for each point at which the surface is fitted
}

// measuredFits are the values of Measured.Fit.
var measuredFits = []string{"p", "beta", "completion", "association", "formation"}

// ParseMeasured reads a document. Unknown keys are errors.
func ParseMeasured(b []byte) (*Measured, error) {
	b, err := foreign.Problem(b, foreign.MeasuredAssemblies)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	p := &Measured{}
	if err := d.Decode(p); err != nil {
		return nil, foreign.InWords(b, err)
	}
	return p, nil
}

// Settings returns settings of the sampler that suit the model, where cfg leaves them open.
func (p *Measured) Settings(cfg infer.Settings) infer.Settings {
	if p.Fit == "completion" {
		return Completion{}.Settings(cfg)
	}
	return cfg
}

// Model returns the model of the measurements. A simulator may first take seconds to be fitted;
// note, unless it is nil, is then called with a message.
func (p *Measured) Model(ctx context.Context, note func(string)) (*infer.Model, error) {
	switch p.Fit {
	case "p":
		return Degrees{Count: p.Count, K: p.K}.Model()
	case "beta":
		return Strengths{Weight: p.Weight, Count: p.Count, Times: p.Times}.Model()
	case "completion":
		return Completion{Alpha: p.Alpha, Recovered: p.Recovered, K: p.K}.Model()
	case "association":
		return Association{Rounds: p.Rounds, Overlap: p.Overlap, K: p.K}.Model()
	case "formation":
		return p.formation(ctx, note)
	}
	near := spelling.Meant(p.Fit, measuredFits)
	if near != "" {
		near = ": did you mean " + near + "?"
	}
	return nil, fmt.Errorf("fit is %q: want one of %s%s", p.Fit, strings.Join(measuredFits, ", "), near)
}

// formation fits the simulator, unless it is the soft one, and returns its model.
func (p *Measured) formation(ctx context.Context, note func(string)) (m *infer.Model, err error) {
	s := Simulator{}
	if p.Simulator != nil {
		s = *p.Simulator
	}
	if s.Steps == 0 {
		s.Steps = len(p.Overlap) + 1
	}
	if err := s.Check(p.Overlap); err != nil {
		return nil, err
	}
	if note == nil {
		note = func(string) {}
	}
	switch cmp.Or(p.Dynamics, "emulated") {
	case "emulated":
		note("fitting a surface through hard simulations")
		s, err = s.Emulated(ctx, p.Graphs)
	case "corrected":
		note("correcting the soft simulator to hard ones")
		s, err = s.Corrected(ctx, p.Graphs)
	case "soft":
	default:
		err = fmt.Errorf("dynamics is %q: want emulated, corrected or soft", p.Dynamics)
	}
	if err != nil {
		return nil, err
	}
	return s.Model(p.Overlap)
}
