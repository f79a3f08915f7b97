// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/rvspecfit"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/tensor"
)

// LoadSettings say how a library is read.
type LoadSettings struct {
	// Edge treats a star at the upper end of a regular grid as outside, as the reference does. By
	// default it is inside.
	Edge bool
}

// Open reads all arms of a library: a file in the open format, a folder of rvspecfit's files, or what rvspecfit.Register has added.
func Open(name string, s LoadSettings) (*Library, error) {
	c, err := rvspecfit.OpenLibrary(name)
	if err != nil {
		return nil, err
	}
	names, err := c.Arms()
	if err != nil {
		return nil, err
	}
	arms, err := c.Read(names)
	if err != nil {
		return nil, err
	}
	return From(arms, s)
}

// Load reads the files of rvspecfit for some arms from a folder.
func Load(dir string, arms []string, s LoadSettings) (*Library, error) {
	var list []*rvspecfit.Library
	for _, arm := range arms {
		l, err := rvspecfit.Load(dir, arm)
		if err != nil {
			return nil, err
		}
		list = append(list, l)
	}
	return From(list, s)
}

// From makes a library from the contents of files. Sets of templates without an interpolator are
// interpolated in a Delaunay triangulation.
func From(arms []*rvspecfit.Library, s LoadSettings) (*Library, error) {
	if len(arms) == 0 {
		return nil, errors.New("spectra: the library has no arms: give at least one")
	}
	l := &Library{Params: slices.Clone(arms[0].ParNames)}
	for _, a := range arms {
		if !slices.Equal(a.ParNames, l.Params) {
			return nil, fmt.Errorf("spectra: arm %s has the parameters %s, but arm %s has %s: want the same for all", a.Setup, strings.Join(a.ParNames, ", "), arms[0].Setup, strings.Join(l.Params, ", "))
		}
		t, err := templatesOf(a, s)
		if err != nil {
			return nil, fmt.Errorf("arm %s: %w", a.Setup, err)
		}
		l.Arms = append(l.Arms, t)
	}
	return l, nil
}

func templatesOf(a *rvspecfit.Library, s LoadSettings) (*Templates, error) {
	t := &Templates{Name: a.Setup, Lam: a.Lam, Log: a.LogStep, LogParams: a.Mapper.Log}
	var err error
	if a.Network != nil {
		t.Interpolator, err = networkOf(a)
	} else {
		t.Interpolator, err = interpolatorOf(a, s)
	}
	if err != nil {
		return nil, err
	}
	return t, t.check(t.Interpolator.(interface{ Pixels() int }).Pixels())
}

// interpolatorOf makes an interpolator of template spectra.
func interpolatorOf(a *rvspecfit.Library, s LoadSettings) (Interpolator, error) {
	if a.Spectra == nil {
		return nil, errors.New("the library has no template spectra: fetch or make it again")
	}
	logs := a.Spectra.Float64s()
	if !a.LogSpec {
		logs = slices.Clone(logs)
		for i, x := range logs {
			if logs[i] = math.Log(x); math.IsNaN(logs[i]) {
				return nil, fmt.Errorf("pixel %d of template %d is %v: want positive fluxes", i%len(a.Lam), i/len(a.Lam), x)
			}
		}
	}
	for i, x := range logs {
		if math.IsNaN(x) || math.IsInf(x, 1) {
			return nil, fmt.Errorf("pixel %d of template %d is %v: want finite numbers; fetch or make the library again", i%len(a.Lam), i/len(a.Lam), x)
		}
	}
	dim := len(a.ParNames)
	switch {
	case a.Triangulation != nil:
		m := a.Triangulation
		return LoadDelaunay(m.Points.Float64s(), dim, int32s(m.Simplices), int32s(m.Neighbors), m.Flags, logs)
	case a.Grid != nil:
		ids := make([]int, a.Grid.IDs.Size())
		for i, v := range a.Grid.IDs.Float64s() {
			ids[i] = int(v)
		}
		return NewRegular(RegularSettings{Axes: a.Grid.Axes, IDs: ids, Points: rowsFrom(a.Points), LogFlux: logs, Clamp: !s.Edge})
	}
	points := rowsFrom(a.Points)
	for i := range points {
		if slices.Contains(a.Mapper.Log, i%dim) {
			points[i] = math.Log10(points[i])
		}
	}
	return NewDelaunay(points, dim, logs)
}

