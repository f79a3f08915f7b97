package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
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
	names, err := patternFiles(args)
	if err != nil {
		return nil, nil, err
	}
	var all []*cyrsoxs.Pattern
	for _, name := range names {
		p, err := cyrsoxs.ReadPattern(name)
		if err != nil {
			return nil, nil, input(err)
		}
		all = append(all, p)
	}
	p, err := joinPatterns(all, a)
	return p, all[0].KVectors, as(exitData, err)
}

// patternFiles lists the files of images in args, files and folders.
func patternFiles(args []string) ([]string, error) {
	var all []string
	for _, arg := range args {
		st, err := os.Stat(arg)
		if err != nil {
			return nil, input(err)
		}
		if !st.IsDir() {
			all = append(all, arg)
			continue
		}
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, input(err)
		}
		n := len(all)
		for _, e := range entries {
			if imageName.MatchString(e.Name()) {
				all = append(all, filepath.Join(arg, e.Name()))
			}
		}
		if len(all) == n {
			return nil, &exitError{code: exitNoInput, err: fmt.Errorf("%s has no Energy_*.h5", arg), hint: "the folder that a simulation wrote"}
		}
	}
	return all, nil
}

// imageName is the name of a file of images.
var imageName = regexp.MustCompile(`^Energy_[0-9.]+\.h5$`)

// joinPatterns makes one pattern [energy, beam, qy, qx] of images of voxels of a nm.
func joinPatterns(all []*cyrsoxs.Pattern, a float64) (*rsoxs.Pattern, error) {
	slices.SortStableFunc(all, func(x, y *cyrsoxs.Pattern) int { return cmp.Compare(x.Energy, y.Energy) })
	first := all[0]
	ny, nx, beams := first.Shape[0], first.Shape[1], len(first.KVectors)
	p := &rsoxs.Pattern{QY: rsoxs.Frequencies(ny, a), QX: rsoxs.Frequencies(nx, a), Intensity: tensor.New(tensor.Float64, len(all), beams, ny, nx)}
	out := p.Intensity.Data().([]float64)
	for i, q := range all {
		switch {
		case q.Shape != first.Shape || len(q.KVectors) != beams:
			return nil, fmt.Errorf("%g eV has %d images of %v pixels, %g eV %d of %v: want one shape", q.Energy, len(q.KVectors), q.Shape, first.Energy, beams, first.Shape)
		case i > 0 && q.Energy == all[i-1].Energy:
			return nil, fmt.Errorf("%g eV is there twice: name each file once", q.Energy)
		}
		p.Energies = append(p.Energies, q.Energy)
		for j, f := range q.Images {
			copy(out[(i*beams+j)*ny*nx:], f.Float64s())
		}
	}
	return p, nil
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
