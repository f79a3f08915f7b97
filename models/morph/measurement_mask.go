// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/infer/check"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// chosenPixels returns 1 for each pixel that is compared: within the q range of the mask, not 0 in the mask's file, with a q that light of
// its energy reaches, finite, and above 0 if logarithms are compared. It also returns why the others are left out, the first reason of each.
func (p *Problem) chosenPixels(at func(string) string, data *tensor.Tensor, energies []float64) (*tensor.Tensor, []check.Alteration, error) {
	mask := tensor.New(tensor.Float64, data.Shape()...)
	out, v := mask.Data().([]float64), data.Data().([]float64)
	file, err := p.maskFile(at, data.Shape())
	if err != nil {
		return nil, nil, err
	}
	unused := tally{total: len(out)}
	ny, nx := p.Grid.Shape[1], p.Grid.Shape[2]
	qy, qx := rsoxs.Frequencies(ny, p.Grid.Voxel), rsoxs.Frequencies(nx, p.Grid.Voxel)
	for i, d := range v {
		q := math.Hypot(qy[i/nx%ny], qx[i%nx])
		switch energy := i * len(energies) / len(v); {
		case p.Mask.Q != nil && (q < p.Mask.Q[0] || q > p.Mask.Q[1]):
			unused.q++
		case file != nil && file[i%len(file)] == 0:
			unused.file++
		case math.IsNaN(d) || math.IsInf(d, 0):
			unused.empty++
		case d == 0 && q > rsoxs.Wavenumber(energies[energy]):
			unused.unreached++
		case d < 0 && p.Loss == "poisson" || d <= 0 && (p.Loss == "log" || p.Loss == ""):
			unused.dark++
		default:
			out[i] = 1
		}
	}
	return mask, unused.alterations(p.Loss), nil
}

// maskFile reads the mask of a problem: nil if it has none, one image, or all of them.
func (p *Problem) maskFile(at func(string) string, shape tensor.Shape) ([]float64, error) {
	if p.Mask.File == "" {
		return nil, nil
	}
	t, err := readNPYFile(at(p.Mask.File))
	if err != nil {
		return nil, err
	}
	if t.Size() != shape.Size() && t.Size() != p.Grid.Shape[1]*p.Grid.Shape[2] {
		return nil, fmt.Errorf("%s has shape %v: want %v or [%d %d]", p.Mask.File, t.Shape(), shape, p.Grid.Shape[1], p.Grid.Shape[2])
	}
	m := t.Float64s()
	for i, x := range m {
		if math.IsNaN(x) {
			m[i] = 0
		}
	}
	return m, nil
}

// fewZeros is the share of pixels without counts up to which the logarithm of the others says nearly as much as all of them do.
const fewZeros = 0.02

// chooseLoss sets the loss poisson where none is asked for and the data are counts with many zeros, which have no logarithm and are
// data all the same, and says so. A problem with an error of its own, or with an inferred one, compares logarithms.
func (p *Problem) chooseLoss(data *tensor.Tensor) []check.Alteration {
	_, searched := p.Parameters["noise"]
	_, held := p.Fixed["noise"]
	if p.Loss != "" || p.Compare == "curves" || p.Sigma != 0 || searched || held {
		return nil
	}
	v := data.Data().([]float64)
	zeros := 0
	for _, d := range v {
		switch {
		case d == 0:
			zeros++
		case d < 0 || d != math.Trunc(d) || math.IsInf(d, 0): // NaN is a pixel that was not measured
			if !math.IsNaN(d) {
				return nil
			}
		}
	}
	if float64(zeros) < fewZeros*float64(len(v)) {
		return nil
	}
	p.Loss = "poisson"
	return []check.Alteration{{Kind: "counts", Count: zeros, Note: true, Text: fmt.Sprintf("the data are counts, of which %d of %d are 0, so they are compared by the loss poisson, which takes zeros", zeros, len(v)),
		Remedy: "set loss to log to compare logarithms without these pixels"}}
}

// tally counts the excluded pixels by reason.
type tally struct{ total, empty, unreached, dark, q, file int }

func (t tally) alterations(loss string) (out []check.Alteration) {
	add := func(n int, asked bool, kind, why string) {
		if n > 0 {
			out = append(out, check.Alteration{Kind: kind, Count: n, Note: asked, Text: fmt.Sprintf("%d of %s %s left out: %s", n, errtext.Count(t.total, "pixel"), errtext.Agree(n, "was", "were"), why)})
		}
	}
	add(t.q, true, "mask", "their q lies outside the range of the mask")
	add(t.file, true, "mask", "the mask is 0 there")
	add(t.empty, true, "not measured", "their values are not finite")
	add(t.unreached, true, "not measured", "they are 0 at a q beyond what light of that energy reaches")
	few := float64(t.dark) < 0.02*float64(t.total)
	if loss == "poisson" {
		add(t.dark, few, "pixels left out", "they are below 0, as counts never are; use counts from which no background was subtracted")
	} else {
		add(t.dark, few, "pixels left out", "they are not above 0 and have no logarithm, so dim pixels are missing; use the loss poisson for counts, or else square")
	}
	return out
}
