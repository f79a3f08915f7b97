// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rvspecfit

import (
	"io"
	"path/filepath"
	"slices"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor"
)

// CCF holds the templates of one arm for cross-correlation.
type CCF struct {
	Setup string
	// Continuum reports whether the spectra were divided by the continuum.
	Continuum bool
	LogL0     float64 // natural logarithm of the first wavelength in Angstrom
	LogL1     float64 // natural logarithm of the last wavelength in Angstrom
	Points    int     // number of pixels of a template, a power of two
	Step      float64 // distance between the nodes of the continuum in km/s; 0 without a continuum
	Nodes     int     // largest number of nodes of the continuum
	ParNames  []string
	Params    *tensor.Tensor // physical parameters, (n, ndim)
	VSini     []float64      // projected rotational velocities in km/s; -1 for none
	Revision  string
	Command   string

	FFT       *tensor.Tensor // transforms of the templates, (n, Points/2+1), complex128; nil if their file is missing
	FFTSquare *tensor.Tensor // transforms of the squared templates
	Models    *tensor.Tensor // spectra of the templates, (n, Points), float32 or float64; nil if their file is missing
}

func ccfFiles(dir, setup string, continuum bool) (info, data, models string) {
	pre := "ccf_"
	if !continuum {
		pre = "ccf_nocont_"
	}
	post := setup
	if !continuum {
		post = "nocont_" + setup
	}
	return filepath.Join(dir, pre+setup+".h5"), filepath.Join(dir, "ccfdat_"+post+".npz"), filepath.Join(dir, "ccfmod_"+post+".npy")
}

// LoadCCF reads ccf_<setup>.h5, or ccf_nocont_<setup>.h5, and the files ccfdat and ccfmod if they
// exist.
func LoadCCF(dir, setup string, continuum bool) (*CCF, error) {
	file, data, models := ccfFiles(dir, setup, continuum)
	d, err := ReadDict(file)
	if err != nil {
		return nil, err
	}
	c := &CCF{Setup: setup}
	if err := c.read(file, d); err != nil {
		return nil, err
	}
	if exists(models) {
		if c.Models, err = readNPY(models); err != nil {
			return nil, err
		}
	}
	if exists(data) {
		if err := c.readTransforms(data); err != nil {
			return nil, err
		}
	}
	return c, c.check(file)
}

func (c *CCF) read(file string, d Dict) error {
	conf, ok := d["ccfconf"].(Dict)
	if !ok {
		return d.missing(file, "ccfconf", "a dictionary")
	}
	n, ok := conf["npoints"].(int64)
	if !ok || n < 2 || n > 1<<28 {
		return conf.missing(file, "ccfconf/npoints", "the number of pixels, from 2 to 2^28")
	}
	c.Points = int(n)
	for key, to := range map[string]*float64{"logl0": &c.LogL0, "logl1": &c.LogL1} {
		if *to, ok = conf[key].(float64); !ok {
			return conf.missing(file, "ccfconf/"+key, "a number")
		}
	}
	c.Continuum, _ = conf["continuum"].(bool)
	switch v := conf["splinestep"].(type) {
	case float64:
		c.Step = v
	case int64:
		c.Step = float64(v)
	}
	if n, ok := conf["maxcontpts"].(int64); ok {
		c.Nodes = int(n)
	}
	var err error
	if c.ParNames, err = d.strings(file, "parnames"); err != nil {
		return err
	}
	a, ok := d["params"].(*Array)
	if !ok || a.Numbers == nil || len(a.Numbers.Shape()) != 2 {
		return d.missing(file, "params", "an array of two axes: a row of parameters for each template")
	}
	c.Params = a.Numbers.Convert(tensor.Float64).Compact()
	switch v := d["vsinis"].(type) {
	case *Array:
		if c.VSini, _, err = d.floats(file, "vsinis", 1); err != nil {
			return err
		}
	case *List: // None among numbers
		for _, x := range v.Items {
			s, ok := x.(float64)
			if !ok {
				s = -1
			}
			c.VSini = append(c.VSini, s)
		}
	}
	c.Revision, _ = d["revision"].(string)
	c.Command, _ = d["cmdline"].(string)
	return nil
}

func (c *CCF) readTransforms(name string) error {
	f, err := foreign.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	all, err := tensor.ReadNPZ(f, info.Size(), "fft", "fft2")
	if err != nil {
		return &FormatError{Format: "rvspecfit", File: name, What: "the arrays cannot be read", Err: err, Try: "copy the file again, or make it again with rvs_make_ccf"}
	}
	c.FFT, c.FFTSquare = all["fft"], all["fft2"]
	if c.FFT == nil || c.FFTSquare == nil {
		return &FormatError{Format: "rvspecfit", File: name, What: "the file lacks the array fft or the array fft2", Err: ErrIncomplete, Try: "make it again with rvs_make_ccf"}
	}
	return nil
}

func (c *CCF) check(file string) error {
	n := c.Params.Shape()[0]
	if c.Params.Shape()[1] != len(c.ParNames) || c.VSini != nil && len(c.VSini) != n {
		return bad(file, "params", "the array has the shape %v, but there are %d names of parameters and %d rotational velocities: want a row for each template and a column for each parameter", c.Params.Shape(), len(c.ParNames), len(c.VSini))
	}
	for key, part := range map[string]struct {
		t     *tensor.Tensor
		shape []int
	}{"fft": {c.FFT, []int{n, c.Points/2 + 1}}, "fft2": {c.FFTSquare, []int{n, c.Points/2 + 1}}, "ccfmod": {c.Models, []int{n, c.Points}}} {
		if part.t != nil && !slices.Equal([]int(part.t.Shape()), part.shape) {
			return bad(file, key, "the array has the shape %v: want %v", part.t.Shape(), part.shape)
		}
	}
	return nil
}

// Save writes the files in rvspecfit's format into a folder.
func (c *CCF) Save(dir string) error {
	file, data, models := ccfFiles(dir, c.Setup, c.Continuum)
	if err := c.check(file); err != nil {
		return err
	}
	if c.Models != nil {
		if err := writeNPY(models, c.Models); err != nil {
			return err
		}
	}
	if c.FFT != nil && c.FFTSquare != nil {
		err := atomicfile.Write(data, true, func(w io.Writer) error {
			return tensor.WriteNPZ(w, map[string]*tensor.Tensor{"fft": c.FFT, "fft2": c.FFTSquare})
		})
		if err != nil {
			return err
		}
	}
	return WriteDict(file, c.dict())
}

func (c *CCF) dict() Dict {
	conf := Dict{"continuum": c.Continuum, "logl0": c.LogL0, "logl1": c.LogL1, "npoints": int64(c.Points), "splinestep": c.Step, "maxcontpts": int64(c.Nodes)}
	if c.Step == 0 {
		conf["splinestep"] = nil
	}
	d := Dict{"ccfconf": conf, "params": &Array{As: "ndarray", Numbers: c.Params}, "parnames": &Array{As: "list", Strings: c.ParNames}, "revision": c.Revision, "cmdline": c.Command}
	if !slices.Contains(c.VSini, -1) {
		d["vsinis"] = numbers("list", c.VSini, len(c.VSini))
		return d
	}
	l := &List{}
	for _, v := range c.VSini {
		if v < 0 {
			l.Items = append(l.Items, nil)
		} else {
			l.Items = append(l.Items, v)
		}
	}
	d["vsinis"] = l
	return d
}
