// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"cmp"
	"fmt"
	"runtime"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/models/twotime/motion"
	"github.com/euryale-dev/euryale/runs"
)

// correlationsFile holds the correlations of a run.
const correlationsFile = "data.npz"

// measuredDoc is where and when correlations were measured, in config.json.
type measuredDoc struct {
	Q     float64   `json:"q"`
	Phi   []float64 `json:"phi"`
	First int       `json:"first_frame"`
	Last  int       `json:"last_frame"`
	Step  float64   `json:"frame_time_s"`
	Times []float64 `json:"times_s"`
}

// openTwotime reads the correlations of a file, or of the one that the configuration names.
func openTwotime(a *frame.App, file string, r *motion.Request) (*motion.Problem, error) {
	file, err := settle(r, file)
	if err != nil {
		return nil, err
	}
	config, err := configuration(r)
	if err != nil {
		return nil, err
	}
	p, err := motion.Open(config, file)
	if err != nil {
		return nil, exit.Input(err)
	}
	if p.Data.Noise, err = r.Noise(len(p.C2.Phi)); err != nil {
		return nil, requestError(err)
	}
	for _, n := range p.Notes {
		a.Note("%s", n)
	}
	return p, nil
}

// measuredOf is what config.json holds beside the matrices.
func measuredOf(p *motion.Problem) measuredDoc {
	return measuredDoc{Q: p.C2.Q, Phi: p.C2.Phi, First: p.C2.First, Last: p.C2.Last, Step: p.C2.Step, Times: p.Data.Setup.Times}
}

// keepCorrelations writes the correlations to a run folder.
func keepCorrelations(dir runs.Folder, p *motion.Problem) error {
	c := *p.C2
	c.Bins, c.File = nil, "" // all at one q
	return exit.With(exit.CannotWrite, homodyne.Write(dir.Path(correlationsFile), homodyne.NPZ, &c))
}

// reopenTwotime makes the problem of a run folder again.
func reopenTwotime(dir runs.Folder, file string, r *motion.Request, m measuredDoc) (*motion.Problem, error) {
	config, err := configuration(r)
	if err != nil {
		return nil, exit.With(exit.Config, err)
	}
	h, err := homodyne.Open(dir.Path(correlationsFile))
	if err != nil {
		return nil, exit.Input(err)
	}
	defer h.Close()
	c2, err := h.Read(homodyne.Selection{Step: m.Step})
	if err != nil {
		return nil, exit.Input(err)
	}
	if c2.Frames() != len(m.Times) || len(c2.Phi) != len(m.Phi) {
		return nil, exit.With(exit.Data, fmt.Errorf("%s has %d frames and %d angles, but %s says %d and %d: they do not belong to the same run", dir.Path(correlationsFile), c2.Frames(), len(c2.Phi), runs.ConfigFile, len(m.Times), len(m.Phi)))
	}
	c2.Q, c2.Phi, c2.First, c2.Last, c2.Step, c2.File = m.Q, m.Phi, m.First, m.Last, m.Step, file
	p, err := motion.New(config, c2, m.Times)
	if err != nil {
		return nil, exit.With(exit.Data, err)
	}
	p.Data.Noise, err = r.Noise(len(c2.Phi))
	return p, err
}

// most is the number of threads to use.
func most(a *frame.App) int { return cmp.Or(a.Threads, runtime.GOMAXPROCS(0)) }

// shearText and originText are how configurations say what numbers are.
func shearText(c *homodyne.Config) string {
	return map[bool]string{true: "homodyne", false: "physical"}[c.Customary]
}

func originText(c *homodyne.Config) string {
	return map[bool]string{true: "window", false: "experiment"}[c.Clock.Window]
}
