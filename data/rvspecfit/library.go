// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rvspecfit

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/euryale-dev/euryale/data/torch"
	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor"
)

// Library predicts the spectra of one arm. One of Grid, Triangulation and Network is set. If none is,
// the Library is a set of templates, as written by rvs_make_interpol.
type Library struct {
	Setup string    // name of the arm, such as desi_b
	Lam   []float64 // wavelengths in Angstrom
	// LogStep reports whether the logarithms of Lam are equally spaced.
	LogStep bool
	// LogSpec reports whether spectra are natural logarithms.
	LogSpec  bool
	ParNames []string // names of the parameters, such as teff, logg, feh, alpha
	Mapper   Mapper
	Revision string // version of the library
	Software string // version of the program that made it
	Command  string // command line that made it

	// Points holds the parameters of the templates, (ndim, nspec): mapped ones, except in a set of
	// templates, where they are physical.
	Points   *tensor.Tensor
	LogNorms []float64      // logarithms of the normalisations of the templates
	FileIDs  []int          // numbers of the templates in the database
	Spectra  *tensor.Tensor // spectra of the templates, (nspec, len(Lam)), float32 or float64; nil for a network

	Grid          *Grid
	Triangulation *Triangulation
	Network       *Network
}

// Mapper converts the parameters of a star into those of the interpolation: it takes the logarithm to
// base 10 of some, and then (x - Mean)/Std if those are set.
type Mapper struct {
	Log  []int // indices of the parameters whose logarithm is taken
	Mean []float64
	Std  []float64
}

// Grid is a regular grid of templates.
type Grid struct {
	Axes    [][]float64    // mapped parameters along each axis
	IDs     *tensor.Tensor // number of the template at each node, int64, -1 for none
	Regular bool
}

// Network is a neural network with the weights of a checkpoint.
type Network struct {
	// State holds the weights by name, such as model.lin_0.weight, with shapes (out, in).
	State     *torch.Dict
	InDim     int // number of parameters
	Width     int // width of the hidden layers
	Layers    int // number of hidden layers between the first and the last
	NPC       int // width of the last hidden layer
	BatchNorm bool
	Hull      *tensor.Tensor // points whose convex hulls bound the library, (n, ndim), mapped
	File      string         // name of the checkpoint
}

const softwareNetwork = "rvspecfit.nn.RVSInterpolator"

// Load reads the interpolator of a setup from a folder of rvspecfit: interp_<setup>.h5 and the files
// that it needs, which are interpdat_<setup>.npy, triang_<setup>.h5 or the checkpoint that it names.
func Load(dir, setup string) (*Library, error) {
	file := filepath.Join(dir, "interp_"+setup+".h5")
	d, err := ReadDict(file)
	if err != nil {
		return nil, err
	}
	l, err := header(file, setup, d)
	if err != nil {
		return nil, err
	}
	kind, err := d.text(file, "interpolation_type")
	if err != nil {
		return nil, err
	}
	switch kind {
	case "generic":
		err = l.network(dir, file, d)
	case "regulargrid", "triangulation":
		if kind == "regulargrid" {
			err = l.grid(file, d)
		} else {
			err = l.triangulation(dir, file, d)
		}
		if err == nil {
			l.Spectra, err = readNPY(filepath.Join(dir, "interpdat_"+setup+".npy"))
		}
	default:
		err = bad(file, "interpolation_type", "it is %q: want generic, regulargrid or triangulation", kind)
	}
	if err != nil {
		return nil, err
	}
	return l, l.check(file)
}

// LoadTemplates reads templates from a file specs_<setup>.h5.
func LoadTemplates(file, setup string) (*Library, error) {
	d, err := ReadDict(file)
	if err != nil {
		return nil, err
	}
	l, err := header(file, setup, d)
	if err != nil {
		return nil, err
	}
	a, ok := d["specs"].(*Array)
	if !ok || a.Numbers == nil {
		return nil, d.missing(file, "specs", "an array with a row for each template")
	}
	l.Spectra = a.Numbers
	if l.FileIDs, _, err = d.ints(file, "file_ids", 1); err != nil {
		return nil, err
	}
	return l, l.check(file)
}

