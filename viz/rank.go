// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package viz

import (
	"math"

	"github.com/euryale-dev/euryale/infer/diag"
)

func init() { builtIn("rank", "ranks of each chain's draws among all draws", Rank) }

// Rank draws, for every chain, a histogram of the ranks of its draws among those of all chains.
// Chains that agree give flat rows within the grey band, which holds 95 % of the bars of independent
// draws. R-hat summarises this plot. Without names it takes the first 12.
func Rank(d Draws, names ...string) (*Figure, error) {
	s, err := d.pick("rank plot", 12, names)
	if err != nil {
		return nil, err
	}
	const bins = 20
	var panels []*panel
	for _, q := range s.q {
		panels = append(panels, rankPanel(q, bins))
	}
	f := tiles("Rank", s, "Each bar is the share of a chain in one twentieth of all ranks. The band holds 95 % of the bars if the chains agree and their draws are independent.", panels, columns(len(panels)))
	f.keys = nil
	f.Height = float64(len(f.grid.rows))*(min(0.28*float64(s.chains()), 4)+0.95) + 0.6
	return f, nil
}

func rankPanel(q quantity, bins int) *panel {
	p := &panel{title: q.name, x: axis{label: "rank among all draws"}, y: axis{label: "chain"}}
	total := float64(len(q.all))
	p.x.limits(0, total)
	chains := len(q.x)
	p.y.limits(-0.1, float64(chains)-0.05)
	p.y.fixed = []tick{}
	for c, r := range diag.Ranks(q.x) {
		base := float64(chains - 1 - c)
		p.y.fixed = append(p.y.fixed, tick{base + 0.45, chainName(c)})
		p.add(rankRow(r, total, base, bins, c))
	}
	return p
}

// rankRow draws the histogram of one chain above a base line; the expected height of its bars is
// 0.45.
func rankRow(ranks []float64, total, base float64, bins, chain int) mark {
	n := float64(len(ranks))
	counts := make([]float64, bins)
	for _, r := range ranks {
		counts[min(int((r-0.5)/total*float64(bins)), bins-1)]++
	}
	expected := n / float64(bins)
	scale := 0.45 / math.Max(expected, 1e-300)
	spread := 1.96 * math.Sqrt(n*(1/float64(bins))*(1-1/float64(bins)))
	bars := &Data{Kind: "bars", Y: counts, color: chainColor(chain)} // numbers of draws by the middle of their ranks
	for i := range counts {
		bars.X = append(bars.X, (float64(i)+0.5)*total/float64(bins))
	}
	return mark{data: bars, draw: func(f *frame) {
		if n == 0 {
			return
		}
		width := total / float64(bins)
		rectangle(0, total, base+max(0, 0.45-scale*spread), base+min(0.95, 0.45+scale*spread), faint).draw(f)
		for i, k := range counts {
			x := float64(i) * width
			rectangle(x+0.06*width, x+0.94*width, base, base+min(scale*k, 0.95), fade(chainColor(chain), 0.75)).draw(f)
		}
		horizontalLine(base, ink, 0.4).draw(f)
		horizontalLine(base+0.45, ink, 0.5, 3, 2).draw(f)
	}}
}
