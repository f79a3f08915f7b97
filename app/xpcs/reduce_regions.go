// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/models/xpcs"
	"github.com/euryale-dev/euryale/models/xpcs/reduce"
)

// region is a sector or a ring of the detector.
type region struct {
	from, to float64 // degrees, or radii in pixels
	ring     bool
}

func (g region) label() string {
	if g.ring {
		return fmt.Sprintf("%g to %g px", g.from, g.to)
	}
	return fmt.Sprintf("%g to %g deg", g.from, g.to)
}

// regionsOf reads --sector and --ring.
func (f saxsFlags) regionsOf() (all []region, err error) {
	if len(f.Sectors) > 0 && len(f.Rings) > 0 {
		return nil, exit.Usage("--sector gives curves against q and --ring curves against azimuth: use one of them at a time")
	}
	for _, text := range f.Sectors {
		from, to, err := pairOf("sector", text, "azimuths from:to in degrees, such as -30:30")
		if err != nil {
			return nil, err
		}
		if math.Abs(from) > 180 || math.Abs(to) > 180 || from == to {
			return nil, exit.Usage("--sector %s: want two azimuths between -180 and 180 degrees; to cross 180, put the larger one first", text)
		}
		all = append(all, region{from: from, to: to})
	}
	for _, text := range f.Rings {
		from, to, err := pairOf("ring", text, "radii inner:outer in pixels, such as 100:120")
		if err != nil {
			return nil, err
		}
		if !(from >= 0 && to > from) {
			return nil, exit.Usage("--ring %s: want two radii in pixels, the smaller one first", text)
		}
		all = append(all, region{from, to, true})
	}
	return all, nil
}

// detector is the mean image of a result with the maps that regions need.
type detector struct {
	image, q, phi []float64
	mask          []bool
	width         int
	row, col      float64 // of the beam
}

func detectorOf(r *nexus.Result) (*detector, error) {
	if name, _ := r.QMap.Axis(0); name != "q" {
		return nil, fmt.Errorf("%s has bins of %s: sectors and rings need bins of q and azimuth in transmission", r.File, name)
	}
	image, err := r.ReadImage()
	if err != nil {
		return nil, err
	}
	maps, err := r.ReadMaps()
	if err != nil {
		return nil, err
	}
	if image.Rows != maps.Height || image.Cols != maps.Width {
		return nil, fmt.Errorf("%s has an image of %d x %d pixels but maps of %d x %d: correlate the frames again", r.File, image.Rows, image.Cols, maps.Height, maps.Width)
	}
	g, err := xpcs.Geometry(r.QMap)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.File, err)
	}
	m, err := g.QMap("q", "phi")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", r.File, err)
	}
	return &detector{image.Data, m.Values[0], m.Values[1], maps.Mask, maps.Width, g.CenterRow, g.CenterCol}, nil
}

// edges divides the q of the pixels that the mask keeps equally.
func (d *detector) edges(n int, low, high float64) ([]float64, error) {
	least, most := math.Inf(1), math.Inf(-1)
	for i, keep := range d.mask {
		if keep {
			least, most = math.Min(least, d.q[i]), math.Max(most, d.q[i])
		}
	}
	if low, high = math.Max(low, least), math.Min(high, most); !(high > low) {
		return nil, fmt.Errorf("no unmasked pixel lies in the requested region: their q is %.4g to %.4g 1/angstrom", least, most)
	}
	edges := make([]float64, n+1)
	for k := range edges {
		edges[k] = low + (high-low)*float64(k)/float64(n)
	}
	edges[n] = math.Nextafter(high, math.Inf(1)) // the largest q is in the last bin
	return edges, nil
}

// regionsIn averages the image of a result over each region.
func (p *saxsPlan) regionsIn(r *nexus.Result) (all []saxsLines, err error) {
	d, err := detectorOf(r)
	if err != nil {
		return nil, err
	}
	n := p.Bins
	if n == 0 {
		n = len(r.QMap.Static.Axis0)
	}
	for _, g := range p.regions {
		var m *reduce.Means
		if g.ring {
			m, err = reduce.Ring(d.image, d.phi, d.mask, d.width, reduce.Annulus{CenterRow: d.row, CenterCol: d.col, Inner: g.from, Outer: g.to, Bins: p.Bins})
		} else {
			var edges []float64
			if edges, err = d.edges(n, p.low, p.high); err == nil {
				m, err = reduce.Wedge(d.image, d.q, d.phi, d.mask, reduce.Sector{From: g.from, To: g.to, Edges: edges})
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", r.File, err)
		}
		all = append(all, saxsLines{reduce.Profile{Q: m.X, Lines: [][]float64{m.Mean}}, []string{r.Label() + " " + g.label()}})
	}
	return all, nil
}
