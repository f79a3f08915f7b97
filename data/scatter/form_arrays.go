// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"archive/zip"
	"bytes"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor"
)

func init() {
	register("NPY", form{rank: 1, fits: func(name string, head []byte, folder bool) bool { return bytes.HasPrefix(head, []byte("\x93NUMPY")) }, open: openNPY})
	register("NPZ", form{rank: 3, fits: func(name string, head []byte, folder bool) bool { return bytes.HasPrefix(head, []byte("PK\x03\x04")) }, open: openNPZ})
	register("TIFF", form{rank: 1, fits: func(name string, head []byte, folder bool) bool {
		return slices.ContainsFunc([]string{"II*\x00", "MM\x00*", "II+\x00", "MM\x00+"}, func(m string) bool { return bytes.HasPrefix(head, []byte(m)) })
	}, open: openTIFF})
}

// openNPY reads an array of images: (row, column), (frame, row, column) or (energy, polarisation, row, column).
func openNPY(name string, s Settings) (*content, error) {
	f, err := foreign.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	x, err := tensor.ReadNPY(f)
	if err != nil {
		return nil, err
	}
	c := &content{attrs: map[string]string{}, units: map[string]string{}}
	c.array("I", x)
	return c, nil
}

// array adds an array of numbers whose axes have no names.
func (c *content) array(name string, x *tensor.Tensor) {
	shape := x.Shape()
	if len(shape) == 0 {
		c.attrs[name] = strconv.FormatFloat(x.Float64s()[0], 'g', -1, 64)
		return
	}
	dims := []string{name}
	if len(shape) > 1 {
		dims = byRank(len(shape))
	}
	v := inMemory(name, dims, shape, false, x.Float64s())
	v.unnamed = len(shape) > 1
	c.vars = append(c.vars, v)
}

// openNPZ reads the arrays of an archive by their names, which are those of other forms: I, dI, mask, energy, q, chi, poni1.
func openNPZ(name string, s Settings) (*content, error) {
	f, err := foreign.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	z, err := foreign.Zip(f, info.Size())
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(z.File, func(m *zip.File) bool { return strings.HasSuffix(m.Name, ".npy") }) {
		return nil, defect(name, "give an archive of numpy.savez, or a store of Zarr called .zarr.zip", "the ZIP archive holds no arrays of NumPy")
	}
	all, err := tensor.ReadNPZ(f, info.Size())
	if err != nil {
		return nil, err
	}
	c := &content{attrs: map[string]string{}, units: map[string]string{}}
	for _, key := range slices.Sorted(maps.Keys(all)) {
		c.array(key, all[key])
	}
	return c, nil
}

// openTIFF reads the pages of a picture, one after another.
func openTIFF(name string, s Settings) (*content, error) {
	first, err := maskfile.ReadImage(name, maskfile.Settings{})
	if err != nil && !strings.Contains(err.Error(), "pages") {
		return nil, err
	}
	pages := 1
	page := func(n int) (*maskfile.Image, error) {
		return maskfile.ReadImage(name, maskfile.Settings{Key: strconv.Itoa(n)})
	}
	if err != nil {
		if first, err = page(1); err != nil {
			return nil, err
		}
		for {
			_, err := page(pages + 1)
			if err != nil && strings.Contains(err.Error(), "has no page") {
				break
			}
			if err != nil {
				return nil, defect(name, "keep the pages before it in a file of their own", "page %d cannot be read: %v", pages+1, err)
			}
			pages++
		}
	}
	c := &content{attrs: map[string]string{}, units: map[string]string{}}
	v := &variable{name: "I", dims: byRank(3), shape: []int{pages, first.Height, first.Width}, attrs: map[string]string{}, unnamed: true}
	v.blocks = func(need func(offset, shape []int) bool, visit func(offset, shape []int, x []float64) error) error {
		for i := range pages {
			offset, shape := []int{i, 0, 0}, []int{1, first.Height, first.Width}
			if !need(offset, shape) {
				continue
			}
			im, err := page(i + 1)
			if err != nil {
				return err
			}
			if im.Height != first.Height || im.Width != first.Width {
				return defect(name, "keep images of other sizes in other files", "page %d has %d x %d pixels, and page 1 %d x %d", i+1, im.Height, im.Width, first.Height, first.Width)
			}
			if err := visit(offset, shape, im.Values); err != nil {
				return err
			}
		}
		return nil
	}
	c.vars = append(c.vars, v)
	return c, nil
}

// energyIn reads a photon energy from the name of a file, such as iq_285.0eV.dat.
func energyIn(name string) (float64, bool) {
	m := energyInName.FindStringSubmatch(filepath.Base(name))
	if m == nil {
		return 0, false
	}
	x, err := strconv.ParseFloat(m[1], 64)
	return x, err == nil
}
