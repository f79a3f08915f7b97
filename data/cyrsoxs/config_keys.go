// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

import (
	"slices"

	"github.com/euryale-dev/euryale/data/libconfig"
	"github.com/euryale-dev/euryale/internal/spelling"
)

// setting is one key of the file.
type setting struct {
	key     string
	absent  string // value used if the key is missing, in words; "" if it is required
	read    func(r *configReader, v *libconfig.Value)
	example string // example of the value of a required key
}

// settings lists the keys in the order of the warnings about missing ones.
var settings = []setting{
	{key: "CaseType", example: "CaseType = 0;", read: func(r *configReader, v *libconfig.Value) { r.c.CaseType = CaseType(r.whole(v)) }},
	{key: "Energies", example: "Energies = [284.7, 285.2];", read: func(r *configReader, v *libconfig.Value) { r.c.Energies = r.numbers(v, 0) }},
	{key: "EAngleRotation", example: "EAngleRotation = [0.0, 5.0, 165.0];", read: func(r *configReader, v *libconfig.Value) { copy(r.c.EAngleRotation[:], r.numbers(v, 3)) }},
	{key: "MorphologyType", example: "MorphologyType = 0;", read: func(r *configReader, v *libconfig.Value) { r.c.MorphologyType = MorphologyType(r.whole(v)) }},
	{key: "EwaldsInterpolation", absent: "1, linear", read: func(r *configReader, v *libconfig.Value) { r.c.Interpolation = Interpolation(r.whole(v)) }},
	{key: "WindowingType", absent: "0, none", read: func(r *configReader, v *libconfig.Value) { r.c.Window = Window(r.whole(v)) }},
	{key: "RotMask", absent: "false", read: func(r *configReader, v *libconfig.Value) { r.c.RotMask = r.truth(v) }},
	{key: "Algorithm", absent: "0, communication minimising", read: func(r *configReader, v *libconfig.Value) { r.c.Algorithm = Algorithm(r.whole(v)) }},
	{key: "MaxStreams", absent: "1", read: func(r *configReader, v *libconfig.Value) { r.c.MaxStreams = r.whole(v) }},
	{key: "ScatterApproach", absent: "0, partial", read: func(r *configReader, v *libconfig.Value) { r.c.ScatterApproach = ScatterApproach(r.whole(v)) }},
	{key: "ReferenceFrame", absent: "1, lab", read: func(r *configReader, v *libconfig.Value) { r.c.ReferenceFrame = ReferenceFrame(r.whole(v)) }},
	{key: "DumpMorphology", absent: "false", read: func(r *configReader, v *libconfig.Value) { r.c.DumpMorphology = r.truth(v) }},
	{key: "NumThreads", absent: "4", read: func(r *configReader, v *libconfig.Value) { r.c.NumThreads = r.whole(v) }},
	{key: "HDF5DirName", absent: "HDF5", read: func(r *configReader, v *libconfig.Value) { r.c.HDF5Dir = r.text(v) }},
}

// geometry lists the keys that only some cases need; alias is the documented name of Algorithm,
// which CyRSoXS itself does not read.
const (
	keyBeams    = "listKVectors"
	keyDetector = "DetectorCoordinates"
	keyAlias    = "AlgorithmType"
)

// former maps keys of old files to the present place of their content.
var former = map[string]string{
	"NumX": "the morphology has the size", "NumY": "the morphology has the size", "NumZ": "the morphology has the size",
	"PhysSize": "the morphology has the voxel size", "NumMaterial": "the morphology has the number",
	"StartEnergy": "Energies lists them", "EndEnergy": "Energies lists them", "IncrementEnergy": "Energies lists them",
	"StartAngle": "EAngleRotation has it", "EndAngle": "EAngleRotation has it", "IncrementAngle": "EAngleRotation has it",
	"WriteVTI": "only HDF5 is written", "VTIDirName": "only HDF5 is written", "WriteHDF5": "HDF5 is always written",
}

func known(name string) bool {
	return name == keyBeams || name == keyDetector || name == keyAlias ||
		slices.ContainsFunc(settings, func(s setting) bool { return s.key == name })
}

// strangers warns of unknown keys.
func (r *configReader) strangers() {
	var names []string
	for _, s := range settings {
		names = append(names, s.key)
	}
	names = append(names, keyBeams, keyDetector)
	for _, v := range r.root.Items {
		if known(v.Name) {
			continue
		}
		if why, ok := former[v.Name]; ok {
			r.warn(v.Line, "%s is ignored: %s", v.Name, why)
		} else if near := spelling.Meant(v.Name, names); near != "" {
			r.warn(v.Line, "%s is ignored: is it %s?", v.Name, near)
		} else {
			r.warn(v.Line, "%s is ignored: there is no such setting", v.Name)
		}
	}
}
