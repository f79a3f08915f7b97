// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rvspecfit

import (
	"path/filepath"

	"github.com/euryale-dev/euryale/data/torch"
	"github.com/euryale-dev/euryale/tensor"
)

// Save writes the files in rvspecfit's format into a folder: interp_<setup>.h5 with
// interpdat_<setup>.npy or the checkpoint, or specs_<setup>.h5 for a set of templates. Instead of the
// pickle of a triangulation it writes triang_<setup>.h5.
func (l *Library) Save(dir string) error {
	file := filepath.Join(dir, "interp_"+l.Setup+".h5")
	if err := l.check(file); err != nil {
		return err
	}
	d := l.header()
	switch {
	case l.Network != nil:
		l.Network.dict(l, d)
		if err := WriteState(filepath.Join(dir, filepath.Base(l.Network.File)), l.Network.State); err != nil {
			return err
		}
		return WriteDict(file, d)
	case l.Grid != nil:
		d["interpolation_type"] = "regulargrid"
		axes := &List{}
		for _, a := range l.Grid.Axes {
			axes.Items = append(axes.Items, numbers("ndarray", a, len(a)))
		}
		d["uvecs"], d["idgrid"], d["regular"] = axes, &Array{As: "ndarray", Numbers: l.Grid.IDs}, l.Grid.Regular
	case l.Triangulation != nil:
		d["interpolation_type"] = "triangulation"
		d["extraflags"] = numbers("ndarray", l.Triangulation.Flags, len(l.Triangulation.Flags))
		if err := WriteDict(filepath.Join(dir, "triang_"+l.Setup+".h5"), l.Triangulation.dict()); err != nil {
			return err
		}
	default:
		d["specs"] = &Array{As: "ndarray", Numbers: l.Spectra}
		d["file_ids"] = integers("ndarray", l.FileIDs)
		d["dbfile"] = ""
		return WriteDict(filepath.Join(dir, "specs_"+l.Setup+".h5"), d)
	}
	if err := writeNPY(filepath.Join(dir, "interpdat_"+l.Setup+".npy"), l.Spectra); err != nil {
		return err
	}
	return WriteDict(file, d)
}

// header returns the entries that all kinds of libraries have.
func (l *Library) header() Dict {
	d := Dict{"lam": numbers("ndarray", l.Lam, len(l.Lam)), "log_step": l.LogStep, "log_spec": l.LogSpec, "parnames": &Array{As: "list", Strings: l.ParNames},
		"revision": l.Revision, "git_rev": l.Software, "cmdline": l.Command}
	if l.Points != nil {
		d["vec"] = &Array{As: "ndarray", Numbers: l.Points}
	}
	if l.LogNorms != nil {
		d["lognorms"] = numbers("ndarray", l.LogNorms, len(l.LogNorms))
	}
	if l.Mapper.Mean == nil {
		d["mapper_module"], d["mapper_class_name"] = "rvspecfit.read_grid", "LogParamMapper"
		d["mapper_args"] = &List{Tuple: true, Items: []any{integers("list", l.Mapper.Log)}}
		return d
	}
	d["mapper_module"], d["mapper_class_name"] = "rvspecfit.nn.NNInterpolator", "Mapper"
	d["mapper_args"] = &List{Tuple: true, Items: []any{numbers("ndarray", l.Mapper.Mean, len(l.Mapper.Mean)), numbers("ndarray", l.Mapper.Std, len(l.Mapper.Std)), integers("list", l.Mapper.Log)}}
	return d
}

func integers(as string, v []int) *Array {
	wide := make([]int64, len(v))
	for i, x := range v {
		wide[i] = int64(x)
	}
	return numbers(as, wide, len(wide))
}

func (n *Network) dict(l *Library, d Dict) {
	d["interpolation_type"] = "generic"
	d["module"], d["class_name"] = softwareNetwork, "RVSInterpolator"
	d["class_kwargs"] = Dict{"indim": int64(n.InDim), "width": int64(n.Width), "nlayers": int64(n.Layers), "npc": int64(n.NPC), "npix": int64(len(l.Lam)), "withbn": n.BatchNorm}
	d["nn_file"], d["device"] = filepath.Base(n.File), "cpu"
	d["outside_class_name"] = "OutsideInterpolator"
	if n.Hull != nil {
		d["outside_kwargs"] = Dict{"pts": &Array{As: "ndarray", Numbers: n.Hull}}
	}
}

// WriteState writes a checkpoint that rvspecfit and torch.load open.
func WriteState(file string, state *torch.Dict) error {
	root := &torch.Dict{}
	root.Set("checkpoint_magic", checkpointMagic)
	root.Set("checkpoint_version", 1)
	root.Set("nn_arch_version", 1)
	root.Set("state_dict", state)
	return torch.Save(file, root)
}

// NewState makes the weights of a network from arrays of float32 or float64, given by name.
func NewState(names []string, arrays []*tensor.Tensor) (*torch.Dict, error) {
	state := &torch.Dict{Ordered: true}
	for i, a := range arrays {
		t, err := torch.NewTensor(append([]int{}, a.Shape()...), a.Compact().Data())
		if err != nil {
			return nil, err
		}
		state.Set(names[i], t)
	}
	return state, nil
}
