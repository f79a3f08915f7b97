// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package frames

import (
	"fmt"
	"math"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/unit"
)

// uprightWithin is how far a detector may be turned from upright, or from upside down, to count as such (degrees).
const uprightWithin = 0.1

// reflection reads what APS 9-ID-D writes of a beam that a surface reflects: where the direct and the reflected beam hit the image, and where
// the stages of the detector stood then. The beam's place moves with the stages, against them where the detector stands upside down, and the
// line from the direct to the reflected beam is the normal of the surface:
//
//	beam = direct_beam_image + (current_stage - direct_beam_stage) / pixel size
//
// Reference: the keys that pySimpleMask 0.4.5 reads (APS_9IDD).
func (m *Metadata) reflection(f *hdf5.File, name string) {
	const of, angleKey, incidenceKey = "/entry/instrument/detector_1/", "/entry/instrument/detector_1/rotation_z", "/entry/sample/rotation_x"
	if !f.Has(of + "direct_beam_image_x") {
		return
	}
	bad := func(field, key, what string, args ...any) {
		m.Faults = append(m.Faults, Fault{field, fmt.Errorf("frames: %s: %s: %s: correct it in the file, or give the beam's place yourself", name, key, fmt.Sprintf(what, args...))})
	}
	read := func(field, key string, kind unit.Kind, bare float64) float64 {
		v, there := number(f, key)
		if !there {
			bad(field, key, "it is not one finite number")
			return math.NaN()
		}
		if u := unitOf(f, key); u != "" {
			var err error
			if v, err = kind.Convert(v, u); err != nil {
				bad(field, key, "%v", err)
				return math.NaN()
			}
			return v
		}
		return v * bare
	}
	sign := 1.0
	switch turned := math.Abs(math.Remainder(read("BeamX", angleKey, unit.Angle, math.Pi/180)*180/math.Pi, 360)); {
	case turned <= uprightWithin:
	case 180-turned <= uprightWithin:
		sign = -1
	case !math.IsNaN(turned):
		bad("BeamX", angleKey, "the detector is turned by %.4g degrees, and its stages say where the beam is only for 0 and 180", turned)
		sign = math.NaN()
	}
	m.Distance = read("Distance", of+"current_stage_z", unit.Length, 1)
	at := func(beam, letter string, size float64) float64 {
		field := map[string]string{"x": "BeamX", "y": "BeamY"}[letter]
		moved := read(field, of+"current_stage_"+letter, unit.Length, 1) - read(field, of+beam+"_beam_stage_"+letter, unit.Length, 1)
		return read(field, of+beam+"_beam_image_"+letter, unit.Pixel, 1) + sign*moved/size
	}
	m.BeamX, m.BeamY = at("direct", "x", m.PixelSize), at("direct", "y", m.height())
	across, down := m.BeamX-at("specular", "x", m.PixelSize), m.BeamY-at("specular", "y", m.height())
	if across == 0 && down == 0 {
		bad("BeamY", of+"specular_beam_image_y", "the reflected beam is where the direct one is")
		return
	}
	m.Incidence, m.Roll = read("Incidence", incidenceKey, unit.Angle, math.Pi/180), math.Atan2(-across, down)
	if math.IsNaN(m.Roll) {
		m.Roll = 0
	}
}
