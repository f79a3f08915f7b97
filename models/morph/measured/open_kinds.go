// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package measured

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/data/scatter"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs/farfield"
)

// Reading says what the files of a problem do not say of how their numbers follow from the pixels.
type Reading struct {
	// Loss names the likelihood, one of Noises. Default: what suits the data.
	Loss string
	// SolidAngle says that the pixels hold the solid angle, by which a reduction then divides.
	SolidAngle bool
	// Transmission is that of the sample, one for all energies or for each in turn; nil for what the file says.
	Transmission []float64
	// Wedges say how an anisotropy was made.
	Wedges morph.Wedges
	// Round says that patterns vary with the direction as the electric field does, as those of balls do and those of rods do not.
	Round bool
	// Bin is the number of pixels along each side that the reader adds up to one; 0 is 1.
	Bin int
}

// kind makes data of a set of files of one kind. The file of a kind registers it.
type kind func(set *scatter.Set, r Reading) (*Data, []string, error)

var kinds = map[scatter.Kind]kind{}

// FromFile makes data of what a file holds, with notes on what was assumed. The energies of the frames are in eV, and each number has the
// likelihood that suits it, unless the reading names another.
func FromFile(set *scatter.Set, r Reading) (*Data, []string, error) {
	if r.Loss != "" {
		if _, err := noiseOf(r.Loss); err != nil {
			return nil, nil, err
		}
	}
	k, ok := kinds[set.Kind]
	if !ok {
		return nil, nil, fmt.Errorf("measured: %s holds %s, which cannot be fitted: give one of %v", set.Name, set.Kind, slices.Sorted(maps.Keys(kinds)))
	}
	d, notes, err := k(set, r)
	if err != nil {
		return nil, nil, err
	}
	d.thin()
	for i := range d.Frames {
		d.Frames[i].File = set.Name
	}
	if err := d.transmit(set.Name, r.Transmission); err != nil {
		return nil, nil, err
	}
	return d, notes, d.check()
}

// transmit gives each frame the transmission of its energy.
func (d *Data) transmit(file string, list []float64) error {
	energies := d.energies()
	if list != nil && len(list) != 1 && len(list) != len(energies) {
		return fmt.Errorf(`measured: "transmission" has %d numbers, and %s the energies %v eV: give one number, or one for each`, len(list), file, energies)
	}
	for i := range d.Frames {
		f := &d.Frames[i]
		if len(list) == 1 {
			f.Transmission = list[0]
		} else if list != nil {
			f.Transmission = list[slices.IndexFunc(energies, func(e float64) bool { return math.Abs(e-f.Energy) < sameEnergy })]
		}
	}
	return nil
}

// detectorOf returns the detector and its place as a set knows them.
func detectorOf(set *scatter.Set) (farfield.Detector, Geometry) {
	g := set.Geometry
	return farfield.Detector{Rows: set.Rows, Columns: set.Columns, PixelY: g.PixelY, PixelX: g.PixelX},
		Geometry{Distance: g.Distance, PoniY: g.PoniY, PoniX: g.PoniX, Rot1: g.Rot1, Rot2: g.Rot2, Rot3: g.Rot3}
}
