// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/linalg"
)

func init() {
	builtIn("autocorrelation", "autocorrelation of each chain against the lag", Autocorrelation)
}

// Autocorrelation draws the correlation between draws against the number of steps between them, for
// every chain. The sooner it falls into the band, which holds 95 % of the values of independent draws,
// the more each draw is worth. Without names it takes the first 12.
func Autocorrelation(d Draws, names ...string) (*Figure, error) {
	s, err := d.pick("autocorrelation", 12, names)
	if err != nil {
		return nil, err
	}
	var panels []*panel
	for _, q := range s.q {
		panels = append(panels, acfPanel(q))
	}
	return tiles("Autocorrelation", s, "The band holds 95 % of the values if draws are independent.", panels, columns(len(panels))), nil
}

func acfPanel(q quantity) *panel {
	p := &panel{title: q.name, x: axis{label: "lag (draws)", whole: true}, y: axis{label: "correlation", pad: 0.04}}
	p.y.include(0, 1)
	draws, drawn := 0, 0
	for _, chain := range q.x {
		draws = max(draws, len(chain))
	}
	lags := min(100, max(2, draws/2))
	p.x.limits(0, float64(lags))
	if draws > 1 {
		w := 1.96 / math.Sqrt(float64(draws))
		p.y.include(-w)
		p.add(rectangle(0, float64(lags), -w, w, faint))
	}
	p.add(horizontalLine(0, soft, 0.4))
	for c, chain := range q.x {
		if len(chain) < 2 || slices.Max(chain) == slices.Min(chain) {
			continue
		}
		y := diag.AutocorrTo(unit(chain), lags+1)
		p.y.include(y...)
		p.add(line(steps(len(y)), y, chainColor(c), 1))
		drawn++
	}
	if drawn == 0 {
		p.add(words("constant"))
	}
	p.box = essText(q)
	p.busy = [][2]float64{{0, 1}, {1, 0.8}}
	return p
}

// unit scales numbers to the range 0 to 1, so that their squares do not overflow.
func unit(v []float64) []float64 {
	lo, hi := slices.Min(v), slices.Max(v)
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = (x/2 - lo/2) / (hi/2 - lo/2)
	}
	return out
}

func essText(q quantity) []string {
	if e := diag.ESSBulk(q.x); linalg.Finite(e) {
		return []string{fmt.Sprintf("ESS %.0f of %d", math.Floor(e), len(q.all))}
	}
	return nil
}

// steps returns 0, 1, ... n-1.
func steps(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = float64(i)
	}
	return x
}
