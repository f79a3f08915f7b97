// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command xpcs goes from the frames of a detector to the posterior of a relaxation time: it simulates speckles of diffusing
// particles, correlates them, fits every bin and the power law of the relaxation times, and samples one bin by NUTS. It
// prints the power law, which is 2 for diffusion, and the true and the recovered relaxation time.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/data/frames"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/infer"
	"github.com/euryale-dev/euryale/models/g2"
	"github.com/euryale-dev/euryale/models/xpcs"
)

func main() {
	if err := report(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

// correlated simulates a movie of n frames into a folder, correlates it and returns g2 of every bin.
func correlated(ctx context.Context, dir string, truth demo.Speckles) ([]g2.Curve, error) {
	if err := truth.Write(dir); err != nil {
		return nil, err
	}
	q, err := nexus.OpenQMap(filepath.Join(dir, "qmap.hdf"))
	if err != nil {
		return nil, err
	}
	movie, err := frames.Open(filepath.Join(dir, "movie.h5"), frames.Settings{})
	if err != nil {
		return nil, err
	}
	defer movie.Close()
	out := filepath.Join(dir, "movie_results.hdf")
	if _, err := xpcs.Correlate(ctx, xpcs.Job{Frames: movie, Map: q, FrameTime: truth.FrameTime, Multitau: true}, out); err != nil {
		return nil, err
	}
	return g2.OpenCurves(out)
}

func report(w io.Writer) error {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "xpcs-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	truth := demo.Particles(1)
	truth.Frames = 1000
	curves, err := correlated(ctx, dir, truth)
	if err != nil {
		return err
	}
	single, err := g2.ByName("single")
	if err != nil {
		return err
	}
	fits, err := g2.FitAll(ctx, single, curves, g2.Settings{})
	if err != nil {
		return err
	}
	power, err := g2.ByName("power")
	if err != nil {
		return err
	}
	law, err := g2.FitOne(ctx, power, g2.TauOfQ(fits), g2.Settings{})
	if err != nil {
		return err
	}
	for i, p := range law.Model.Params {
		if p.Name == "alpha" {
			fmt.Fprintf(w, "tau falls with q to the power %.2f +- %.2f\n", law.X[i], law.SD[i])
		}
	}
	return sampled(ctx, w, single, fits[2], truth)
}

// sampled draws from the posterior of a bin and prints its relaxation time beside the true one.
func sampled(ctx context.Context, w io.Writer, model g2.Model, fit g2.Fit, truth demo.Speckles) error {
	m, err := g2.Posterior(model, fit.Curve, g2.Settings{})
	if err != nil {
		return err
	}
	post, err := m.Compile()
	if err != nil {
		return err
	}
	starts, err := g2.Starts(post, fit, g2.Settings{}, 4, 1)
	if err != nil {
		return err
	}
	draws, err := infer.Sample(ctx, post, infer.Settings{Seed: 1, Chains: 4, Init: starts})
	if err != nil {
		return err
	}
	tau := draws.Summary().Row("tau")
	q := fit.Curve.Q
	fmt.Fprintf(w, "at q = %.4f per angstrom tau is %.4f +- %.4f s, in truth %.4f s\n", q, tau.Mean, tau.SD, 1/(truth.Diffusion*q*q))
	v, err := g2.CheckPosterior(model, fit.Curve, g2.Settings{}, draws)
	if err != nil {
		return err
	}
	fmt.Fprintln(w, v.Summary())
	return nil
}
