// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"fmt"
	"math"
	"slices"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/sim/xpcs"
	"github.com/euryale-dev/euryale/sim/xpcs/partition"
)

// Setup says how to make a q map. Geometry is needed.
type Setup struct {
	Geometry xpcs.Geometry

	// First and Second name the channels of the geometry that are divided into bins. Default "q" and "phi", in reflection "qr" and "qz" are
	// usual.
	First, Second string
	Dynamic       [2]int // numbers of bins for correlations; 0 stands for 36 and 1
	Static        [2]int // numbers of bins for intensities, rounded up to multiples of Dynamic; 0 stands for 360 and 1
	// Log divides q equally in its logarithm.
	Log    bool
	Offset float64
	Fold   int // number of sectors that azimuths are folded from, after a turn by Offset; see partition.Axis

	Source string // name of the file for which the map is made; kept as a note

	// Backend chooses where coordinates of pixels are computed and divided. The last digits of
	// coordinates may differ on a GPU, and with them those of the centres of bins and the hash of
	// the map. Default: the CPU
	Backend ad.Backend
}

// mostPixels bounds a detector: its maps take some 100 bytes a pixel.
const mostPixels = 1 << 28

// Map divides the pixels that mask keeps (row-major, true for kept pixels; nil keeps all) into
// bins. The error lists what is missing in the geometry.
func (s Setup) Map(mask []bool) (*nexus.QMap, error) {
	p, err := s.Partition(mask)
	if err != nil {
		return nil, err
	}
	m, err := s.File(p)
	if err != nil || s.Geometry.Reflection || p.Names[0] != "q" {
		return m, err
	}
	coordinates, err := s.Geometry.QMapOn(s.Backend, "q")
	if err != nil {
		return nil, err
	}
	q, err := coordinates.Channel("q")
	if err != nil {
		return nil, err
	}
	measureBins(m, q)
	return m, nil
}

// Partition divides the pixels as Map does.
func (s Setup) Partition(mask []bool) (*partition.Partition, error) {
	g := s.Geometry
	if s.First == "" {
		s.First = "q"
	}
	if s.Second == "" {
		s.Second = "phi"
	}
	if g.Height < 1 || g.Width < 1 || float64(g.Height)*float64(g.Width) > mostPixels {
		return nil, fmt.Errorf("xpcs: the detector has %d x %d pixels: want at least 1 x 1 and at most 2^28 pixels", g.Height, g.Width)
	}
	if mask == nil {
		mask = slices.Repeat([]bool{true}, g.Height*g.Width)
	}
	if len(mask) != g.Height*g.Width {
		return nil, fmt.Errorf("xpcs: the mask has %s, but the detector has %d x %d: use a mask of this detector", errtext.Count(len(mask), "pixel"), g.Height, g.Width)
	}
	m, err := g.QMapOn(s.Backend, s.First, s.Second)
	if err != nil {
		return nil, err
	}
	axes := [2]partition.Axis{{Name: s.First}, {Name: s.Second}}
	for i := range axes {
		a := &axes[i]
		if a.Values, err = m.Channel(a.Name); err != nil {
			return nil, err
		}
		switch a.Unit = g.Unit(a.Name); a.Name {
		case "q":
			a.Log = s.Log
		case "phi":
			a.Offset, a.Fold = s.Offset, s.Fold
		}
	}
	return partition.New(axes[0], axes[1], mask, partition.Settings{Dynamic: s.Dynamic, Static: s.Static, Backend: s.Backend})
}

// File returns a partition in the form of q-map files, with the geometry of the setup and its hash.
func (s Setup) File(p *partition.Partition) (*nexus.QMap, error) {
	g := s.Geometry
	q := &nexus.QMap{
		Names: p.Names[:], Units: p.Units[:], Source: s.Source,
		Dynamic: cells(p.Dynamic), Static: cells(p.Static),
		BeamX: g.CenterCol, BeamY: g.CenterRow, Distance: g.Distance, PixelSize: g.PixelSize, Energy: g.Energy,
		Maps: &nexus.Maps{Height: g.Height, Width: g.Width, Mask: p.Mask, Dynamic: p.Dynamic.Of, Static: p.Static.Of},
	}
	var err error
	q.Hash, err = hash(q)
	return q, err
}

func cells(c *partition.Cells) nexus.Partition {
	return nexus.Partition{Axis0: c.Centers[0], Axis1: c.Centers[1], Cells: c.Cell}
}

// hash returns the hash of all that a q-map file holds.
func hash(q *nexus.QMap) (string, error) {
	blemish := q.Maps.Blemish
	if blemish == nil {
		blemish = slices.Repeat([]bool{true}, len(q.Maps.Mask))
	}
	fields := []partition.Field{
		{Key: "mask", Value: q.Maps.Mask}, {Key: "blemish", Value: blemish},
		{Key: "map_names", Value: q.Names}, {Key: "map_units", Value: q.Units}, {Key: "source_file", Value: q.Source},
		{Key: "beam_center_x", Value: q.BeamX}, {Key: "beam_center_y", Value: q.BeamY},
		{Key: "pixel_size", Value: q.PixelSize}, {Key: "detector_distance", Value: q.Distance}, {Key: "energy", Value: q.Energy},
	}
	for _, part := range []struct {
		prefix string
		of     []int32
		p      nexus.Partition
	}{{"dynamic_", q.Maps.Dynamic, q.Dynamic}, {"static_", q.Maps.Static, q.Static}} {
		fields = append(fields,
			partition.Field{Key: part.prefix + "roi_map", Value: part.of},
			partition.Field{Key: part.prefix + "index_mapping", Value: part.p.Cells},
			partition.Field{Key: part.prefix + "num_pts", Value: partition.List{len(part.p.Axis0), len(part.p.Axis1)}},
			partition.Field{Key: part.prefix + "v_list_dim0", Value: part.p.Axis0},
			partition.Field{Key: part.prefix + "v_list_dim1", Value: part.p.Axis1})
	}
	return partition.Hash(fields)
}

// Geometry returns the geometry that a q map was made with, for a detector in transmission.
func Geometry(q *nexus.QMap) (xpcs.Geometry, error) {
	g := xpcs.Geometry{CenterRow: q.BeamY, CenterCol: q.BeamX, PixelSize: q.PixelSize, Distance: q.Distance, Energy: q.Energy}
	if q.Maps != nil {
		g.Height, g.Width = q.Maps.Height, q.Maps.Width
	}
	for _, v := range []float64{g.PixelSize, g.Distance, g.Energy} {
		if !(v > 0) || math.IsInf(v, 0) {
			return g, fmt.Errorf("xpcs: the q map has pixel size %g m, distance %g m and energy %g keV: want positive numbers", g.PixelSize, g.Distance, g.Energy)
		}
	}
	return g, nil
}
