// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/twotime/motion"
)

// configDoc is the JSON document of info of a configuration.
type configDoc struct {
	File       string               `json:"file"`
	Model      homodyne.Model       `json:"model"`
	Data       string               `json:"data"`
	Q          frame.Number         `json:"q"` // 0: the only one of the data
	Frames     [2]int               `json:"frames"`
	Step       frame.Number         `json:"frame_time_s"` // 0: that of the data
	Gap        frame.Number         `json:"gap_angstrom"`
	Shear      string               `json:"shear"`
	Origin     string               `json:"time_origin"`
	Scaling    homodyne.Scaling     `json:"scaling"`
	Parameters []configParameterDoc `json:"parameters"`
	Notices    []string             `json:"notices"`
	Ignored    []string             `json:"ignored"`
}

type configParameterDoc struct {
	Name   string           `json:"name"`
	Start  frame.Number     `json:"start"`
	Fixed  bool             `json:"fixed"`
	Bounds *[2]frame.Number `json:"bounds,omitempty"`
	Prior  string           `json:"prior,omitempty"`
}

// infoConfig says what a configuration of homodyne, xpcsjax or heterodyne means.
func infoConfig(a *frame.App, name string) error {
	r := motion.Request{}
	if _, err := settle(&r, name); err != nil {
		return err
	}
	c, err := configuration(&r)
	if err != nil {
		return err
	}
	d := configDoc{File: name, Model: c.Model, Data: c.Data, Q: frame.Number(c.Q), Frames: [2]int{c.First, c.Last}, Step: frame.Number(c.Step), Gap: frame.Number(c.Gap), Shear: shearText(c), Origin: originText(c), Scaling: c.Scaling,
		Notices: append([]string{}, c.Notices...), Ignored: append([]string{}, c.Ignored...)}
	for _, p := range c.Parameters {
		one := configParameterDoc{Name: p.Name, Start: frame.Number(p.Start), Fixed: p.Fixed}
		if p.Bounded {
			one.Bounds = &[2]frame.Number{frame.Number(p.Low), frame.Number(p.High)}
		}
		if p.Prior.Given {
			one.Prior = string(p.Prior.Kind)
		}
		d.Parameters = append(d.Parameters, one)
	}
	if a.JSON {
		return a.Document(d)
	}
	fmt.Fprintf(a.Stdout, "%s: %s, data %s, %s\ngap %g A, shear %s, times from the %s, contrast and offset %s\n", name, c.Model, c.Data, windowText(c), c.Gap, d.Shear, d.Origin, c.Scaling)
	w := foreign.Table(a.Stdout, 0)
	fmt.Fprintln(w, "parameter\tstart\tbounds\tprior")
	for _, p := range d.Parameters {
		bounds, prior := "-", p.Prior
		if p.Bounds != nil {
			bounds = fmt.Sprintf("%g to %g", float64(p.Bounds[0]), float64(p.Bounds[1]))
		}
		if p.Fixed {
			bounds = "fixed"
		} else if prior == "" {
			prior = "weak"
		}
		fmt.Fprintf(w, "%s\t%g\t%s\t%s\n", p.Name, float64(p.Start), bounds, prior)
	}
	if err := w.Flush(); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	for _, n := range c.Notices {
		fmt.Fprintf(a.Stdout, "note: %s\n", n)
	}
	if text := c.IgnoredText(); text != "" {
		fmt.Fprintf(a.Stdout, "these settings have no meaning here and were ignored: %s\n", text)
	}
	return nil
}

// windowText says which q and which frames a configuration takes.
func windowText(c *homodyne.Config) string {
	q, last, step := "the only q of the data", "the last", "the time from frame to frame as in the data"
	if c.Q > 0 {
		q = fmt.Sprintf("q %g 1/A", c.Q)
	}
	if c.Last > 0 {
		last = fmt.Sprint(c.Last)
	}
	if c.Step > 0 {
		step = fmt.Sprintf("%g s each", c.Step)
	}
	return fmt.Sprintf("%s, frames %d to %s, %s", q, max(1, c.First), last, step)
}
