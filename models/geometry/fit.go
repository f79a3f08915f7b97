// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package geometry

import (
	"context"
	"fmt"
	"math"
	"strings"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/given"
	"github.com/euryale-dev/euryale/optim"
	"github.com/euryale-dev/euryale/sim/xpcs"
)

// Settings are the settings of a calibration. The zero value is the default.
type Settings struct {
	Free []string // parameters to fit. Default CenterRow, CenterCol and Distance
	// Outlier is the distance from the model, in standard deviations of the scatter, beyond which a point is left
	// out. Default 6; negative for none.
	Outlier float64
	// KeepCenter keeps the centre of the first geometry when rings are located, instead of finding
	// it in the image.
	KeepCenter bool
	// DistanceRange is the relative range about the first distance in which rings are sought.
	// Default 0.15.
	DistanceRange float64
	Find          FindSettings // settings of the search for points of rings
}

// Fit is a calibrated geometry.
type Fit struct {
	Geometry          xpcs.Geometry // geometry with the fitted numbers
	Names             []string      // names of the fitted parameters
	X, SD             []float64     // fitted values and their standard errors, in the units of the names
	Cov               []float64     // covariance of the fitted values, row-major
	Status            optim.Status
	ReducedChiSquared float64
	Points            []Point       // points that were used
	Outliers          []Point       // points that were left out
	Check             check.Verdict // verdict that says whether rings and model agree
	Result            *optim.Result // result of the last fit, whose residuals are (q - known q)/error
}

// Value returns a fitted parameter with its standard error, or NaN for a name that is not one of
// them.
func (f *Fit) Value(name string) (x, sd float64) {
	for i, n := range f.Names {
		if n == name {
			return f.X[i], f.SD[i]
		}
	}
	return math.NaN(), math.NaN()
}

// String returns a line for each parameter, and the verdict in a sentence.
func (f *Fit) String() string {
	var b strings.Builder
	for i, n := range f.Names {
		fmt.Fprintf(&b, "%s %.8g +- %.2g %s\n", n, f.X[i], f.SD[i], Units[n])
	}
	fmt.Fprintf(&b, "%d points, %d left out, reduced chi-square %.3g, %v\n%s", len(f.Points), len(f.Outliers), f.ReducedChiSquared, f.Status, f.Check.Summary())
	return b.String()
}

// FitPoints fits parameters of a geometry to points on rings. A first fit with a robust loss finds
// outliers; the last one, without them, uses least squares.
func FitPoints(ctx context.Context, g xpcs.Geometry, points []Point, s Settings) (*Fit, error) {
	if err := given.Args("geometry.FitPoints", "ctx", ctx); err != nil {
		return nil, err
	}
	if g.Reflection {
		return nil, fmt.Errorf("geometry: rings cannot be fitted in reflection: calibrate in transmission")
	}
	list, err := free(s.Free)
	if err != nil {
		return nil, err
	}
	if len(points) <= len(list) {
		return nil, fmt.Errorf("geometry: %d points do not determine %d parameters: give more points, or fit fewer parameters", len(points), len(list))
	}
	outlier := s.Outlier
	if outlier == 0 {
		outlier = 6
	}
	used, left := points, []Point(nil)
	if outlier > 0 {
		res, err := solve(ctx, g, points, list, optim.Settings{Loss: optim.Cauchy})
		if err != nil {
			return nil, err
		}
		if used, left = split(points, res.Residuals, outlier); len(used) <= len(list) {
			used, left = points, nil // nothing is usual here
		}
		place(&g, list, res.X)
	}
	res, err := solve(ctx, g, used, list, optim.Settings{})
	if err != nil {
		return nil, err
	}
	f := &Fit{Names: res.Names, X: res.X, SD: res.SD(), Cov: res.Cov, Status: res.Status, ReducedChiSquared: res.ReducedChiSquared(), Points: used, Outliers: left, Result: res}
	place(&g, list, res.X)
	f.Geometry = g
	return f, f.judge(list)
}

// solve fits the parameters of the list.
func solve(ctx context.Context, g xpcs.Geometry, points []Point, list []parameter, s optim.Settings) (*optim.Result, error) {
	p, err := problem(g, points, list)
	if err != nil {
		return nil, err
	}
	return optim.LeastSquares(ctx, p, s)
}

// problem is the least-squares problem of q at points, which starts at the geometry.
func problem(g xpcs.Geometry, points []Point, list []parameter) (*optim.Problem, error) {
	row, col, q, sd, err := columns(g, points)
	if err != nil {
		return nil, err
	}
	n := len(points)
	var p xpcs.Parameters
	var nodes []*ad.Node
	var start []float64
	for _, l := range list {
		in := ad.Input(l.name)
		*l.node(&p) = in
		nodes, start = append(nodes, in), append(start, *l.of(&g))
	}
	model := g.Node("q", ad.Const(row, n), ad.Const(col, n), p)
	prob, err := optim.FromModel(model, nodes, optim.Observed{Y: q, Sigma: sd})
	if err != nil {
		return nil, err
	}
	prob.Start = start
	for _, l := range list {
		if l.scale { // lengths and energies are positive
			if err := prob.Bound(l.name, *l.of(&g)*1e-3, *l.of(&g)*1e3); err != nil {
				return nil, err
			}
		}
	}
	return prob, nil
}

// place puts fitted values into a geometry.
func place(g *xpcs.Geometry, list []parameter, x []float64) {
	for i, l := range list {
		*l.of(g) = x[i]
	}
}

// split parts the points at a distance from the model, in standard deviations of their scatter.
func split(points []Point, z []float64, outlier float64) (used, left []Point) {
	size := make([]float64, len(points))
	for i := range points {
		size[i] = math.Abs(z[i])
	}
	scale := math.Max(1.4826*middle(size), 1)
	for i, p := range points {
		if math.Abs(z[i]) > outlier*scale {
			left = append(left, p)
		} else {
			used = append(used, p)
		}
	}
	return used, left
}
