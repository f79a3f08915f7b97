// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// Particle returns the true parameters of the particle that WriteParticle measures;
// lengths are in nm.
func Particle() map[string]float64 {
	return map[string]float64{"radius": 9.3, "shell": 6.4, "aligned": 0.55}
}

// problem is the inversion problem for the particle, with 10 % noise on every pixel.
const problem = `{
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

// noise is the standard deviation of the logarithms of the intensities.
const noise = 0.1

// The optical constants are those of a gold-like and a polystyrene-like material near the
// carbon edge, and of vacuum.
var (
	energies  = []float64{280, 284.7, 285.2}
	constants = [][]cyrsoxs.Constants{
		{{DeltaPara: -1.2e-3, BetaPara: 6e-3, DeltaPerp: -1.2e-3, BetaPerp: 6e-3}, {DeltaPara: -1.1e-3, BetaPara: 5.9e-3, DeltaPerp: -1.1e-3, BetaPerp: 5.9e-3},
			{DeltaPara: -1.1e-3, BetaPara: 5.9e-3, DeltaPerp: -1.1e-3, BetaPerp: 5.9e-3}},
		{{DeltaPara: 9e-4, BetaPara: 5e-5, DeltaPerp: 8.5e-4, BetaPerp: 6e-5}, {DeltaPara: -1.4e-3, BetaPara: 1.1e-3, DeltaPerp: 2e-4, BetaPerp: 3.2e-3},
			{DeltaPara: -1.9e-3, BetaPara: 1.6e-3, DeltaPerp: -2.9e-3, BetaPerp: 4.6e-3}},
		make([]cyrsoxs.Constants, 3),
	}
)

// logName is the name of the log that CyRSoXS writes next to its images.
const logName = "CyRSoXS.log"

// WriteParticle writes a core-shell particle in vacuum into an existing folder, laid out
// as a working directory of CyRSoXS: settings, optical constants, the morphology and its
// patterns at three energies with 10 % noise on every pixel. It also writes the problems
// that recover the particle: problem.json by least squares and posterior.json by NUTS.
// The files name the creator.
func WriteParticle(ctx context.Context, dir, creator string) error {
	path := func(name string) string { return filepath.Join(dir, name) }
	for name, more := range map[string]string{"problem.json": "", "posterior.json": ",\n  \"method\": \"nuts\""} {
		if err := atomicfile.WriteBytes(path(name), fmt.Appendf(nil, problem, more)); err != nil {
			return err
		}
	}
	c := cyrsoxs.NewConfig()
	c.Energies, c.EAngleRotation, c.RotMask = energies, [3]float64{0, 30, 150}, true
	if err := cyrsoxs.WriteConfig(path("config.txt"), c); err != nil {
		return err
	}
	var all []*cyrsoxs.Material
	for i, k := range constants {
		m := &cyrsoxs.Material{Energies: energies, Constants: k}
		all = append(all, m)
		if err := cyrsoxs.WriteMaterial(path(fmt.Sprintf("Material%d.txt", i+1)), m); err != nil {
			return err
		}
	}
	v, err := volume()
	if err != nil {
		return err
	}
	v.Creator, v.Created = creator, "that of the run"
	if err := cyrsoxs.WriteMorphology(path("particle.h5"), v, cyrsoxs.WriteSettings{}); err != nil {
		return err
	}
	if err := cyrsoxs.WriteLog(path(logName), &cyrsoxs.Log{Version: creator, File: "particle.h5", Shape: v.Shape, PhysSize: v.PhysSize,
		Materials: len(v.Phases), Config: c, Warnings: []string{"the images of the demonstration have 10 % of noise"}}); err != nil {
		return err
	}
	return measure(ctx, path("HDF5"), c, v, all)
}

// volume returns the true particle.
func volume() (*cyrsoxs.Morphology, error) {
	p, err := morph.ParseProblem(fmt.Appendf(nil, problem, ""))
	if err != nil {
		return nil, err
	}
	truth := Particle()
	s, err := p.Scene([]float64{truth["radius"], truth["shell"], truth["aligned"]})
	if err != nil {
		return nil, err
	}
	m, err := s.Morphology(p.Grid.Voxel)
	if err != nil {
		return nil, err
	}
	v, err := morph.VolumeOf(m)
	if err == nil {
		v.Name = "core-shell particle in vacuum"
	}
	return v, err
}

// measure simulates the images and multiplies every pixel by noise.
func measure(ctx context.Context, dir string, c *cyrsoxs.Config, v *cyrsoxs.Morphology, all []*cyrsoxs.Material) error {
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
		im := p.Image(e, 0)
		for i := range im {
			im[i] *= math.Exp(noise * rng.Normal())
		}
		q := &cyrsoxs.Pattern{Energy: energy, KVectors: [][3]float64{{0, 0, 1}}, Shape: [2]int{v.Shape[1], v.Shape[2]}, Images: []cyrsoxs.Field{{Float64: im}}}
		if err := cyrsoxs.WritePattern(filepath.Join(dir, names[e]), q); err != nil {
			return err
		}
	}
	return nil
}
