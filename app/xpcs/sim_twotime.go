// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/homodyne"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/setting"
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/models/twotime/motion"
	"github.com/euryale-dev/euryale/sim/xpcs/transport"
)

// simTwotimeFlags are the flags of sim twotime.
type simTwotimeFlags struct {
	motion.Request
	Set       setting.Numbers `about:"value of a parameter"`
	Vector    float64         `name:"q" unit:"1/Angstrom" above:"0" zero:"0.0054, or from the configuration" about:"wavevector"`
	Step      float64         `name:"frame-time" units:"s=1 ms=1e-3 us=1e-6 µs=1e-6 ns=1e-9" above:"0" zero:"0.1s, or from the configuration" about:"time between frames, in s or with a unit such as ms or us"`
	Phi       string          `name:"angles" zero:"0,45,90, or the file of angles in the configuration" about:"azimuths in degrees"`
	Count     int             `name:"frames" default:"100" low:"3" high:"20000" about:"number of frames"`
	Contrasts string          `name:"contrast" default:"0.2" about:"contrast: one number, or one per angle"`
	Offsets   string          `name:"offset" default:"1" about:"offset: one number, or one per angle; a value above 1 simulates pixels of unequal brightness"`
	Simulated int             `name:"speckles" default:"10000" low:"2" high:"1073741824" about:"number of independent speckles per angle"`
	Counts    float64         `name:"mean-count" default:"0.5" about:"mean count per pixel and frame; 0 means no shot noise"`
	Layout    string          `choices:"npz,aps_u,aps_old" zero:"from the extension of OUT" about:"npz (a cache of homodyne), aps_u (APS 8-ID) or aps_old (its old layout)"`
}

// What is simulated if neither a flag nor the configuration says otherwise.
const (
	simulatedQ    = 0.0054 // 1/Angstrom
	simulatedStep = 0.1    // seconds

	simulatedAngles = "0,45,90" // degrees
)

func simTwotime(a *frame.App) *cobra.Command {
	var f simTwotimeFlags
	c := &cobra.Command{
		Use:   "twotime OUT.npz|OUT.hdf",
		Short: "Simulate two-time correlations of a moving sample",
		Long: `Simulate the speckles of a sample that diffuses, is sheared or flows, draw
frames of photons from them, and correlate the frames. The result is C2(t1, t2)
at several azimuths, with the scatter that few speckles and few photons cause.
Parameters that --set does not name have the starting values of the
configuration, or typical ones.

OUT.npz is written as a cache of homodyne, OUT.hdf as an APS 8-ID file
(--layout aps_old writes the old layout).

  euryale sim twotime c2.npz --model laminar --angles 0,45,90 --frames 100 \
      --frame-time 0.1 --q 0.0054 --set D0=1200 --set gamma_dot_t0=0.002
  euryale sim twotime c2.hdf --config flow.yaml --speckles 20000 --seed 7
`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return runSimTwotime(c.Context(), a, args[0], &f) },
	}
	frame.AddSettings(c, "sim twotime", &f)
	return c
}

// layout returns the layout of a file.
func (f *simTwotimeFlags) layout(out string) (homodyne.Layout, error) {
	switch {
	case f.Layout != "":
		return homodyne.Layout(f.Layout), nil
	}
	switch ext := strings.ToLower(filepath.Ext(out)); ext {
	case ".npz":
		return homodyne.NPZ, nil
	case ".hdf", ".h5", ".hdf5":
		return homodyne.APSU, nil
	}
	return "", exit.Usage("%s: the extension does not say which layout to write: end the name in .npz or .hdf, or give --layout", out)
}

// sample returns the measurement and the sample that flags and configuration describe.
func (f *simTwotimeFlags) sample(seed uint64) (c *homodyne.Config, s transport.Setup, of twotime.Sample, err error) {
	if _, err = settle(&f.Request, ""); err != nil {
		return
	}
	f.Start, f.Contrast, f.Offset, f.Q, f.FrameTime = f.Set, f.Contrasts, f.Offsets, f.Vector, f.Step
	if c, err = configuration(&f.Request); err != nil {
		return
	}
	phi, err := setting.List(cmp.Or(f.Phi, simulatedAngles))
	if err != nil || len(phi) == 0 {
		return c, s, of, exit.Usage("--angles %q: want azimuths in degrees, such as 0,45,90", f.Phi)
	}
	if c.Azimuths != "" && f.Phi == "" {
		name, err := c.Path(c.Azimuths)
		if err != nil {
			return c, s, of, exit.Input(err)
		}
		if phi, err = homodyne.ReadAngles(name); err != nil {
			return c, s, of, exit.Input(err)
		}
	}
	if c.Q == 0 {
		c.Q = simulatedQ
	}
	if c.Step == 0 {
		c.Step = simulatedStep
	}
	s = motion.Setup(c, c.Q, phi, c.Clock.Times(1, f.Count, c.Step), c.Step)
	of = twotime.Sample{Speckles: f.Simulated, MeanCount: f.Counts, Seed: seed}
	for _, par := range c.Parameters {
		of.Theta = append(of.Theta, par.Start)
	}
	for _, n := range []struct {
		flag string
		v    []float64
		to   *[]float64
	}{{"contrast", c.Contrasts, &of.Contrast}, {"offset", c.Offsets, &of.Offset}} {
		switch len(n.v) {
		case 1:
			*n.to = slices.Repeat(n.v, len(phi))
		case len(phi):
			*n.to = n.v
		default:
			return c, s, of, exit.Usage("--%s has %s for %s: want one number, or one per angle", n.flag, errtext.Count(len(n.v), "number"), errtext.Count(len(phi), "angle"))
		}
	}
	return c, s, of, nil
}

func runSimTwotime(ctx context.Context, a *frame.App, out string, f *simTwotimeFlags) error {
	if err := frame.CheckSettings(f); err != nil {
		return err
	}
	layout, err := f.layout(out)
	if err != nil {
		return err
	}
	if err := a.MayWrite(out, "file", a.Overwrite); err != nil {
		return err
	}
	c, setup, of, err := f.sample(a.Seed)
	if err != nil {
		return err
	}
	d, err := twotime.Simulate(ctx, setup, of)
	if err != nil {
		if ctx.Err() != nil {
			return exit.With(exit.Interrupted, err)
		}
		return exit.With(exit.WrongUsage, err)
	}
	made := homodyne.Correlation{Q: setup.Q, Phi: setup.Angles, First: 1, Last: f.Count, Step: c.Step, C2: d.C2}
	if err := homodyne.Write(out, layout, &made); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	truth := frame.Named(setup.Names(), of.Theta)
	if a.JSON {
		return a.Document(map[string]any{"engine": "twotime", "file": out, "layout": layout, "model": c.Model, "q": frame.Number(setup.Q), "phi": frame.Numbers(setup.Angles), "frames": f.Count, "frame_time_s": frame.Number(c.Step),
			"truth": truth, "contrast": frame.Numbers(of.Contrast), "offset": frame.Numbers(of.Offset), "speckles": of.Speckles, "mean_count": frame.Number(of.MeanCount)})
	}
	_, err = fmt.Fprintf(a.Stdout, "%s: %s of %d frames at %s, q = %.5g 1/A\ntruth: %s\n", out, motion.ModelName(c.Model), f.Count, errtext.Count(len(setup.Angles), "angle"), setup.Q, valuesText(setup.Names(), truth))
	return exit.With(exit.CannotWrite, err)
}
