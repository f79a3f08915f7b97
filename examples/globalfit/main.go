// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command globalfit fits four correlation functions of diffusing particles together. They
// share one diffusion coefficient; each has its own contrast and background, and there is
// prior knowledge of the background. The program prints the fit, an interval that need
// not be symmetric, a band, and checks of the fit.
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"math"
	"os"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/tensor"
)

func main() {
	if err := report(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

const sigma = 3e-3 // standard deviation of every value of g2 - 1

// measured returns synthetic delays (s) and values of g2 at momentum transfer q (1/nm).
func measured(q, contrast float64, rng *tensor.Stream) (tau, g2 []float64) {
	for k := range 24 {
		t := math.Pow(10, -4+float64(k)/6)
		tau = append(tau, t)
		g2 = append(g2, 1.002+contrast*math.Exp(-2*2e3*q*q*t)+sigma*rng.Normal())
	}
	return tau, g2
}

func report(w io.Writer) error {
	ctx := context.Background()
	// Units: nm^2/s, 1, 1.
	diffusion, contrast, background := ad.Input("D"), ad.Input("contrast"), ad.Input("background")
	model := func(q float64, tau *ad.Node) *ad.Node {
		decay := ad.Exp(ad.Mul(ad.Scale(-2*q*q, diffusion), tau))
		return ad.Add(background, ad.Mul(contrast, decay))
	}
	rng := tensor.NewStream(1, 0, 0)
	var sets []optim.DataSet
	var priors []optim.Prior
	for k, q := range []float64{0.02, 0.03, 0.045, 0.07} {
		tau, g2 := measured(q, 0.3-0.03*float64(k), &rng)
		name := fmt.Sprintf("q%d", k+1)
		residual := ad.Scale(1/sigma, ad.Sub(model(q, ad.Const(tau)), ad.Const(g2)))
		sets = append(sets, optim.DataSet{Name: name, Residual: residual})
		priors = append(priors, optim.Gaussian("background."+name, 1, 0.01))
	}
	p, err := optim.GlobalFit(sets, []*ad.Node{diffusion, contrast, background}, "D")
	if err != nil {
		return err
	}
	if err := p.SetStart(map[string]float64{"D": 500, "contrast": 0.2, "background": 1}); err != nil {
		return err
	}
	if err := p.Bound("contrast", 0, 1); err != nil {
		return err
	}
	s := optim.Settings{Priors: priors}
	fit, err := optim.LeastSquares(ctx, p, s)
	if err != nil {
		return err
	}
	for i, name := range fit.Names {
		fmt.Fprintf(w, "%-14s %9.4g +- %.2g\n", name, fit.X[i], fit.SD()[i])
	}
	fmt.Fprintln(w, fit.Status)

	intervals, err := optim.Profile(ctx, p, fit, optim.ProfileSettings{Settings: s, Names: []string{"D"}})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "D within %.0f .. %.0f nm^2/s (95 %%)\n", intervals[0].Lower, intervals[0].Upper)

	// Relaxation time at a q that was not measured.
	time := ad.Reciprocal(ad.Scale(0.055*0.055, diffusion))
	band, err := optim.ConfidenceBand(time, []*ad.Node{diffusion}, fit, optim.BandSettings{})
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "relaxation time at 0.055/nm %.3f s, within %.3f .. %.3f\n", band.Mean[0], band.Lower[0], band.Upper[0])
	fmt.Fprintln(w, fit.Health())
	verdict, err := check.Judge(check.FromFit(fit), check.Settings{})
	if err != nil {
		return err
	}
	fmt.Fprintln(w, verdict)
	return nil
}
