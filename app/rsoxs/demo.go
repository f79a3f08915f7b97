// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/app/draws"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/internal/setting"
)

func demoRSoXS(a *frame.App) *cobra.Command {
	var only bool
	c := &cobra.Command{
		Use:   "rsoxs",
		Short: "Simulate a particle's scattering and recover it",
		Long: `Make a core-shell particle and simulate its polarized resonant soft X-ray
scattering at three energies, in a working directory laid out as for CyRSoXS.
Add 10 % noise, recover the sizes and the order parameter of the shell by
least squares and as a posterior, and write reports with pictures. This needs no
network and takes about 15 seconds.

  euryale demo rsoxs
  euryale demo rsoxs --out run --overwrite
  euryale demo rsoxs --data
`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDemoRSoXS(c.Context(), a, only) },
	}
	c.Flags().BoolVar(&only, "data", false, "only make the data")
	return c
}

func runDemoRSoXS(ctx context.Context, a *frame.App, only bool) error {
	dir, err := a.DemoFolder("demo-rsoxs")
	if err != nil {
		return err
	}
	if err := demo.WriteParticle(ctx, string(dir), "euryale "+frame.Version()); err != nil {
		return exit.With(exit.CannotWrite, err)
	}
	if only {
		a.Note("wrote %s", dir)
		return nil
	}
	truth := demo.Particle()
	step := func(text string) { a.Print("\n== %s\n", text) }
	if a.JSON {
		step = func(string) {}
	}
	step(fmt.Sprintf("truth: radius %g nm, shell %g nm, aligned %g; %s has 3 noisy patterns", truth["radius"], truth["shell"], truth["aligned"], dir.Path("HDF5")))
	step("least squares from a wrong start, with exact derivatives")
	for _, name := range []string{"fit", "posterior"} {
		other := *a
		b := &other
		b.Out = dir.Path(name)
		if a.JSON {
			b.JSON, b.Stdout = false, io.Discard
		}
		cfg := invertConfig{ChainConfig: draws.DefaultChains(setting.Sampler{})}
		cfg.File = dir.Path("problem.json")
		if name == "posterior" {
			step("the posterior: four chains of NUTS")
			cfg.File, cfg.Warmup, cfg.Draws, cfg.Retries = dir.Path("posterior.json"), 100, 200, 0
		}
		if err := startInvert(ctx, b, cfg); err != nil {
			return err
		}
	}
	if a.JSON {
		return a.Document(map[string]any{"demo": "rsoxs", "folder": string(dir), "truth": truth, "reports": []string{dir.Path("fit", "report.html"), dir.Path("posterior", "report.html")}})
	}
	a.Print(`
Look at     %s
            %s
Try next    euryale reduce rsoxs %s --radii true
            (cd %s && euryale sim rsoxs particle.h5 clean)
            edit %s, then euryale invert rsoxs %[5]s
`, dir.Path("fit", "report.html"), dir.Path("posterior", "report.html"), dir.Path("HDF5"), dir, dir.Path("problem.json"))
	return nil
}
