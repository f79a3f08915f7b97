// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/models/g2"
	"github.com/euryale-dev/euryale/models/xpcs"
)

func demoXPCS(a *frame.App) *cobra.Command {
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
		RunE: func(c *cobra.Command, _ []string) error { return runDemoXPCS(c.Context(), a, only) },
	}
	c.Flags().BoolVar(&only, "data", false, "only make the frames and the q map")
	return c
}

func runDemoXPCS(ctx context.Context, a *frame.App, only bool) error {
	dir, err := a.DemoFolder("demo-xpcs")
	if err != nil {
		return err
	}
	sub, step := a.Demonstration(dir)
	truth := demo.Particles(a.Seed)
	step(fmt.Sprintf("%d frames of %d x %d pixels: diffusion with D = %.3g square angstroms per second, contrast 1/%d", truth.Frames, truth.Geometry.Height, truth.Geometry.Width, truth.Diffusion, truth.Modes))
	if err := truth.Write(string(dir)); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	movie, qmap, result := dir.Path("movie.h5"), dir.Path("qmap.hdf"), dir.Path("movie_results.hdf")
	if only {
		a.Note("wrote %s and %s", movie, qmap)
		return nil
	}
	step("correlation: euryale correlate " + movie + " --qmap " + qmap + " --correlation both --bins 1-3 --parts 3")
	f := correlateFlags{QMap: qmap, Request: xpcs.Request{Correlation: "both", Stride: 1, Average: 1, Smooth: "static", Parts: 3}, Bins: "1-3", MaxMemory: 2048, Report: true}
	f.FrameTime.Units = frame.TimeUnits
	if err := runCorrelate(ctx, sub(""), []string{movie}, f); err != nil {
		return err
	}
	step("every bin: g2 = baseline + contrast exp(-2 x/tau), with the covariance of its points")
	if err := runFitG2(ctx, sub("fit"), result, g2.Request{Model: "single", Loss: "linear"}, "all"); err != nil {
		return err
	}
	step("the power law tau = tau0 q^-alpha over these fits; diffusion has alpha 2")
	if err := runFitG2(ctx, sub("power"), result, g2.Request{Model: "power", Loss: "linear"}, "all"); err != nil {
		return err
	}
	const bin = 3
	step(fmt.Sprintf("the posterior of bin %d: four chains of NUTS from the fit", bin))
	cfg := sampleConfig{ChainConfig: draws.DefaultChains(g2.Sampling())}
	cfg.File, cfg.Bin, cfg.G2 = result, bin, g2.Request{Model: "single", Loss: "linear"}
	if err := startSampleG2(ctx, sub("posterior"), cfg); err != nil {
		return err
	}
	if a.JSON {
		return a.Document(map[string]any{"demo": "xpcs", "folder": string(dir), "frames": movie, "qmap": qmap, "result": result,
			"truth":   map[string]frame.Number{"diffusion": frame.Number(truth.Diffusion), "contrast": frame.Number(1 / float64(truth.Modes))},
			"reports": []string{dir.Path("movie_report", "report.html"), dir.Path("fit", "report.html"), dir.Path("power", "report.html"), dir.Path("posterior", "report.html")}})
	}
	a.Print(`
Look at     %s
            %s
            %s
Try next    euryale fit g2 %s --model stretched
            euryale qmap %s --from %s --dynamic 8x4
            euryale correlate %s --qmap %s
`, dir.Path("movie_report", "report.html"), dir.Path("fit", "report.html"), dir.Path("posterior", "report.html"), result, dir.Path("phi.hdf"), movie, movie, dir.Path("phi.hdf"))
	return nil
}
