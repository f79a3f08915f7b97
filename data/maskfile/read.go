// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Read reads a mask from a file, for a detector of the shape in the settings. The name may be followed by that of a dataset, as in
// mask.h5:/entry/mask.
func Read(name string, s Settings) (*Mask, error) {
	file, dataset := Split(name)
	if dataset != "" {
		s.Key = dataset
	}
	k, err := kind(file)
	if err != nil {
		return nil, err
	}
	var m *Mask
	switch k {
	case "hdf5":
		m, err = readHDF5(file, s)
	case "tiff":
		m, err = readPicture(file, s)
	case "json":
		m, err = s.fromList(file)
	default:
		if k == "text" && !isGridText(file) {
			m, err = s.fromList(file)
			break
		}
		var g *Image
		if g, err = readGrid(file, k, s); err == nil {
			m = above(g.Values, g.Height, g.Width).unless(k == "edf" || k == "cbf")
		}
	}
	if err == nil {
		m, err = s.fit(m)
	}
	if err != nil {
		return nil, fmt.Errorf("maskfile: %s: %w", name, err)
	}
	return m, nil
}

// readPicture reads a TIFF image.
func readPicture(name string, s Settings) (*Mask, error) {
	f, err := foreign.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readTIFF(f, st.Size(), s)
}

// usual are the places of masks in HDF5 files.
var usual = []string{"/mask", "/data/mask", "/qmap/mask", "/xpcs/qmap/mask"}

// pixelMasks are the places where detectors keep which of their pixels are bad. In a pixel_mask of the NeXus standard, 0 is a
// pixel that works, and every other number a reason why one does not.
var pixelMasks = []string{"/entry/instrument/detector/pixel_mask", "/entry/instrument/detector/detectorSpecific/pixel_mask", "/entry/instrument/detector_1/pixel_mask"}

// isPixelMask reports whether the numbers at a path are those of a pixel_mask.
func isPixelMask(key string) bool { return path.Base(key) == "pixel_mask" }

// ReadPixelMask reads which pixels of a detector work, from the pixel_mask in a file of its frames. It
// returns nil if the file is not HDF5 or has no pixel_mask.
func ReadPixelMask(name string, s Settings) (*Mask, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, nil
	}
	defer f.Close()
	for _, s.Key = range pixelMasks {
		if !f.Has(s.Key) {
			continue
		}
		m, err := fromHDF5(f, s)
		if err == nil {
			m, err = s.fit(m)
		}
		if err != nil {
			return nil, fmt.Errorf("maskfile: %s: %w", name, err)
		}
		return m, nil
	}
	return nil, nil
}

func readHDF5(name string, s Settings) (*Mask, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return fromHDF5(f, s)
}

func fromHDF5(f *hdf5.File, s Settings) (*Mask, error) {
	key, err := s.key(f)
	if err != nil {
		return nil, err
	}
	d, err := f.Dataset(key)
	if err != nil {
		return nil, err
	}
	shape := d.Shape()
	for len(shape) > 2 && shape[0] == 1 {
		shape = shape[1:]
	}
	if len(shape) != 2 {
		return nil, fmt.Errorf("the dataset %s has the shape %v: want rows and columns", key, d.Shape())
	}
	if err := s.shape(shape[0], shape[1]); err != nil {
		return nil, fmt.Errorf("the dataset %s: %w", key, err)
	}
	if d.Type().Class == hdf5.Enum { // truth values
		keep, err := d.Bools()
		return (&Mask{shape[0], shape[1], keep}).unless(isPixelMask(key)), err
	}
	v, err := d.Float64s()
	if err != nil {
		return nil, err
	}
	return above(v, shape[0], shape[1]).unless(isPixelMask(key)), nil
}

// unless exchanges the pixels that are kept and those that are not, if inverted is set.
func (m *Mask) unless(inverted bool) *Mask {
	for i := range m.Keep {
		m.Keep[i] = m.Keep[i] != inverted
	}
	return m
}

// key returns the path of the mask: the dataset that the settings name, the first usual one that is there, or the only one of two axes, in a
// group or in the file.
func (s Settings) key(f *hdf5.File) (string, error) {
	for _, key := range slices.Concat([]string{s.Key}, usual, pixelMasks) {
		if key == "" || !f.Has(key) && key != s.Key {
			continue
		}
		if _, err := f.Keys(key); err == nil {
			return onlyImage(f, key, "")
		}
		return key, nil
	}
	return onlyImage(f, "/", fmt.Sprintf("none of %s is there, and ", strings.Join(usual, ", ")))
}

// onlyImage returns the path of the only dataset of two axes below a group that is no pixel_mask; an error begins with the given words.
func onlyImage(f *hdf5.File, under, because string) (string, error) {
	under = strings.TrimSuffix("/"+strings.Trim(under, "/"), "/") + "/"
	var found []string
	err := f.Walk(func(path string, group bool) error {
		if group || isPixelMask(path) || !strings.HasPrefix(path, under) {
			return nil
		}
		if d, err := f.Dataset(path); err == nil && len(d.Shape()) == 2 {
			found = append(found, path)
		}
		return nil
	})
	if len(found) == 1 {
		return found[0], nil
	}
	if err != nil {
		return "", err
	}
	in := ""
	if under != "/" {
		in = " in the group " + strings.TrimSuffix(under, "/")
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%sno dataset%s has two axes: want rows and columns", because, in)
	}
	const most = 5
	return "", fmt.Errorf("%s%d datasets%s have two axes, such as %s: name one with --dataset, or as FILE:%s", because, len(found), in, strings.Join(found[:min(len(found), most)], ", "), found[0])
}
