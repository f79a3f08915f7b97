// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Layout is how a file arranges correlations.
type Layout string

// The layouts.
const (
	APSOld Layout = "aps_old" // exchange/C2T_all beside xpcs/dqlist and xpcs/dphilist
	APSU   Layout = "aps_u"   // xpcs/twotime/correlation_map beside a q map; also the output of euryale correlate
	NPZ    Layout = "npz"     // arrays of NumPy, as in the cache files of homodyne and xpcsjax
)

// Bin is a region of the detector whose correlation is in the file.
type Bin struct {
	Key    string  // path of the matrix in the file
	Number int     // number of the bin in the q map or, without one, of the matrix, from 1
	Q      float64 // value of q in 1/angstrom
	Phi    float64 // azimuth in degrees
}

// File is an open file of two-time correlations. Matrices are read when they are asked for.
type File struct {
	Name   string
	Layout Layout
	Bins   []Bin
	Frames int     // number of rows of a matrix
	First  int     // number of the frame of the first row, from 1
	Step   float64 // time from row to row in s; NaN if the file does not give it
	Notes  []string

	source source
	asked  float64 // q that a cache was made for; NaN if unknown
	last   int     // last frame that a cache was made for; 0 if unknown
}

// source reads matrices.
type source interface {
	// read calls put with the square block of frames lo to hi-1, from 0, of each of the bins, which ascend.
	read(bins []int, lo, hi int, put func(k int, block []float64)) error
	Close() error
}

// Open opens a file of two-time correlations and determines its layout.
func Open(name string) (*File, error) {
	f, err := foreign.Open(name, ".hdf", ".h5", ".hdf5", ".npz")
	if err != nil {
		return nil, err
	}
	head := make([]byte, 512)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		f.Close()
		return nil, err
	}
	err = nil
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte("PK\x03\x04")):
		return openNPZ(f, name)
	case len(head) == 0:
		err = bad(name, "", "the file is empty; copy it again")
	case bytes.HasPrefix(head, []byte("\x93NUMPY")):
		err = bad(name, "", "the file is a single NumPy array, which lacks q and angles; want HDF5 or .npz")
	case !bytes.HasPrefix(head, []byte("\x89HDF")) && foreign.NotText(head) != "a binary file":
		what := foreign.NotText(head)
		if what == "" {
			what = "text"
		}
		err = bad(name, "", "the file is %s; want HDF5 or .npz with two-time correlations", what)
	}
	f.Close()
	if err != nil {
		return nil, err
	}
	h, err := hdf5.Open(name)
	if err != nil {
		return nil, err
	}
	out := &File{Name: name, First: 1, Step: math.NaN(), asked: math.NaN()}
	if err := out.openHDF5(h); err != nil {
		h.Close()
		return nil, err
	}
	return out, nil
}

// Close closes the file.
func (f *File) Close() error { return f.source.Close() }

// Group paths by which layouts are known.
const (
	oldMaps = "/exchange/C2T_all"
	newMaps = "/xpcs/twotime/correlation_map"
)

func (f *File) openHDF5(h *hdf5.File) error {
	switch {
	case h.Has(newMaps):
		f.Layout = APSU
		return f.openAPSU(h)
	case h.Has(oldMaps):
		f.Layout = APSOld
		return f.openAPSOld(h)
	}
	what := ""
	if h.Has("/xpcs/multitau") || h.Has("/exchange/norm-0-g2") {
		what = ", only of one time (multi-tau)"
	}
	keys, _ := h.Keys("/")
	return bad(f.Name, newMaps, "there are no two-time correlations in the file%s, neither here nor in %s; the file has %s; run the correlation with two times, such as euryale correlate --correlation twotime",
		what, oldMaps, foreign.Short(strings.Join(keys, ", "), 200))
}
