// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package scatter

import (
	"bytes"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/fits"
)

func init() {
	register("FITS of ALS 11.0.1.2", form{rank: 4, fits: func(name string, head []byte, folder bool) bool {
		return bytes.HasPrefix(head, []byte("SIMPLE  =")) || folder && len(fitsIn(name)) > 0
	}, open: openALS})
}

func fitsIn(folder string) (out []string) {
	for _, ending := range []string{"*.fits", "*.fit", "*.fts"} {
		m, _ := filepath.Glob(filepath.Join(folder, ending))
		out = append(out, m...)
	}
	slices.Sort(out)
	return out
}

// shutterALS is the time in s by which the shutter is open longer than the header says, and epuALS the number in the header for light that is
// polarised along x.
const (
	shutterALS = 0.002
	epuALS     = 100
)

// imageALS is an image with what its first header says.
type imageALS struct {
	file                                  string
	energy, polarization, exposure, i0    float64
	dark, hasPolarization, hasFlux, known bool
	height, width                         int
}

// openALS reads an image, or all of a folder: the image in the third part of the file, its header in the first. Images with the shutter
// held shut are darks, which are taken off the images of the same exposure.
func openALS(name string, s Settings) (*content, error) {
	files := fitsIn(name)
	if len(files) == 0 {
		files = []string{name}
	}
	var light, darks []imageALS
	for _, f := range files {
		im, err := headALS(f)
		if err != nil {
			return nil, err
		}
		if im.dark {
			darks = append(darks, im)
		} else {
			light = append(light, im)
		}
	}
	if len(light) == 0 {
		return nil, defect(name, "give the images as well", "all of its %d images are darks, taken with the shutter held shut", len(darks))
	}
	c := &content{attrs: map[string]string{}, units: map[string]string{}, rates: len(darks) > 0}
	if len(darks) > 0 {
		c.notes = append(c.notes, "darks are taken off the images: the numbers are no counts, and their noise is larger than that of counts")
	}
	var energies, polarizations, exposures, flux []float64
	for _, im := range light {
		if im.height != light[0].height || im.width != light[0].width {
			return nil, defect(im.file, "keep the images of other detectors in another folder", "it has %d x %d pixels, and %s %d x %d", im.height, im.width, filepath.Base(light[0].file), light[0].height, light[0].width)
		}
		energies, polarizations, exposures, flux = append(energies, im.energy), append(polarizations, im.polarization), append(exposures, im.exposure), append(flux, im.i0)
	}
	side := func(name string, x []float64, is bool, unit string) {
		if is {
			v := inMemory(name, []string{"system"}, []int{len(x)}, false, x)
			v.attrs["units"] = unit
			c.vars = append(c.vars, v)
		}
	}
	side("energy", energies, light[0].known, "eV")
	side("polarization", polarizations, light[0].hasPolarization, "degrees")
	side("exposure", exposures, exposures[0] > 0, "s")
	side("i0", flux, light[0].hasFlux, "")
	v := &variable{name: "I", dims: []string{"system", "pix_y", "pix_x"}, shape: []int{len(light), light[0].height, light[0].width}, attrs: map[string]string{}, whole: len(darks) == 0}
	v.blocks = func(need func(offset, shape []int) bool, visit func(offset, shape []int, x []float64) error) error {
		return blocksALS(light, darks, need, visit)
	}
	c.vars = append(c.vars, v)
	return c, nil
}

// headALS reads the headers of a file.
func headALS(file string) (im imageALS, err error) {
	f, err := fits.Open(file)
	if err != nil {
		return im, err
	}
	defer f.Close()
	hdus := f.HDUs()
	h := hdus[0].Header
	at, err := imageOf(f, file)
	if err != nil {
		return im, err
	}
	shape := at.Shape()
	im = imageALS{file: file, height: shape[0], width: shape[1]}
	number := func(keys ...string) (float64, bool) {
		for _, k := range keys {
			for _, h := range []*fits.Header{h, hdus[len(hdus)-1].Header} {
				if x, ok := h.Float(k); ok {
					return x, true
				}
			}
		}
		return 0, false
	}
	im.energy, im.known = number("BEAMLINE ENERGY", "ENERGY", "MONO ENERGY")
	if im.polarization, im.hasPolarization = number("EPU POLARIZATION"); im.hasPolarization {
		im.polarization -= epuALS
	}
	if t, ok := number("EXPOSURE", "EXPTIME"); ok {
		im.exposure = t + shutterALS
	}
	im.i0, im.hasFlux = number("AI 3 IZERO")
	for _, k := range []string{"CCD SHUTTER INHIBIT", "CCD CAMERA SHUTTER INHIBIT"} {
		x, _ := number(k)
		b, _ := h.Bool(k)
		im.dark = im.dark || x == 1 || b
	}
	return im, nil
}

// imageOf returns the third part of a file if that is an image, or the only image.
func imageOf(f *fits.File, file string) (*fits.Image, error) {
	hdus := f.HDUs()
	order := slices.Clone(hdus)
	if len(hdus) > 2 {
		order = append([]*fits.HDU{hdus[2]}, hdus...)
	}
	for _, h := range order {
		if im, err := h.Image(); err == nil && len(im.Shape()) == 2 {
			return im, nil
		}
	}
	return nil, defect(file, "give files with an image of rows and columns", "none of its %d parts is an image of two axes", len(hdus))
}

func readALS(file string) ([]float64, error) {
	f, err := fits.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	im, err := imageOf(f, file)
	if err != nil {
		return nil, err
	}
	return im.Float64s()
}

// blocksALS reads one image after another, less the mean of the darks of its exposure.
func blocksALS(light, darks []imageALS, need func(offset, shape []int) bool, visit func(offset, shape []int, x []float64) error) error {
	means := map[float64][]float64{}
	for i, im := range light {
		offset, shape := []int{i, 0, 0}, []int{1, im.height, im.width}
		if !need(offset, shape) {
			continue
		}
		x, err := readALS(im.file)
		if err != nil {
			return err
		}
		if len(darks) > 0 {
			if means[im.exposure] == nil {
				if means[im.exposure], err = meanDark(darks, im); err != nil {
					return err
				}
			}
			for k, d := range means[im.exposure] {
				x[k] -= d
			}
		}
		if err := visit(offset, shape, x); err != nil {
			return err
		}
	}
	return nil
}

// meanDark averages the darks of the exposure of an image.
func meanDark(darks []imageALS, im imageALS) ([]float64, error) {
	sum, n := make([]float64, im.height*im.width), 0.0
	var exposures []string
	for _, d := range darks {
		exposures = append(exposures, count(int(1000*d.exposure+0.5), "ms"))
		if d.height != im.height || d.width != im.width || d.exposure-im.exposure > 1e-3 || im.exposure-d.exposure > 1e-3 {
			continue
		}
		x, err := readALS(d.file)
		if err != nil {
			return nil, err
		}
		for k, v := range x {
			sum[k] += v
		}
		n++
	}
	if n == 0 {
		return nil, defect(im.file, "take darks of the same exposure, or leave the darks out of the folder", "there is no dark with its exposure of %g s and its shape: the darks have %s", im.exposure, strings.Join(slices.Compact(exposures), ", "))
	}
	for k := range sum {
		sum[k] /= n
	}
	return sum, nil
}
