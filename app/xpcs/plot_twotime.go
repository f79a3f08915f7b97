// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/models/twotime/motion"
	"github.com/euryale-dev/euryale/report"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/viz"
)

// drawMotion draws data, model and residuals of a run of fit twotime or sample twotime, for all angles or those that are numbered from 1.
func drawMotion(dir runs.Folder, angles string, lags bool) (*viz.Figure, error) {
	p, at, err := openMotion(dir)
	if err != nil {
		return nil, err
	}
	maps, err := p.Maps(at)
	if err != nil {
		return nil, exit.With(exit.Failed, err)
	}
	m := (*report.TwotimeMaps)(maps)
	chosen := m.Angles()
	if angles != "" {
		list, err := numbersOf("bins", angles, 1)
		if err != nil {
			return nil, err
		}
		chosen = nil
		for _, k := range list {
			if k > len(m.Phi) {
				return nil, exit.Usage("--bins %s: want angles of %s from 1 to %d", angles, dir, len(m.Phi))
			}
			chosen = append(chosen, k-1)
		}
	}
	if lags {
		return m.Lags(chosen)
	}
	return m.Images(chosen)
}

// openMotion reads a run folder: its problem, and the point of its fit or the medians of its posterior.
func openMotion(dir runs.Folder) (p *motion.Problem, at twotime.Point, err error) {
	command, err := dir.Command()
	if err != nil {
		return nil, at, frame.ConfigError(err)
	}
	var cfg struct {
		File     string         `json:"file"`
		Twotime  motion.Request `json:"twotime"`
		Measured measuredDoc    `json:"measured"`
	}
	result, ok := map[string]string{fitTwotimeCommand: "fit.json", sampleTwotimeCommand: "summary.json"}[command]
	if !ok {
		return nil, at, exit.With(exit.Config, fmt.Errorf("%s is a run of %q: want one of %s or %s", dir, command, fitTwotimeCommand, sampleTwotimeCommand))
	}
	if err := dir.Config(&cfg); err != nil {
		return nil, at, frame.ConfigError(err)
	}
	if p, err = reopenTwotime(dir, cfg.File, &cfg.Twotime, cfg.Measured); err != nil {
		return nil, at, err
	}
	name := dir.Path(result)
	b, err := foreign.ReadFile(name)
	if err != nil {
		return nil, at, exit.Input(err)
	}
	var doc struct {
		Point motionPointDoc `json:"point"`
	}
	if err := foreign.Decode(b, &doc, false); err != nil {
		return nil, at, exit.With(exit.Data, fmt.Errorf("%s: %w", name, err))
	}
	at = doc.Point.point()
	if n, angles := len(p.Config.Parameters), len(p.C2.Phi); len(at.Theta) != n || len(at.Contrast) != angles || len(at.Offset) != angles {
		return nil, at, exit.With(exit.Data, fmt.Errorf("%s has a point with %d parameters, %d contrasts and %d offsets, but the run has %d parameters and %d angles: make the run again", name, len(at.Theta), len(at.Contrast), len(at.Offset), n, angles))
	}
	return p, at, nil
}
