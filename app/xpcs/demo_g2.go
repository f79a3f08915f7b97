// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/models/g2"
)

func demoG2(a *frame.App) *cobra.Command {
	return &cobra.Command{
		Use:   "g2",
		Short: "Fit every bin of a result file and sample two of them",
		Long: `Write a synthetic result file in the APS 8-ID layout, fit every bin and the
power law tau(q), sample two bins with NUTS, and write reports with pictures
to demo-g2. This needs no network and takes about a second.

  euryale demo g2
  euryale demo g2 --out run --overwrite
`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDemoG2(c.Context(), a) },
	}
}

func runDemoG2(ctx context.Context, a *frame.App) error {
	dir, err := a.DemoFolder("demo-g2")
	if err != nil {
		return err
	}
	file := dir.Path("g2_result.hdf")
	if err := frame.WriteFile(file, demo.Correlations()); err != nil {
		return err
	}
	sub, step := a.Demonstration(dir)
	step("every bin: g2 = baseline + contrast exp(-2 x/tau)   (synthetic data, " + file + ")")
	if err := runFitG2(ctx, sub("fit"), file, g2.Request{Model: "single", Loss: "linear"}, "all"); err != nil {
		return err
	}
	step("the power law tau = tau0 q^-alpha over these fits (2 is diffusion)")
	if err := runFitG2(ctx, sub("power"), file, g2.Request{Model: "power", Loss: "linear"}, "all"); err != nil {
		return err
	}
	for _, bin := range []int{3, 8} {
		step(fmt.Sprintf("the posterior of bin %d: four chains of NUTS from the fit", bin))
		cfg := sampleConfig{ChainConfig: draws.DefaultChains(g2.Sampling())}
		cfg.File, cfg.Bin, cfg.G2 = file, bin, g2.Request{Model: "single", Loss: "linear"}
		if err := startSampleG2(ctx, sub(fmt.Sprintf("sample-bin%d", bin)), cfg); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.Document(map[string]any{"demo": "g2", "file": file, "folder": string(dir), "reports": []string{dir.Path("fit", "report.html"),
			dir.Path("power", "report.html"), dir.Path("sample-bin3", "report.html"), dir.Path("sample-bin8", "report.html")}})
	}
	a.Print(`
Look at     %s
            %s
Try next    euryale fit g2 %s --model stretched
            euryale sample g2 %s --bin 5 --prior "tau=lognormal(-1,1)"
`, dir.Path("fit", "report.html"), dir.Path("sample-bin3", "report.html"), file, file)
	return nil
}
