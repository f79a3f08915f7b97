// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"fmt"

	"github.com/euryale-dev/euryale/infer/diag"
	"github.com/euryale-dev/euryale/internal/linalg"
)

var essKeys = []key{{"bulk", pooled, stroke}, {"tail", model, stroke}, {"needed", soft, dashed}}

func init() { builtIn("ess", "effective sample size against the number of draws", ESSEvolution) }

// ESSEvolution draws how the effective sample size grows with the draws. A
// straight rise says that more draws help; a curve that stays flat says that
// they will not. Without names it takes the first 12.
func ESSEvolution(d Draws, names ...string) (*Figure, error) {
	s, err := d.pick("ESS evolution", 12, names)
	if err != nil {
		return nil, err
	}
	var panels []*panel
	for _, q := range s.q {
		panels = append(panels, evolutionPanel(q))
	}
	f := tiles("Effective sample size against the number of draws", s, "R-hat and intervals can be trusted from 100 per chain.", panels, columns(len(panels)))
	f.keys = essKeys
	return f, nil
}

func evolutionPanel(q quantity) *panel {
	p := &panel{title: q.name, x: axis{label: "draws of all chains"}, y: axis{label: "ESS", pad: 0.04}}
	const points = 16
	x := make([]float64, points)
	for _, chain := range q.x {
		for k := range x {
			x[k] += float64(len(chain) * (k + 1) / points)
		}
	}
	bulk, tail := diag.Posterior.ESSGrowth(q.x, points)
	need := 100 * float64(len(q.x))
	p.x.limits(0, max(1, float64(len(q.all))))
	p.y.include(0, need)
	p.y.include(append(bulk, tail...)...)
	p.y.limits(0, 1.05*p.y.hi)
	p.add(horizontalLine(need, soft, 0.8, 4, 3),
		line(x, bulk, pooled, strong), dots(x, bulk, pooled, 1.8), line(x, tail, model, strong), dots(x, tail, model, 1.8))
	if len(finites(bulk)) == 0 {
		p.add(words("too few draws"))
	}
	return p
}

// ESSLocal draws how well each part of a distribution is explored: the effective sample size for the
// probability of each of twenty equal slices. Ticks are divergent draws; slices with a small
// effective sample size among them are biased. Without names it takes the first 12.
func ESSLocal(d Draws, names ...string) (*Figure, error) {
	s, err := d.pick("local ESS", 12, names)
	if err != nil {
		return nil, err
	}
	var panels []*panel
	for _, q := range s.q {
		panels = append(panels, d.localPanel(q))
	}
	note := "At least 100 per chain are needed."
	if n := d.divergences(); n > 0 {
		note += fmt.Sprintf(" Ticks mark %s.", count(n, "divergent draw", "divergent draws"))
	}
	f := tiles("Effective sample size of slices", s, note, panels, columns(len(panels)))
	f.keys = []key{{"local", pooled, dot}, {"needed", soft, dashed}}
	return f, nil
}

func (d Draws) localPanel(q quantity) *panel {
	p := &panel{title: q.name, x: axis{label: "quantile"}, y: axis{label: "ESS", pad: 0.04}}
	const slices = 20
	var x []float64
	for k := range slices {
		x = append(x, (float64(k)+0.5)/slices)
	}
	y := diag.Posterior.ESSSlices(q.x, slices)
	need := 100 * float64(len(q.x))
	p.x.limits(0, 1)
	p.y.include(0, need)
	p.y.include(y...)
	p.y.limits(0, 1.05*p.y.hi)
	p.add(horizontalLine(need, soft, 0.8, 4, 3), line(x, y, fade(pooled, 0.4), 0.8), dots(x, y, pooled, 2.2), rug(d.divergentRanks(q), ink))
	if len(finites(y)) == 0 {
		p.add(words("too few draws"))
	}
	return p
}

// divergentRanks returns the quantiles at which divergent draws lie.
func (d Draws) divergentRanks(q quantity) (out []float64) {
	if len(d.Diverging) == 0 {
		return nil
	}
	if d.divergences() == 0 {
		return nil
	}
	for c, ranks := range diag.Ranks(q.raw) {
		for i, r := range ranks {
			if d.diverging(c, i) && linalg.Finite(q.raw[c][i]) {
				out = append(out, r/float64(len(q.all)+1))
			}
		}
	}
	return out
}
