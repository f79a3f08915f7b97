// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/internal/golden"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/tensor"
)

type gradCase struct {
	ID       string
	PhysSize float64 `json:"PhysSize_nm"`
	Config   settings
	Eps      float64
	Loss     float64 `json:"loss_value"`
	Optical  table   `json:"optical_constants"`
	Grad     table   `json:"optical_grad"`
}

// logLoss is the mean over masked pixels of (ln(I + eps) - ln(D + eps))^2 and its
// gradient.
func logLoss(p *Pattern, data, mask []float64, eps float64) (float64, *tensor.Tensor) {
	i := p.Intensity.Float64s()
	g := tensor.New(tensor.Float64, p.Intensity.Shape()...)
	d := g.Data().([]float64)
	n, sum := 0.0, 0.0
	for k, v := range i {
		if mask[k] != 0 {
			n++
			r := math.Log(v+eps) - math.Log(data[k]+eps)
			sum += r * r
			d[k] = 2 * r / (v + eps)
		}
	}
	for k := range d {
		d[k] /= n
	}
	return sum / n, g
}

func TestGradientOfReferences(t *testing.T) { gradientOfReferences(t, nil) }

func gradientOfReferences(t *testing.T, b ad.Backend) {
	done := false
	golden.Each(t, "scatter/grad/*.json", func(t *testing.T, name string) {
		if b != nil && !tier.Slow { // the first one with vectors
			if done || npz(t, strings.TrimSuffix(name, "json")+"npz")["mat1_align"] == nil {
				return
			}
			done = true
		}
		for _, bits := range []int{64, 32} {
			t.Run(fmt.Sprint(bits), func(t *testing.T) { checkGradient(t, name, bits, b) })
		}
	})
}

func checkGradient(t *testing.T, name string, bits int, b ad.Backend) {
	var c gradCase
	golden.JSON(t, &c, name)
	all := npz(t, strings.TrimSuffix(name, "json")+"npz")
	cfg := c.Config.config()
	cfg.Precision, cfg.Backend = bits, b
	m := fromArrays(all, c.PhysSize)
	s, err := New(m.Shape(), m.PhysSize, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Transform(context.Background(), m); err != nil {
		t.Fatal(err)
	}
	o := c.Optical.optics(cfg.Energies)
	p, err := s.Pattern(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	tol := map[int]float64{64: 1e-9, 32: 2e-3}[bits]
	loss, d := logLoss(p, all["D"].Float64s(), all["mask"].Float64s(), c.Eps)
	if !(math.Abs(loss-c.Loss) <= tol*c.Loss) {
		t.Errorf("loss %v, want %v", loss, c.Loss)
	}
	g, err := s.Gradient(context.Background(), o, d)
	if err != nil {
		t.Fatal(err)
	}
	compareGradient(t, g, all, c.Grad.optics(cfg.Energies), tol)
}

func compareGradient(t *testing.T, g *Gradient, all map[string]*tensor.Tensor, optics Optics, tol float64) {
	for i, m := range g.Materials {
		for name, got := range map[string]*tensor.Tensor{"Vfrac": m.Vfrac, "S": m.S, "Theta": m.Theta, "Psi": m.Psi, "align": m.Align, "unaligned": m.Unaligned} {
			want := all[fmt.Sprintf("grad%d_%s", i+1, name)]
			if (got == nil) != (want == nil) {
				t.Errorf("material %d: %s %v, want %v", i+1, name, got != nil, want != nil)
			}
			if got != nil && want != nil {
				if e := relative(got.Float64s(), want.Float64s()); !(e <= tol) {
					t.Errorf("material %d: %s differs by %.3g of the largest", i+1, name, e)
				}
			}
		}
	}
	var got, want []float64
	for e := range optics {
		for m := range optics[e] {
			a, b := g.Optics[e][m], optics[e][m]
			got = append(got, a.DeltaPara, a.BetaPara, a.DeltaPerp, a.BetaPerp)
			want = append(want, b.DeltaPara, b.BetaPara, b.DeltaPerp, b.BetaPerp)
		}
	}
	if e := relative(got, want); !(e <= tol) || len(want) == 0 {
		t.Errorf("constants differ by %.3g of the largest: %v, want %v", e, got, want)
	}
}

// relative returns the largest difference over the largest wanted value.
func relative(got, want []float64) float64 {
	worst, top := 0.0, 0.0
	for i, w := range want {
		top = max(top, math.Abs(w))
		if d := math.Abs(got[i] - w); !(d <= worst) {
			worst = d
		}
	}
	if worst == 0 {
		return 0
	}
	return worst / top
}

// The mean over an angle and the same a turn later is the image at that angle, and has its gradient.
func TestGradientOfRepeatedAngle(t *testing.T) {
	m, o := blend3([3]int{2, 5, 6}, 1)
	var list [2]*Gradient
	for i, a := range []Angles{{}, {0, 360, 360}} {
		s, p := simulated(t, m, o, Config{Energies: []float64{285}, Angles: a})
		g, err := s.Gradient(context.Background(), o, p.Intensity)
		if err != nil {
			t.Fatal(err)
		}
		list[i] = g
	}
	sameGradient(t, list[1], list[0], 1e-14)
}
