package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/runs"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// demoTruth is the particle of the demonstration; lengths in nm.
var demoTruth = map[string]float64{"radius": 9.3, "shell": 6.4, "aligned": 0.55}

// demoProblem is what is asked about it: 10 % of noise on every pixel.
const demoProblem = `{
  "model": "core_shell",
  "grid": {"shape": [10, 24, 24], "voxel": 3.5},
  "parameters": {
    "radius": {"start": 7.5, "bounds": [3, 15]},
    "shell": {"start": 8, "bounds": [2, 15]},
    "aligned": {"start": 0.3, "bounds": [0, 1]}
  },
  "fixed": {"x": 40.9, "y": 40.1, "z": 16.2},
  "data": "HDF5",
  "constants": ["Material1.txt", "Material2.txt"],
  "config": "config.txt",
  "mask": {"q": [0.14, 0.85]},
  "sigma": 0.1%s
}
`

const demoNoise = 0.1

// demoConstants are gold-like, polystyrene-like, around the carbon edge, and of vacuum.
var (
	demoEnergies  = []float64{280, 284.7, 285.2}
	demoConstants = [][]cyrsoxs.Constants{
		{{DeltaPara: -1.2e-3, BetaPara: 6e-3, DeltaPerp: -1.2e-3, BetaPerp: 6e-3}, {DeltaPara: -1.1e-3, BetaPara: 5.9e-3, DeltaPerp: -1.1e-3, BetaPerp: 5.9e-3},
			{DeltaPara: -1.1e-3, BetaPara: 5.9e-3, DeltaPerp: -1.1e-3, BetaPerp: 5.9e-3}},
		{{DeltaPara: 9e-4, BetaPara: 5e-5, DeltaPerp: 8.5e-4, BetaPerp: 6e-5}, {DeltaPara: -1.4e-3, BetaPara: 1.1e-3, DeltaPerp: 2e-4, BetaPerp: 3.2e-3},
			{DeltaPara: -1.9e-3, BetaPara: 1.6e-3, DeltaPerp: -2.9e-3, BetaPerp: 4.6e-3}},
		make([]cyrsoxs.Constants, 3),
	}
)

func (a *app) demoRSoXS() *cobra.Command {
	var only bool
	c := &cobra.Command{
		Use:   "rsoxs",
		Short: "Simulate a particle's scattering and recover it",
		Long: `Make a core-shell particle, simulate its polarized resonant soft X-ray
scattering at three energies as a working directory of CyRSoXS, add 10 % of
noise, recover sizes and order of the shell by least squares and as a posterior,
and write reports with pictures. It needs no network and takes seconds.

  euryale demo rsoxs
  euryale demo rsoxs --out run --overwrite
  euryale demo rsoxs --data
`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return a.runDemoRSoXS(c.Context(), only) },
	}
	c.Flags().BoolVar(&only, "data", false, "make the data and stop")
	return c
}

func (a *app) runDemoRSoXS(ctx context.Context, only bool) error {
	if a.out == "" {
		a.out = "demo-rsoxs"
	}
	dir, err := a.makeRundir(a.out)
	if err != nil {
		return err
	}
	if err := makeDemoRSoXS(ctx, dir); err != nil {
		return as(exitCannotWrite, err)
	}
	if only {
		a.note("wrote %s", dir)
		return nil
	}
	step := func(text string) { fmt.Fprintf(a.stdout, "\n== %s\n", text) }
	if a.json {
		step = func(string) {}
	}
	step(fmt.Sprintf("truth: radius %g nm, shell %g nm, aligned %g; %s has 3 noisy patterns", demoTruth["radius"], demoTruth["shell"], demoTruth["aligned"], dir.Path("HDF5")))
	step("least squares from a wrong start, with exact derivatives")
	for _, name := range []string{"fit", "posterior"} {
		b := *a
		b.out = dir.Path(name)
		if a.json {
			b.json, b.stdout = false, io.Discard
		}
		cfg := invertConfig{chainConfig: defaultChains(0)}
		cfg.File = dir.Path("problem.json")
		if name == "posterior" {
			step("the posterior: four chains of NUTS")
			cfg.File, cfg.Warmup, cfg.Draws, cfg.Retries = dir.Path("posterior.json"), 100, 200, 0
		}
		if err := b.startInvert(ctx, cfg); err != nil {
			return err
		}
	}
	if a.json {
		return a.document(map[string]any{"demo": "rsoxs", "folder": string(dir), "truth": demoTruth, "reports": []string{dir.Path("fit", "report.html"), dir.Path("posterior", "report.html")}})
	}
	fmt.Fprintf(a.stdout, `
Look at     %s
            %s
Try next    euryale reduce rsoxs %s --radii true
            (cd %s && euryale sim rsoxs particle.h5 clean)
            edit %s, then euryale invert rsoxs %[5]s
`, dir.Path("fit", "report.html"), dir.Path("posterior", "report.html"), dir.Path("HDF5"), dir, dir.Path("problem.json"))
	return nil
}

