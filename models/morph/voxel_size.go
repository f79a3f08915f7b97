// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// logName is the name of the log that CyRSoXS writes next to its images.
const logName = "CyRSoXS.log"

// NoVoxelError says that the voxel size of images is not known.
type NoVoxelError struct{ Images string }

// Error names the files that would contain the size.
func (e *NoVoxelError) Error() string {
	return fmt.Sprintf("neither %s nor %s is at %s: the edge of a voxel is not known", SimulationRecordFile, logName, e.Images)
}

// FindVoxel returns the edge length of a voxel in nm, from the record or the log that a
// simulation left. It looks in the folder of images, which is a folder or a file, and one
// folder above. If there is neither, the error is a *NoVoxelError.
func FindVoxel(images string) (float64, error) {
	dir := images
	if st, err := os.Stat(images); err != nil {
		return 0, err
	} else if !st.IsDir() {
		dir = filepath.Dir(images)
	}
	for _, d := range []string{dir, filepath.Join(dir, "..")} {
		if r, err := ReadSimulationRecord(d); err == nil && r != nil && r.PhysSize > 0 {
			return r.PhysSize, nil
		}
		if a := physSizeInLog(filepath.Join(d, logName)); a > 0 {
			return a, nil
		}
	}
	return 0, &NoVoxelError{Images: images}
}

// voxelLine matches the line of a log with the edge length of a voxel in nm.
var voxelLine = regexp.MustCompile(`(?im)^\s*(?:voxel edge|phys(?:ical)?[ _]?size)(?:\s*\(nm\))?\s*[:=]?\s*([0-9.eE+-]+)`)

// physSizeInLog returns 0 if there is no log or it does not contain the size.
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

// VoxelOf returns the edge length of a voxel in nm from a morphology file.
func VoxelOf(name string) (float64, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	d, err := f.Dataset("Morphology_Parameters/PhysSize")
	if err != nil {
		return 0, err
	}
	v, err := d.Float64s()
	if err != nil {
		return 0, err
	}
	if len(v) != 1 || !(v[0] > 0) || math.IsInf(v[0], 0) {
		return 0, fmt.Errorf("%s: PhysSize is %v: want one positive number, the edge of a voxel in nm", name, v)
	}
	return v[0], nil
}
