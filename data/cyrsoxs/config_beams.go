// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"math"

	"github.com/euryale-dev/euryale/data/libconfig"
)

// directions reads beams and detector if the case needs them.
func (r *configReader) directions() {
	beams, detector := r.get(keyBeams), r.get(keyDetector)
	switch {
	case r.c.CaseType != BeamDivergence && r.c.CaseType != GrazingIncidence:
		r.idle(beams)
	case beams == nil:
		r.c.KVectors = nil
	default:
		r.beams(beams)
	}
	switch {
	case r.c.CaseType != GrazingIncidence:
		r.idle(detector)
	case detector == nil:
		r.bad.add(keyDetector, "add DetectorCoordinates = [0.0, 0.0, 1.0];", "it is needed for %s", r.c.CaseType).Err = ErrIncomplete
	default:
		copy(r.c.Detector[:], r.numbers(detector, 3))
		r.c.Detector = unit(r.c.Detector)
	}
}

// idle warns of a direction that the case does not use.
func (r *configReader) idle(v *libconfig.Value) {
	if v != nil && !r.complained("CaseType") {
		r.warn(v.Line, "%s is not used with CaseType %d, %s", v.Name, r.c.CaseType, r.c.CaseType)
	}
}

func (r *configReader) beams(v *libconfig.Value) {
	r.c.KVectors = nil
	switch v.Kind {
	case libconfig.List:
	case libconfig.Group:
		r.warn(v.Line, "%s is a group: taken as a list (CyRSoXS reads ({ k = [x, y, z]; }, ...))", keyBeams)
	default:
		r.bad.add(keyBeams, "write ({ k = [0.0, 0.0, 1.0]; })", "it is not a list of groups").Line = v.Line
		return
	}
	for i, item := range v.Items {
		k, err := item.Lookup("k")
		if err != nil {
			r.bad.add(keyBeams, "write { k = [0.0, 0.0, 1.0]; }", "element %d has no k", i).Line = item.Line
			return
		}
		if xyz := r.array(k, keyBeams, 3); xyz != nil {
			r.c.KVectors = append(r.c.KVectors, unit([3]float64(xyz)))
		}
	}
}

// unit scales a vector to length 1; a vector without a direction is left for Check to report.
func unit(k [3]float64) [3]float64 {
	length := math.Sqrt(k[0]*k[0] + k[1]*k[1] + k[2]*k[2])
	if length == 0 || !finite(length) {
		return k
	}
	return [3]float64{k[0] / length, k[1] / length, k[2] / length}
}
