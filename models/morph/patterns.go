// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package morph

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/sim/rsoxs"
	"github.com/euryale-dev/euryale/tensor"
)

// OpenPatterns reads Energy_*.h5 files, given as files or folders, in order of energy,
// with the directions of the beams. It takes the edge length of a voxel in nm, from which
// q follows, because image files do not record it.
func OpenPatterns(names []string, voxel float64) (*rsoxs.Pattern, [][3]float64, error) {
	files, err := PatternFiles(names)
	if err != nil {
		return nil, nil, err
	}
	if len(files) == 0 {
		return nil, nil, errors.New("morph: there are no files of patterns: name at least one")
	}
	var all []*cyrsoxs.Pattern
	for _, name := range files {
		p, err := cyrsoxs.ReadPattern(name)
		if err != nil {
			return nil, nil, err
		}
		all = append(all, p)
	}
	p, err := joinPatterns(all, voxel)
	return p, all[0].KVectors, err
}

// NoPatternsError says that a folder holds no simulated images.
type NoPatternsError struct{ Folder string }

// Error names the folder and says what it lacks.
func (e *NoPatternsError) Error() string { return e.Folder + " has no Energy_*.h5" }

// PatternFiles lists the image files among names, which are files and folders. If a
// folder has none, the error is a *NoPatternsError.
func PatternFiles(names []string) ([]string, error) {
	var all []string
	for _, arg := range names {
		st, err := os.Stat(arg)
		if err != nil {
			return nil, err
		}
		if !st.IsDir() {
			all = append(all, arg)
			continue
		}
		entries, err := os.ReadDir(arg)
		if err != nil {
			return nil, err
		}
		n := len(all)
		for _, e := range entries {
			if imageName.MatchString(e.Name()) {
				all = append(all, filepath.Join(arg, e.Name()))
			}
		}
		if len(all) == n {
			return nil, &NoPatternsError{Folder: arg}
		}
	}
	return all, nil
}

// imageName matches the name of an image file.
var imageName = regexp.MustCompile(`^Energy_[0-9.]+\.h5$`)

// joinPatterns joins images into one pattern [energy, beam, qy, qx]; a is the edge length
// of a voxel in nm.
func joinPatterns(all []*cyrsoxs.Pattern, a float64) (*rsoxs.Pattern, error) {
	slices.SortStableFunc(all, func(x, y *cyrsoxs.Pattern) int { return cmp.Compare(x.Energy, y.Energy) })
	first := all[0]
	ny, nx, beams := first.Shape[0], first.Shape[1], len(first.KVectors)
	p := &rsoxs.Pattern{QY: rsoxs.Frequencies(ny, a), QX: rsoxs.Frequencies(nx, a), Intensity: tensor.New(tensor.Float64, len(all), beams, ny, nx)}
	out := p.Intensity.Data().([]float64)
	for i, q := range all {
		switch {
		case q.Shape != first.Shape || len(q.KVectors) != beams:
			return nil, fmt.Errorf("the patterns at %g eV are %d images of %v pixels, those at %g eV %d of %v: use images of one shape", q.Energy, len(q.KVectors), q.Shape, first.Energy, beams, first.Shape)
		case i > 0 && q.Energy == all[i-1].Energy:
			return nil, fmt.Errorf("the energy %g eV appears twice: name each file once", q.Energy)
		}
		p.Energies = append(p.Energies, q.Energy)
		for j, f := range q.Images {
			copy(out[(i*beams+j)*ny*nx:], f.Float64s())
		}
	}
	return p, nil
}
