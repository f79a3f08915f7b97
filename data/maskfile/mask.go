// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// Mask says which pixels of a detector are kept.
type Mask struct {
	Height, Width int
	Keep          []bool // flags in row-major order (Height, Width), true for pixels to keep
}

// Settings are the settings of Read. The zero value is the default.
type Settings struct {
	// Height and Width are the shape of the detector; they are required for a list. Default: the shape
	// of the mask in the file.
	Height, Width int
	// Key is the path of the dataset in an HDF5 file, or of a group with one dataset of two axes, the name of an array in an NPZ file, or the
	// number of a page of a TIFF file, from 1.
	// Default: the first of /mask, /data/mask, /qmap/mask and /xpcs/qmap/mask that exists, the only dataset with two axes, or the only page.
	Key string
	// MaxPixels is the largest number of pixels of a mask. 0 stands for 2^26.
	MaxPixels int
	// Compact asks ReadImage for Image.Compact, which takes half of the memory, where the format and the type of the numbers allow it: TIFF
	// files of numbers of up to 16 bits, or floats of 32.
	Compact bool
	// List says how to interpret lists of pixels.
	List ListSettings
}

// MostPixels is the largest number of pixels of a mask or an image where Settings do not say it.
const MostPixels = 1 << 26

func (s Settings) most() int {
	if s.MaxPixels > 0 {
		return s.MaxPixels
	}
	return MostPixels
}

// kinds are the endings of names.
var kinds = map[string]string{".h5": "hdf5", ".hdf": "hdf5", ".hdf5": "hdf5", ".tif": "tiff", ".tiff": "tiff", ".edf": "edf", ".cbf": "cbf", ".npy": "npy", ".npz": "npz", ".dat": "text", ".json": "json", ".txt": "text", ".csv": "text"}

// kind returns the kind of a file by its name.
func kind(name string) (string, error) {
	ending := filepath.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))
	if k := kinds[ending]; k != "" && (ending == ".edf" || ending == ".cbf" || !strings.HasSuffix(strings.ToLower(name), ".gz")) {
		return k, nil
	}
	if st, err := os.Stat(name); err == nil && st.IsDir() {
		_, err := foreign.Open(name, slices.Sorted(maps.Keys(kinds))...) // says what is in the folder
		return "", err
	}
	return "", fmt.Errorf("maskfile: %s: the extension %q is not that of a mask or an image: want .h5, .hdf, .hdf5, .tif, .tiff, .edf, .cbf, .npy, .npz, .json, .txt, .dat or .csv", name, ending)
}

// shape checks the shape of a mask in a file.
func (s Settings) shape(height, width int) error {
	if height < 1 || width < 1 || float64(height)*float64(width) > float64(s.most()) {
		return fmt.Errorf("the image has %d x %d pixels: want at least 1 x 1 and at most %d in all; if it is that large, raise the limit by --max-pixels (in Go, Settings.MaxPixels)", height, width, s.most())
	}
	return nil
}

// above returns the mask that keeps values above 0.
func above(values []float64, height, width int) *Mask {
	m := &Mask{height, width, make([]bool, len(values))}
	for i, v := range values {
		m.Keep[i] = v > 0
	}
	return m
}

// fit returns the mask for the detector of the settings, transposed if only that fits.
func (s Settings) fit(m *Mask) (*Mask, error) {
	switch {
	case s.Height == 0 && s.Width == 0 || m.Height == s.Height && m.Width == s.Width:
		return m, nil
	case m.Height != s.Width || m.Width != s.Height:
		return nil, fmt.Errorf("a mask of %d x %d pixels does not fit a detector of %d x %d, not even transposed: use the mask of this detector", m.Height, m.Width, s.Height, s.Width)
	}
	t := &Mask{m.Width, m.Height, make([]bool, len(m.Keep))}
	for i, k := range m.Keep {
		t.Keep[i%m.Width*m.Height+i/m.Width] = k
	}
	return t, nil
}
