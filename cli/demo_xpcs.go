// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/demo"
)

func (a *app) demoXPCS() *cobra.Command {
	var only bool
	c := &cobra.Command{
		Use:   "xpcs",
		Short: "Simulate, correlate, fit and sample the frames of a detector",
		Long: `Simulate 2000 frames of speckles from diffusing particles behind a beam stop,
make a q map, correlate the frames, fit every bin and the power law tau(q),
sample one bin with NUTS, and write reports with pictures. This needs no network
and takes about 5 seconds.

  euryale demo xpcs
  euryale demo xpcs --out run --overwrite
  euryale demo xpcs --data
`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runDemoXPCS(c.Context(), only) },
	}
	c.Flags().BoolVar(&only, "data", false, "only make the frames and the q map")
	return c
}

func (a *app) runDemoXPCS(ctx context.Context, only bool) error {
	if a.out == "" {
		a.out = "demo-xpcs"
	}
	dir, err := a.makeRundir(a.out)
	if err != nil {
		return err
	}
	sub, step := a.demonstration(dir)
	truth := demo.Particles(a.seed)
	step(fmt.Sprintf("%d frames of %d x %d pixels: diffusion with D = %.3g square angstroms per second, contrast 1/%d", truth.Frames, truth.Geometry.Height, truth.Geometry.Width, truth.Diffusion, truth.Modes))
	if err := truth.Write(string(dir)); err != nil {
		return as(exitCannotWrite, err)
	}
	movie, qmap, result := dir.Path("movie.h5"), dir.Path("qmap.hdf"), dir.Path("movie_results.hdf")
	if only {
		a.note("wrote %s and %s", movie, qmap)
		return nil
	}
	step("correlation: euryale correlate " + movie + " --qmap " + qmap + " --correlation both --bins 1-3 --parts 3")
	f := correlateFlags{QMap: qmap, Type: "both", Bins: "1-3", Stride: 1, Average: 1, Smooth: "static", Parts: 3, MaxMemory: 2048, Report: true}
	f.FrameTime.units = timeUnits
	if err := sub("").runCorrelate(ctx, []string{movie}, f); err != nil {
		return err
	}
	step("every bin: g2 = baseline + contrast exp(-2 x/tau), with the covariance of its points")
	if err := sub("fit").runFitG2(ctx, result, g2flags{Model: "single", Loss: "linear"}, "all"); err != nil {
		return err
	}
	step("the power law tau = tau0 q^-alpha over these fits; diffusion has alpha 2")
	if err := sub("power").runFitG2(ctx, result, g2flags{Model: "power", Loss: "linear"}, "all"); err != nil {
		return err
	}
	const bin = 3
	step(fmt.Sprintf("the posterior of bin %d: four chains of NUTS from the fit", bin))
	cfg := defaultSample
	cfg.File, cfg.Bin, cfg.G2 = result, bin, g2flags{Model: "single", Loss: "linear"}
	if err := sub("posterior").startSampleG2(ctx, cfg); err != nil {
		return err
	}
	if a.json {
		return a.document(map[string]any{"demo": "xpcs", "folder": string(dir), "frames": movie, "qmap": qmap, "result": result,
			"truth":   map[string]number{"diffusion": number(truth.Diffusion), "contrast": number(1 / float64(truth.Modes))},
			"reports": []string{dir.Path("movie_report", "report.html"), dir.Path("fit", "report.html"), dir.Path("power", "report.html"), dir.Path("posterior", "report.html")}})
	}
	a.print(`
Look at     %s
            %s
            %s
Try next    euryale fit g2 %s --model stretched
            euryale qmap %s --from %s --dynamic 8x4
            euryale correlate %s --qmap %s
`, dir.Path("movie_report", "report.html"), dir.Path("fit", "report.html"), dir.Path("posterior", "report.html"), result, dir.Path("phi.hdf"), movie, movie, dir.Path("phi.hdf"))
	return nil
}
