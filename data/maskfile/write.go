// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/tensor"
)

// Version is the version that is written with the masks of HDF5 files.
const Version = "1"

// Write writes a mask as 0 and 1: as the compressed dataset mask of an HDF5 file, with the attributes
// shape and version; as an LZW-compressed TIFF image; or as an NPY array of truth values. The file
// appears only once it is complete. An existing file is an error that wraps fs.ErrExist, unless
// overwrite is set.
func Write(name string, m *Mask, overwrite bool) error {
	k, err := kind(name)
	if err != nil {
		return err
	}
	if m.Height < 1 || m.Width < 1 || len(m.Keep) != m.Height*m.Width {
		return fmt.Errorf("maskfile: %s: the mask has %d elements for %d x %d pixels: give one for each", name, len(m.Keep), m.Height, m.Width)
	}
	switch k {
	case "hdf5":
		err = writeHDF5(name, m, overwrite)
	case "tiff":
		err = atomicfile.Write(name, overwrite, func(w io.Writer) error { return writeTIFF(w, m) })
	case "npy":
		err = atomicfile.Write(name, overwrite, func(w io.Writer) error { return writeNPY(w, m) })
	default:
		err = fmt.Errorf("a list holds the masked pixels, not a mask: choose another file extension, or call WriteList in Go")
	}
	if err != nil {
		return fmt.Errorf("maskfile: %s: %w", name, err)
	}
	return nil
}

// bytes returns 0 and 1 for each pixel.
func (m *Mask) bytes() []uint8 {
	b := make([]uint8, len(m.Keep))
	for i, k := range m.Keep {
		if k {
			b[i] = 1
		}
	}
	return b
}

func writeHDF5(name string, m *Mask, overwrite bool) error {
	if _, err := os.Lstat(name); err == nil && !overwrite {
		return fmt.Errorf("it exists already: choose another name, or overwrite it: %w", fs.ErrExist)
	}
	w, err := hdf5.Create(name)
	if err != nil {
		return err
	}
	defer w.Discard()
	w.Write("/mask", m.bytes(), hdf5.Layout{Shape: []int{m.Height, m.Width}, Gzip: 4})
	for _, key := range []string{"/", "/mask"} {
		w.Attr(key, "shape", []int64{int64(m.Height), int64(m.Width)})
		w.Attr(key, "version", Version)
	}
	return w.Close()
}

func writeNPY(w io.Writer, m *Mask) error {
	t, err := tensor.From(m.Keep, m.Height, m.Width)
	if err != nil {
		return err
	}
	return t.WriteNPY(w)
}