// rowsFrom returns a copy of columns of templates as rows.
func rowsFrom(points *tensor.Tensor) []float64 {
	return slices.Clone(points.Permute(1, 0).Copy().Float64s())
}

func int32s(t *tensor.Tensor) []int32 {
	out := make([]int32, t.Size())
	for i, v := range t.Float64s() {
		out[i] = int32(v)
	}
	return out
}

// networkOf makes a network of the weights of a checkpoint: matrices and vectors in the order of the layers,
// the last of which has the name pc_layer.
func networkOf(a *rvspecfit.Library) (*Network, error) {
	n := a.Network
	if n.BatchNorm {
		return nil, errors.New("the network has batch normalisation, which cannot be read: train it without, as rvspecfit does")
	}
	array := func(name string) ([]float64, []int, error) {
		x, err := n.State.Tensor(name)
		if err != nil {
			return nil, nil, fmt.Errorf("the checkpoint %s: %w", n.File, err)
		}
		v, err := x.Float64s()
		return v, x.Shape(), err
	}
	var layers []Layer
	for i := range n.Layers + 3 {
		name := fmt.Sprintf("model.lin_%d", i)
		if i == n.Layers+2 {
			name = "pc_layer"
		}
		w, shape, err := array(name + ".weight")
		if err != nil {
			return nil, err
		}
		b, _, err := array(name + ".bias")
		if err != nil {
			return nil, err
		}
		if len(shape) != 2 {
			return nil, fmt.Errorf("%s.weight has the shape %v: want a matrix", name, shape)
		}
		layers = append(layers, Layer{In: shape[1], Out: shape[0], W: w, B: b})
	}
	mean, sd := a.Mapper.Mean, a.Mapper.Std
	if mean == nil {
		mean, sd = make([]float64, n.InDim), slices.Repeat([]float64{1}, n.InDim)
	}
	if n.Hull == nil {
		return nil, errors.New("the library does not say which parameters it covers, as outside_kwargs/pts is missing: fetch or make it again")
	}
	return NewNetwork(mean, sd, layers, n.Hull.Float64s())
}

// Files returns, for templates that are interpolated by a network, the contents of files that
// rvspecfit and this package can read again. params are the names of the parameters.
func (t *Templates) Files(params []string) (*rvspecfit.Library, error) {
	n, ok := t.Interpolator.(*Network)
	if !ok {
		return nil, fmt.Errorf("spectra: the templates %s are not a network: only networks can be written", t.Name)
	}
	last := len(n.Layers) - 1
	if last < 2 {
		return nil, fmt.Errorf("spectra: the network has %s: files need at least 3", errtext.Count(last+1, "layer"))
	}
	var names []string
	var arrays []*tensor.Tensor
	for i, l := range n.Layers {
		name := fmt.Sprintf("model.lin_%d", i)
		if i == last {
			name = "pc_layer"
		}
		for k, x := range [][]float64{l.W, l.B} {
			shape := []int{l.Out, l.In}
			if k == 1 {
				shape = shape[:1]
			}
			a, err := tensor.From(float32s(x), shape...)
			if err != nil {
				return nil, err
			}
			names, arrays = append(names, name+[]string{".weight", ".bias"}[k]), append(arrays, a)
		}
	}
	state, err := rvspecfit.NewState(names, arrays)
	if err != nil {
		return nil, err
	}
	hull, err := tensor.From(slices.Clone(n.points), len(n.points)/n.Dim(), n.Dim())
	if err != nil {
		return nil, err
	}
	mapped := slices.Clone(n.points)
	for i := range mapped {
		mapped[i] = mapped[i]*n.SD[i%n.Dim()] + n.Mean[i%n.Dim()]
	}
	points, err := tensor.From(mapped, len(mapped)/n.Dim(), n.Dim())
	if err != nil {
		return nil, err
	}
	return &rvspecfit.Library{
		Setup: t.Name, Lam: t.Lam, LogStep: t.Log, LogSpec: true, ParNames: params,
		Mapper: rvspecfit.Mapper{Log: t.LogParams, Mean: n.Mean, Std: n.SD}, Points: points.Permute(1, 0).Copy(),
		Network: &rvspecfit.Network{State: state, InDim: n.Dim(), Width: n.Layers[0].Out, Layers: last - 2, NPC: n.Layers[last].In, Hull: hull, File: "NNstate_" + t.Name + ".sav"},
	}, nil
}

func float32s(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}
