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
	"github.com/euryale-dev/euryale/models/twotime"
	"github.com/euryale-dev/euryale/models/twotime/motion"
)

func demoTwotime(a *frame.App) *cobra.Command {
	var only bool
	c := &cobra.Command{
		Use:   "twotime",
		Short: "Simulate, fit and sample the motion of a sheared sample",
		Long: `Simulate two-time correlations of sheared particles at three azimuths and write
them with a configuration file for homodyne. Fit the motion by least squares,
sample its posterior with NUTS, and write reports with pictures. This needs no
network and takes about 4 seconds.

  euryale demo twotime
  euryale demo twotime --out run --overwrite
  euryale demo twotime --data
`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDemoTwotime(c.Context(), a, only) },
	}
	c.Flags().BoolVar(&only, "data", false, "only make the correlations and the configuration")
	return c
}

func runDemoTwotime(ctx context.Context, a *frame.App, only bool) error {
	dir, err := a.DemoFolder("demo-twotime")
	if err != nil {
		return err
	}
	truth := demo.Sheared(a.Seed)
	if err := truth.Write(ctx, string(dir)); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	data, config := dir.Path("flow.hdf"), dir.Path("flow.yaml")
	sub, step := a.Demonstration(dir)
	step(fmt.Sprintf("%d frames at %d azimuths: %s", len(truth.Setup.Times), len(truth.Setup.Angles), valuesText(truth.Setup.Names(), frame.Named(truth.Setup.Names(), truth.Sample.Theta))))
	if only {
		a.Note("wrote %s and %s", data, config)
	} else {
		step("least squares: euryale fit twotime " + config)
		if err := runFitTwotime(ctx, sub("fit"), config, twotimeRunConfig{Command: fitTwotimeCommand, Starts: defaultStarts}); err != nil {
			return err
		}
		step("the posterior: euryale sample twotime " + config)
		cfg := twotimeSampleConfig{ChainConfig: draws.DefaultChains(motion.Sampling(nil)), twotimeSampleChoice: twotimeSampleChoice{Likelihood: string(twotime.ByCells)}}
		if err := startSampleTwotime(ctx, sub("posterior"), config, cfg, func(string) bool { return false }); err != nil {
			return err
		}
	}
	if a.JSON {
		reports := []string{}
		if !only {
			reports = []string{dir.Path("fit", "report.html"), dir.Path("posterior", "report.html")}
		}
		return a.Document(map[string]any{"demo": "twotime", "folder": string(dir), "data": data, "config": config, "truth": frame.Named(truth.Setup.Names(), truth.Sample.Theta), "reports": reports})
	}
	if only {
		a.Print("\nTry next    euryale fit twotime %s --out flow\n            euryale sample twotime %s --out posterior\n", config, config)
		return nil
	}
	a.Print("\nLook at     %s\n            %s\n", dir.Path("fit", "report.html"), dir.Path("posterior", "report.html"))
	a.Print(`
Try next    euryale fit twotime %s --scaling auto --json
            euryale sample twotime %s --likelihood pairs --homodyne --out pairs
            euryale plot twotime %s maps.png
`, config, config, dir.Path("fit"))
	return nil
}
