// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command morphology-inversion recovers a polymer-grafted particle from noisy scattering
// patterns at three energies: the sizes of core and shell and the order of the shell. It
// fits, reports how much each energy contributed, samples the posterior, and draws data,
// fit, recovered fields and posterior.
//
//	go run ./examples/morphology-inversion -out pictures
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"path/filepath"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

func main() {
	out := flag.String("out", "", "folder for pictures; none without")
	draws := flag.Int("draws", 250, "draws of each of four chains")
	flag.Parse()
	if err := report(os.Stdout, *out, *draws); err != nil {
		log.Fatal(err)
	}
}

var (
	grid  = morph.Grid{Shape: [3]int{14, 32, 32}, Voxel: 2.5}
	truth = []float64{8.2, 6.1, 0.55} // core radius (nm), shell thickness (nm), order parameter
	start = []float64{6.5, 8, 0.3}
	names = []string{"core", "shell", "S"}
	noise = 0.1 // standard deviation of ln I
	// Optical constants of core and shell, gold-like and polystyrene-like, near the
	// carbon edge.
	energies = []float64{280, 284.7, 285.2} // photon energies in eV
	optics   = rsoxs.Optics{
		{{DeltaPara: -1.2e-3, BetaPara: 6e-3, DeltaPerp: -1.2e-3, BetaPerp: 6e-3}, {DeltaPara: 9e-4, BetaPara: 5e-5, DeltaPerp: 8.5e-4, BetaPerp: 6e-5}},
		{{DeltaPara: -1.1e-3, BetaPara: 5.9e-3, DeltaPerp: -1.1e-3, BetaPerp: 5.9e-3}, {DeltaPara: -1.4e-3, BetaPara: 1.1e-3, DeltaPerp: 2e-4, BetaPerp: 3.2e-3}},
		{{DeltaPara: -1.1e-3, BetaPara: 5.9e-3, DeltaPerp: -1.1e-3, BetaPerp: 5.9e-3}, {DeltaPara: -1.9e-3, BetaPara: 1.6e-3, DeltaPerp: -2.9e-3, BetaPerp: 4.6e-3}},
	}
)

// particle returns the graph of a ball with a shell of molecules that point outwards.
func particle(p []*ad.Node) morph.Scene {
	a := grid.Voxel
	return morph.CoreShell{Grid: grid, Centre: morph.Fixed(15.6*a, 15.2*a, 6.7*a), Radius: p[0], Shell: p[1], Aligned: p[2]}.Scene()
}

func report(w io.Writer, out string, draws int) error {
	ctx := context.Background()
	sim, err := rsoxs.New(grid.Shape, grid.Voxel, rsoxs.Config{
		Energies: energies, Angles: rsoxs.Angles{Start: 0, Increment: 30, End: 150}, RotMask: true})
	if err != nil {
		return err
	}
	inv := &morph.Inversion{Sim: sim, Optics: optics, Build: particle, Sigma: noise}
	for i, n := range names {
		inv.Params = append(inv.Params, morph.Param{Name: n, Start: start[i : i+1], Bounds: [][]float64{{2, 15}, {2, 15}, {0, 1}}[i]})
	}
	if inv.Data, inv.Mask, err = measure(ctx, sim); err != nil {
		return err
	}

	best, err := inv.Minimize(ctx, optim.MinimizeSettings{})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "L-BFGS, %d patterns: core %.2f nm, shell %.2f nm, S %.2f\n", best.State.NFev, best.X[0], best.X[1], best.X[2])
	fit, err := inv.Fit(ctx, optim.Settings{})
	if err != nil {
		return err
	}
	fmt.Fprint(w, "\nLeast squares with the exact Jacobian\n")
	for i, n := range names {
		fmt.Fprintf(w, "  %-6s %7.3f +- %.3f   truth %.3f\n", n, fit.X[i], fit.SD()[i], truth[i])
	}
	if err := tell(w, inv, fit.X); err != nil {
		return err
	}

	post, err := inv.Sample(ctx, infer.Settings{Seed: 1, Warmup: min(100, draws), Draws: draws})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nPosterior\n%v\n", post.Summary())
	if out == "" {
		return nil
	}
	return draw(ctx, out, inv, fit.X, post)
}

// measure simulates the true particle and multiplies every pixel by noise. The mask
// excludes the beam stop and the corners that not all angles reach.
func measure(ctx context.Context, sim *rsoxs.Simulator) (data, mask *tensor.Tensor, err error) {
	p, err := pattern(ctx, sim, truth)
	if err != nil {
		return nil, nil, err
	}
	data, mask = p.Intensity, tensor.New(tensor.Float64, p.Intensity.Shape()...)
	v, m := data.Data().([]float64), mask.Data().([]float64)
	rng := tensor.NewStream(2, 0, 0)
	n := grid.Shape[1]
	for i := range v {
		v[i] *= math.Exp(noise * rng.Normal())
		r := math.Hypot(float64(i/n%n-n/2), float64(i%n-n/2))
		if v[i] > 0 && r >= 2 && r <= float64(n/2-2) {
			m[i] = 1
		}
	}
	return data, mask, nil
}

// pattern returns the detected pattern of a particle.
func pattern(ctx context.Context, sim *rsoxs.Simulator, x []float64) (*rsoxs.Pattern, error) {
	m, err := morphology(x)
	if err != nil {
		return nil, err
	}
	s := sim.Clone()
	if err := s.Transform(ctx, m); err != nil {
		return nil, err
	}
	return s.Pattern(ctx, optics)
}

// morphology returns the fields of a particle.
func morphology(x []float64) (*rsoxs.Morphology, error) {
	return particle([]*ad.Node{ad.Scalar(x[0]), ad.Scalar(x[1]), ad.Scalar(x[2])}).Morphology(grid.Voxel)
}

// tell prints how well each energy alone would determine the parameters.
func tell(w io.Writer, inv *morph.Inversion, x []float64) error {
	per, err := inv.Information(x)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "\nStandard deviation of a parameter from one energy, the others known\n  %-8s", "eV")
	for _, n := range names {
		fmt.Fprintf(w, "%9s", n)
	}
	for e, f := range per {
		fmt.Fprintf(w, "\n  %-8.1f", energies[e])
		for i := range names {
			fmt.Fprintf(w, "%9.3f", 1/math.Sqrt(f[i*len(names)+i]))
		}
	}
	fmt.Fprintln(w)
	return nil
}

func write(dir, name string, data []byte) error {
	return os.WriteFile(filepath.Join(dir, name), data, 0o644)
}