// header reads what all kinds of libraries have.
func header(file, setup string, d Dict) (*Library, error) {
	l := &Library{Setup: setup, LogSpec: true}
	var err error
	if l.Lam, _, err = d.floats(file, "lam", 1); err != nil {
		return nil, err
	}
	if l.ParNames, err = d.strings(file, "parnames"); err != nil {
		return nil, err
	}
	for key, to := range map[string]*bool{"log_step": &l.LogStep, "log_spec": &l.LogSpec} {
		if v, ok := d[key].(bool); ok {
			*to = v
		} else if key == "log_step" {
			return nil, d.missing(file, key, "true or false")
		}
	}
	l.Revision, _ = d["revision"].(string)
	l.Software, _ = d["git_rev"].(string)
	l.Command, _ = d["cmdline"].(string)
	if err := l.Mapper.read(file, d); err != nil {
		return nil, err
	}
	if a, ok := d["vec"].(*Array); ok && a.Numbers != nil {
		l.Points = a.Numbers.Convert(tensor.Float64)
	}
	if _, ok := d["lognorms"]; ok {
		if l.LogNorms, _, err = d.floats(file, "lognorms", 1); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// read finds the mapper: LogParamMapper(indices), or Mapper(mean, std, indices) of networks.
func (m *Mapper) read(file string, d Dict) error {
	class, err := d.text(file, "mapper_class_name")
	if err != nil {
		return err
	}
	wrong := bad(file, "mapper_args", "the arguments do not fit the class %s: make the library again with rvspecfit", class)
	list := func(v any) ([]float64, bool) {
		a, ok := v.(*Array)
		if !ok || a.Numbers == nil {
			return nil, false
		}
		return a.Numbers.Convert(tensor.Float64).Float64s(), true
	}
	var indices []float64
	ok := true
	switch class {
	case "LogParamMapper":
		switch v := d["mapper_args"].(type) {
		case *Array:
			indices, ok = list(v)
		case *List:
			ok = len(v.Items) == 1
			if ok {
				indices, ok = list(v.Items[0])
			}
		default:
			ok = false
		}
	case "Mapper":
		v, isList := d["mapper_args"].(*List)
		if !isList || len(v.Items) != 3 {
			return wrong
		}
		var ok1, ok2 bool
		m.Mean, ok1 = list(v.Items[0])
		m.Std, ok2 = list(v.Items[1])
		indices, ok = list(v.Items[2])
		ok = ok && ok1 && ok2
	default:
		return bad(file, "mapper_class_name", "it is %q: want LogParamMapper or Mapper", class)
	}
	for _, x := range indices {
		if x != float64(int(x)) || x < 0 {
			ok = false
		}
		m.Log = append(m.Log, int(x))
	}
	if !ok {
		return wrong
	}
	return nil
}

func (l *Library) grid(file string, d Dict) error {
	g := &Grid{}
	switch v := d["uvecs"].(type) {
	case *List:
		for i := range v.Items {
			a, ok := v.Items[i].(*Array)
			if !ok || a.Numbers == nil || len(a.Numbers.Shape()) != 1 {
				return bad(file, "uvecs", "axis %d of the grid is %s: want a list of numbers", i+1, described(v.Items[i]))
			}
			g.Axes = append(g.Axes, a.Numbers.Convert(tensor.Float64).Float64s())
		}
	case *Array: // axes of equal length
		x, shape, err := d.floats(file, "uvecs", 2)
		if err != nil {
			return err
		}
		for i := range shape[0] {
			g.Axes = append(g.Axes, x[i*shape[1]:(i+1)*shape[1]])
		}
	default:
		return d.missing(file, "uvecs", "a list with an array of parameters for each axis of the grid")
	}
	a, ok := d["idgrid"].(*Array)
	if !ok || a.Numbers == nil {
		return d.missing(file, "idgrid", "an array with the number of a template for each node of the grid")
	}
	g.IDs = a.Numbers.Convert(tensor.Int64)
	g.Regular, _ = d["regular"].(bool)
	l.Grid = g
	return nil
}

func (l *Library) network(dir, file string, d Dict) error {
	n := &Network{}
	module, _ := d["module"].(string)
	if class, _ := d["class_name"].(string); module != softwareNetwork || class != "RVSInterpolator" {
		return bad(file, "class_name", "the interpolator is the class %s of the module %s, which cannot be read: want RVSInterpolator of rvspecfit.nn.RVSInterpolator", class, module)
	}
	kw, ok := d["class_kwargs"].(Dict)
	if !ok {
		return d.missing(file, "class_kwargs", "a dictionary")
	}
	for key, to := range map[string]*int{"indim": &n.InDim, "width": &n.Width, "nlayers": &n.Layers, "npc": &n.NPC} {
		v, ok := kw[key].(int64)
		if !ok || v < 0 || v > 1<<24 {
			return kw.missing(file, "class_kwargs/"+key, "a whole number from 0 to 2^24")
		}
		*to = int(v)
	}
	n.BatchNorm, _ = kw["withbn"].(bool)
	if out, ok := d["outside_kwargs"].(Dict); ok {
		a, ok := out["pts"].(*Array)
		if !ok || a.Numbers == nil || len(a.Numbers.Shape()) != 2 {
			return out.missing(file, "pts", "an array of two axes: a row of parameters for each point")
		}
		n.Hull = a.Numbers.Convert(tensor.Float64)
	}
	var err error
	if n.File, err = d.text(file, "nn_file"); err != nil {
		return err
	}
	if filepath.Base(n.File) != n.File {
		return bad(file, "nn_file", "the checkpoint %s is not in the folder of the library: put it there, and name it without a folder", n.File)
	}
	if n.State, err = ReadState(filepath.Join(dir, n.File)); err != nil {
		return err
	}
	l.Network = n
	return n.check(file, len(l.Lam))
}

// ReadState reads the weights of a network from a checkpoint of rvspecfit or from a bare state_dict.
func ReadState(file string) (*torch.Dict, error) {
	root, err := torch.Load(file)
	if err != nil {
		return nil, err
	}
	d, ok := root.(*torch.Dict)
	if !ok {
		return nil, bad(file, "", "the checkpoint holds a %T instead of a dictionary of weights: save it with torch.save(model.state_dict(), path)", root)
	}
	magic, ok := d.Get("checkpoint_magic").(string)
	if !ok {
		return d, nil
	}
	version, _ := d.Get("checkpoint_version").(int64)
	arch, _ := d.Get("nn_arch_version").(int64)
	state, ok := d.Get("state_dict").(*torch.Dict)
	if magic != checkpointMagic || version != 1 || arch != 1 || !ok {
		return nil, bad(file, "", "the checkpoint is of the kind %q, version %d, with architecture %d: want %q, version 1 and architecture 1, and a state_dict", magic, version, arch, checkpointMagic)
	}
	return state, nil
}

const checkpointMagic = "rvspecfit.nn_interpolator"

// check compares the shapes of all weights with the network's sizes.
func (n *Network) check(file string, pixels int) error {
	in := n.InDim
	layer := func(name string, out int) error {
		for _, part := range []struct {
			key   string
			shape []int
		}{{name + ".weight", []int{out, in}}, {name + ".bias", []int{out}}} {
			t, err := n.State.Tensor(part.key)
			if err != nil {
				return &FormatError{Format: "rvspecfit", File: file, Place: n.File, What: "the checkpoint does not fit the library", Err: err, Try: "use the checkpoint that was made with the library"}
			}
			if !slices.Equal(t.Shape(), part.shape) {
				return bad(file, part.key, "the weights have the shape %v, but the library says %v: use the checkpoint that was made with it", t.Shape(), part.shape)
			}
		}
		in = out
		return nil
	}
	for i := range n.Layers + 2 {
		out := n.Width
		if i == n.Layers+1 {
			out = n.NPC
		}
		if err := layer(fmt.Sprintf("model.lin_%d", i), out); err != nil {
			return err
		}
	}
	return layer("pc_layer", pixels)
}

// check compares the shapes of a library's parts.
func (l *Library) check(file string) error {
	ndim := len(l.ParNames)
	if len(l.Lam) < 2 {
		return bad(file, "lam", "the library has too few wavelengths, %d: want at least 2", len(l.Lam))
	}
	for i, x := range l.Lam {
		if !(x > 0) || i > 0 && x <= l.Lam[i-1] {
			return bad(file, "lam", "wavelength %d, counted from 0, is %g: want increasing positive numbers, in Angstrom", i, x)
		}
	}
	for _, i := range l.Mapper.Log {
		if i >= ndim {
			return bad(file, "mapper_args", "the logarithm of parameter %d, counted from 0, is to be taken, but there are %d parameters: make the library again", i, ndim)
		}
	}
	if m := l.Mapper; (m.Mean != nil || m.Std != nil) && (len(m.Mean) != ndim || len(m.Std) != ndim) {
		return bad(file, "mapper_args", "there are %d means and %d standard deviations, but %d parameters: want one of each for every parameter", len(m.Mean), len(m.Std), ndim)
	}
	if l.Network != nil {
		if l.Network.InDim != ndim || l.Network.Hull != nil && l.Network.Hull.Shape()[1] != ndim {
			return bad(file, "class_kwargs/indim", "the network and its hull must take the %[2]d parameters of the library, but the network takes %[1]d: use the network that was made with the library", l.Network.InDim, ndim)
		}
		return nil
	}
	if l.Spectra == nil || len(l.Spectra.Shape()) != 2 || l.Spectra.Shape()[1] != len(l.Lam) {
		return bad(file, "specs", "the spectra are missing, or do not have one pixel for each of the %d wavelengths: make the library again", len(l.Lam))
	}
	n := l.Spectra.Shape()[0]
	if l.Triangulation != nil {
		return l.Triangulation.check(file, ndim, n)
	}
	if l.Points == nil || !slices.Equal([]int(l.Points.Shape()), []int{ndim, n}) {
		return bad(file, "vec", "the parameters of the %[1]d templates are missing or have another shape: want %[2]d rows of %[1]d columns", n, ndim)
	}
	if len(l.LogNorms) != n && l.LogNorms != nil {
		return bad(file, "lognorms", "there are %d normalisations, but %d templates: want one for each", len(l.LogNorms), n)
	}
	if l.Grid == nil {
		return nil
	}
	var shape []int
	for _, a := range l.Grid.Axes {
		shape = append(shape, len(a))
		if !slices.IsSorted(a) || len(a) < 1 {
			return bad(file, "uvecs", "axis %d of the grid has %d nodes and is empty or not sorted: want at least one, in ascending order", len(shape), len(a))
		}
	}
	if !slices.Equal([]int(l.Grid.IDs.Shape()), shape) || len(shape) != ndim {
		return bad(file, "idgrid", "the array has the shape %v, but the axes of the grid have %v nodes, and there are %d parameters: make the library again", l.Grid.IDs.Shape(), shape, ndim)
	}
	for i, id := range l.Grid.IDs.Data().([]int64) {
		if id < -1 || id >= int64(n) {
			return bad(file, "idgrid", "node %d of the grid refers to template %d, counted from 0, but there are %d templates: make the library again", i, id, n)
		}
	}
	return nil
}

func readNPY(name string) (*tensor.Tensor, error) {
	f, err := foreign.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	t, err := tensor.ReadNPY(f)
	if err != nil {
		return nil, &FormatError{Format: "rvspecfit", File: name, What: "the array cannot be read", Err: err, Try: "copy the file again, or make the library again"}
	}
	return t.Compact(), nil
}

func writeNPY(name string, t *tensor.Tensor) error {
	return atomicfile.Write(name, true, func(w io.Writer) error { return t.WriteNPY(w) })
}

// exists reports whether there is a file.
func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}