// makeDemoRSoXS writes a working directory of CyRSoXS with noisy results, and the
// problems.
func makeDemoRSoXS(ctx context.Context, dir runs.Folder) error {
	for name, more := range map[string]string{"problem.json": "", "posterior.json": ",\n  \"method\": \"nuts\""} {
		if err := writeFile(dir.Path(name), fmt.Appendf(nil, demoProblem, more)); err != nil {
			return err
		}
	}
	c := cyrsoxs.NewConfig()
	c.Energies, c.EAngleRotation, c.RotMask = demoEnergies, [3]float64{0, 30, 150}, true
	if err := cyrsoxs.WriteConfig(dir.Path("config.txt"), c); err != nil {
		return err
	}
	var all []*cyrsoxs.Material
	for i, k := range demoConstants {
		m := &cyrsoxs.Material{Energies: demoEnergies, Constants: k}
		all = append(all, m)
		if err := cyrsoxs.WriteMaterial(dir.Path(fmt.Sprintf("Material%d.txt", i+1)), m); err != nil {
			return err
		}
	}
	volume, err := demoVolume()
	if err != nil {
		return err
	}
	volume.Created = undated
	if err := cyrsoxs.WriteMorphology(dir.Path("particle.h5"), volume, cyrsoxs.WriteOptions{}); err != nil {
		return err
	}
	if err := cyrsoxs.WriteLog(dir.Path(logName), &cyrsoxs.Log{Version: "euryale " + version(), File: "particle.h5", Shape: volume.Shape, PhysSize: volume.PhysSize,
		Materials: len(volume.Phases), Config: c, Warnings: []string{"the images of the demonstration have 10 % of noise"}}); err != nil {
		return err
	}
	return measureDemo(ctx, dir.Path("HDF5"), c, volume, all)
}

// demoVolume is the true particle.
func demoVolume() (*cyrsoxs.Morphology, error) {
	p, err := morph.ParseProblem(fmt.Appendf(nil, demoProblem, ""))
	if err != nil {
		return nil, err
	}
	s, err := p.Scene([]float64{demoTruth["radius"], demoTruth["shell"], demoTruth["aligned"]})
	if err != nil {
		return nil, err
	}
	m, err := s.Morphology(p.Grid.Voxel)
	if err != nil {
		return nil, err
	}
	v, err := morph.VolumeOf(m)
	if err == nil {
		v.Creator = "euryale " + version()
		v.Name = "core-shell particle in vacuum"
	}
	return v, err
}

// measureDemo simulates the images and multiplies every pixel by noise.
func measureDemo(ctx context.Context, dir string, c *cyrsoxs.Config, v *cyrsoxs.Morphology, all []*cyrsoxs.Material) error {
	x, err := morph.NewExperiment(c, v, all, morph.ExperimentSettings{})
	if err != nil {
		return err
	}
	p, err := rsoxs.Simulate(ctx, x.Morphology, x.Optics, x.Config)
	if err != nil {
		return err
	}
	names, err := cyrsoxs.FileNames(p.Energies)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	rng := tensor.NewStream(7, 0, 0)
	for e, energy := range p.Energies {
		im := image(p, e, 0)
		for i := range im {
			im[i] *= math.Exp(demoNoise * rng.Normal())
		}
		q := &cyrsoxs.Pattern{Energy: energy, KVectors: [][3]float64{{0, 0, 1}}, Shape: [2]int{v.Shape[1], v.Shape[2]}, Images: []cyrsoxs.Field{{Float64: im}}}
		if err := cyrsoxs.WritePattern(filepath.Join(dir, names[e]), q); err != nil {
			return err
		}
	}
	return nil
}
