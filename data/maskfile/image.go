// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"fmt"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Image is a detector image for which a mask is made.
type Image struct {
	Height, Width int
	Values        []float64 // values in row-major order (Height, Width), in the unit of the file, usually counts
	// Compact holds the values in place of Values if Settings.Compact asked for it and single precision holds them exactly.
	Compact []float32
}

// ReadImage reads an image with one number for each pixel: TIFF, EDF, CBF, NPY, NPZ, rows of numbers as text, or a dataset with two axes in an
// HDF5 file. Settings.Key names the dataset, or the name is followed by it as in Read; without it, the only dataset with two axes is read.
func ReadImage(name string, s Settings) (*Image, error) {
	file, dataset := Split(name)
	if dataset != "" {
		s.Key = dataset
	}
	k, err := kind(file)
	if err != nil {
		return nil, err
	}
	var m *Image
	switch k {
	case "hdf5":
		m, err = imageHDF5(file, s)
	case "tiff":
		m, err = imageTIFF(file, s)
	case "json":
		err = fmt.Errorf("a list of pixels is not an image: give HDF5, TIFF, EDF, CBF, NPY or NPZ")
	default:
		if k == "text" && !isGridText(file) {
			err = fmt.Errorf("a list of pixels is not an image: give HDF5, TIFF, EDF, CBF, NPY, NPZ or a line of numbers for each row")
			break
		}
		m, err = readGrid(file, k, s)
	}
	if err != nil {
		return nil, fmt.Errorf("maskfile: %s: %w", name, err)
	}
	return m, nil
}

// NoFrames reports whether the name of a file is that of an image in a format that no movie has.
func NoFrames(name string) bool {
	file, _ := Split(name)
	k, err := kind(file)
	return err == nil && k != "hdf5" && k != "npy"
}

func imageTIFF(name string, s Settings) (*Image, error) {
	f, err := foreign.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	var m *Image
	err = paintTIFF(f, st.Size(), s, func(height, width int, exact bool) canvas {
		m = &Image{Height: height, Width: width}
		if exact && s.Compact {
			m.Compact = make([]float32, height*width)
			return canvas{height, width, func(i int, v float64) { m.Compact[i] = float32(v) }}
		}
		m.Values = make([]float64, height*width)
		return canvas{height, width, func(i int, v float64) { m.Values[i] = v }}
	})
	return m, err
}

func imageHDF5(name string, s Settings) (*Image, error) {
	f, err := hdf5.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	key := s.Key
	if _, no := f.Keys(key); key != "" && no == nil {
		if key, err = onlyImage(f, key, ""); err != nil {
			return nil, err
		}
	}
	if key == "" {
		if key, err = onlyImage(f, "/", ""); err != nil {
			return nil, err
		}
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
	v, err := d.Float64s()
	return &Image{Height: shape[0], Width: shape[1], Values: v}, err
}
