package main

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/models/morph"
	"github.com/euryale-dev/euryale/sim/rsoxs"
)

// voxelFlags say how large the voxels are that patterns belong to; files of images do
// not hold it.
type voxelFlags struct {
	PhysSize   float64
	Morphology string
}

const voxelHelp = `The edge of a voxel, from which q follows, is --phys-size or that of
--morphology, or is found in run.json or CyRSoXS.log beside the images or one
folder above.`

// loadPatterns reads folders of Energy_*.h5 and such files, in the order of their
// energies.
func loadPatterns(args []string, v voxelFlags) (*rsoxs.Pattern, [][3]float64, error) {
	a, err := v.find(args[0])
	if err != nil {
		return nil, nil, err
	}
	p, beams, err := morph.OpenPatterns(args, a)
	return p, beams, imagesError(err)
}

// imagesError is the error of files with images, and of what else a problem needs.
func imagesError(err error) error {
	if none := (*morph.NoPatternsError)(nil); errors.As(err, &none) {
		return &exitError{code: exitNoInput, err: err, hint: "the folder that a simulation wrote"}
	}
	return input(err)
}

// oblique reports a beam that does not come along +z.
func oblique(beams [][3]float64) bool {
	for _, k := range beams {
		if k != [3]float64{0, 0, 1} {
			return true
		}
	}
	return false
}

// find returns the edge of a voxel in nm.
func (v voxelFlags) find(images string) (float64, error) {
	switch {
	case v.PhysSize > 0 && !math.IsInf(v.PhysSize, 0):
		return v.PhysSize, nil
	case v.PhysSize != 0:
		return 0, usage("--phys-size %g: want the edge of a voxel in nm, above 0", v.PhysSize)
	case v.Morphology != "":
		return physSizeOf(v.Morphology)
	}
	dir := images
	if st, err := os.Stat(images); err != nil {
		return 0, input(err)
	} else if !st.IsDir() {
		dir = filepath.Dir(images)
	}
	for _, d := range []string{dir, filepath.Join(dir, "..")} {
		if r, err := readSimRecord(d); err == nil && r != nil && r.PhysSize > 0 {
			return r.PhysSize, nil
		}
		if a := physSizeInLog(filepath.Join(d, logName)); a > 0 {
			return a, nil
		}
	}
	return 0, &exitError{code: exitUsage, err: fmt.Errorf("neither run.json nor %s is at %s: the edge of a voxel is not known", logName, images), hint: "--phys-size 5 (nm), or --morphology FILE.h5"}
}

// voxelLine is a line of a log that tells the edge of a voxel in nm.
var voxelLine = regexp.MustCompile(`(?im)^\s*(?:voxel edge|phys(?:ical)?[ _]?size)(?:\s*\(nm\))?\s*[:=]?\s*([0-9.eE+-]+)`)

// physSizeInLog returns 0 where there is no log or nothing in it.
func physSizeInLog(name string) float64 {
	b, err := foreign.ReadFile(name)
	if err != nil {
		return 0
	}
	m := voxelLine.FindSubmatch(b)
	if m == nil {
		return 0
	}
	a, err := strconv.ParseFloat(string(m[1]), 64)
	if err != nil || math.IsInf(a, 0) {
		return 0
	}
	return a
}

func physSizeOf(name string) (float64, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return 0, input(err)
	}
	defer f.Close()
	d, err := f.Dataset("Morphology_Parameters/PhysSize")
	if err != nil {
		return 0, input(err)
	}
	v, err := d.Float64s()
	if err != nil {
		return 0, input(err)
	}
	if len(v) != 1 || !(v[0] > 0) || math.IsInf(v[0], 0) {
		return 0, as(exitData, fmt.Errorf("%s: PhysSize is %v: want the edge of a voxel in nm", name, v))
	}
	return v[0], nil
}

// exists reports whether a file is there.
func exists(name string) bool {
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}
