// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rsoxs

import (
	"errors"
	"math"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// voxelFlags tell the size of the voxels from which patterns were computed, which image
// files do not record.
type voxelFlags struct {
	PhysSize   float64 `above:"0" zero:"found beside the images" about:"edge length of a voxel in nm"`
	Morphology string  `about:"HDF5 file that records the edge length of a voxel"`
}

const voxelHelp = `The edge length of a voxel determines q. It comes from --phys-size, from
--morphology, or from run.json or CyRSoXS.log beside the images or in the parent
folder.`

// readablePatterns reads the images that arguments name; those that cannot be read are lost.
func readablePatterns(a *frame.App, args []string, v voxelFlags, lost *frame.Lost) (*rsoxs.Pattern, [][3]float64, error) {
	voxel, err := v.find(a, args[0])
	if err != nil {
		return nil, nil, err
	}
	files, err := readableFiles(a, args, lost)
	if err != nil {
		return nil, nil, err
	}
	p, beams, err := morph.OpenPatterns(files, voxel)
	return p, beams, imagesError(err)
}

// readableFiles lists the images that arguments name. Arguments that name none are lost, and so are files that cannot be read.
func readableFiles(a *frame.App, args []string, lost *frame.Lost) (good []string, err error) {
	for _, arg := range args {
		files, err := morph.PatternFiles([]string{arg})
		if err != nil && !lost.Add(a, arg, imagesError(err)) {
			return nil, imagesError(err)
		}
		lost.Grow(max(len(files)-1, 0))
		for _, file := range files {
			_, err := cyrsoxs.ReadPattern(file)
			switch {
			case err == nil:
				good = append(good, file)
			case !lost.Add(a, file, imagesError(err)):
				return nil, imagesError(err)
			}
		}
	}
	if lost.None() {
		return nil, lost.Err("")
	}
	return good, nil
}

// imagesError adds an exit code and a hint to an error from reading images.
func imagesError(err error) error {
	if none := (*morph.NoPatternsError)(nil); errors.As(err, &none) {
		return &exit.Error{Code: exit.NoInput, Err: err, Hint: "name the folder that a simulation wrote, or files of measured patterns"}
	}
	return exit.Input(err)
}

// oblique reports whether any beam deviates from +z.
func oblique(beams [][3]float64) bool {
	for _, k := range beams {
		if k != [3]float64{0, 0, 1} {
			return true
		}
	}
	return false
}

// find returns the edge length of a voxel in nm, and tells where flags and what lies beside the images disagree.
func (v voxelFlags) find(a *frame.App, images string) (float64, error) {
	given, err := v.given()
	if err != nil {
		return 0, err
	}
	found, err := morph.FindVoxel(images)
	unknown := (*morph.NoVoxelError)(nil)
	switch {
	case given > 0 && err == nil && math.Abs(found-given) > 1e-6*given:
		a.Note("the edge of a voxel is taken as %g nm, as the flag says, although what lies beside the images says %.6g nm: q is %.3g times as large there", given, found, given/found)
	case given == 0 && errors.As(err, &unknown):
		return 0, &exit.Error{Code: exit.WrongUsage, Err: err, Hint: "--phys-size 5 (nm), or --morphology FILE.h5"}
	case given == 0:
		return found, exit.Input(err)
	}
	return given, nil
}

// given returns the edge length that flags give, or 0.
func (v voxelFlags) given() (float64, error) {
	switch {
	case v.PhysSize > 0 && !math.IsInf(v.PhysSize, 0):
		return v.PhysSize, nil
	case v.PhysSize != 0:
		return 0, exit.Usage("--phys-size %g: want the edge length of a voxel in nm, above 0", v.PhysSize)
	case v.Morphology != "":
		a, err := morph.VoxelOf(v.Morphology)
		return a, exit.Input(err)
	}
	return 0, nil
}
