// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rvspecfit

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/data/torch"
	"github.com/euryale-dev/euryale/tensor"
)

// OpenVersion is the version of the open format.
const OpenVersion = 1

const openFormat = "euryale-template-library"

// WriteOpen writes all arms of a library, with or without templates for cross-correlation, as one HDF5
// file. The file contains no pickles, and all numbers are plain datasets.
func WriteOpen(name string, arms []*Library, ccfs []*CCF) error {
	root := Dict{"format": openFormat, "format_version": int64(OpenVersion)}
	groups := Dict{}
	for _, l := range arms {
		if err := l.check(name); err != nil {
			return err
		}
		if _, ok := groups[l.Setup]; ok || l.Setup == "" {
			return bad(name, l.Setup, "the arm has no name, or another one has the same: give every Library a Setup of its own")
		}
		d, err := l.open()
		if err != nil {
			return err
		}
		groups[l.Setup] = d
	}
	root["arms"] = groups
	corr := Dict{}
	for _, c := range ccfs {
		if err := c.check(name); err != nil {
			return err
		}
		d := c.dict()
		for key, t := range map[string]*tensor.Tensor{"fft": c.FFT, "fft2": c.FFTSquare, "models": c.Models} {
			if t != nil {
				d[key] = &Array{As: "ndarray", Numbers: t}
			}
		}
		kind := map[bool]string{true: "continuum", false: "nocontinuum"}[c.Continuum]
		arm, ok := corr[c.Setup].(Dict)
		if !ok {
			arm = Dict{}
			corr[c.Setup] = arm
		}
		arm[kind] = d
	}
	root["ccf"] = corr
	return WriteDict(name, root)
}

// open returns the group of an arm.
func (l *Library) open() (Dict, error) {
	d := l.header()
	if l.Spectra != nil {
		d["spectra"] = &Array{As: "ndarray", Numbers: l.Spectra}
	}
	if len(l.FileIDs) > 0 {
		d["file_ids"] = integers("ndarray", l.FileIDs)
	}
	switch {
	case l.Grid != nil:
		axes := Dict{}
		for i, a := range l.Grid.Axes {
			axes[fmt.Sprint(i)] = numbers("ndarray", a, len(a))
		}
		d["grid"] = Dict{"axes": axes, "ids": &Array{As: "ndarray", Numbers: l.Grid.IDs}, "regular": l.Grid.Regular}
	case l.Triangulation != nil:
		d["triangulation"] = l.Triangulation.dict()
	case l.Network != nil:
		n := l.Network
		weights := Dict{}
		for _, key := range n.State.Keys() {
			t, err := n.State.Tensor(key)
			if err != nil {
				return nil, err
			}
			var data any
			switch t.Type() {
			case "float64":
				data, err = t.Float64s()
			case "int64":
				data, err = t.Int64s()
			default:
				data, err = t.Float32s()
			}
			if err != nil {
				return nil, err
			}
			weights[key] = numbers("ndarray", data, t.Shape()...)
		}
		g := Dict{"indim": int64(n.InDim), "width": int64(n.Width), "nlayers": int64(n.Layers), "npc": int64(n.NPC), "withbn": n.BatchNorm, "weights": weights,
			"order": &Array{As: "list", Strings: n.State.Keys()}, "file": n.File}
		if n.Hull != nil {
			g["hull"] = &Array{As: "ndarray", Numbers: n.Hull}
		}
		d["network"] = g
	}
	return d, nil
}

// ReadOpen reads a file written by WriteOpen. Arms are sorted by name.
func ReadOpen(name string) ([]*Library, []*CCF, error) {
	root, err := ReadDict(name)
	if err != nil {
		return nil, nil, err
	}
	format, _ := root["format"].(string)
	version, _ := root["format_version"].(int64)
	groups, ok := root["arms"].(Dict)
	if format != openFormat || version != OpenVersion || !ok {
		return nil, nil, bad(name, "", "the format is %q, version %d, or the file has no arms: want %q, version %d, as WriteOpen writes it", format, version, openFormat, OpenVersion)
	}
	var arms []*Library
	for _, setup := range sortedKeys(groups) {
		d, ok := groups[setup].(Dict)
		if !ok {
			return nil, nil, groups.missing(name, setup, "a group of datasets")
		}
		l, err := readArm(name, setup, d)
		if err != nil {
			return nil, nil, err
		}
		arms = append(arms, l)
	}
	var ccfs []*CCF
	corr, _ := root["ccf"].(Dict)
	for _, setup := range sortedKeys(corr) {
		kinds, _ := corr[setup].(Dict)
		for _, kind := range sortedKeys(kinds) {
			d, ok := kinds[kind].(Dict)
			if !ok {
				return nil, nil, kinds.missing(name, kind, "a group of datasets")
			}
			c := &CCF{Setup: setup}
			if err := c.read(name, d); err != nil {
				return nil, nil, err
			}
			for key, to := range map[string]**tensor.Tensor{"fft": &c.FFT, "fft2": &c.FFTSquare, "models": &c.Models} {
				if a, ok := d[key].(*Array); ok && a.Numbers != nil {
					*to = a.Numbers
				}
			}
			if err := c.check(name); err != nil {
				return nil, nil, err
			}
			ccfs = append(ccfs, c)
		}
	}
	return arms, ccfs, nil
}

func sortedKeys(d Dict) []string {
	var keys []string
	for k := range d {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func readArm(name, setup string, d Dict) (*Library, error) {
	l, err := header(name, setup, d)
	if err != nil {
		return nil, err
	}
	if a, ok := d["spectra"].(*Array); ok {
		l.Spectra = a.Numbers
	}
	if _, ok := d["file_ids"]; ok {
		if l.FileIDs, _, err = d.ints(name, "file_ids", 1); err != nil {
			return nil, err
		}
	}
	if g, ok := d["grid"].(Dict); ok {
		axes, _ := g["axes"].(Dict)
		list := &List{}
		for i := range len(axes) {
			list.Items = append(list.Items, axes[fmt.Sprint(i)])
		}
		if err := l.grid(name, Dict{"uvecs": list, "idgrid": g["ids"], "regular": g["regular"]}); err != nil {
			return nil, err
		}
	}
	if g, ok := d["triangulation"].(Dict); ok {
		if l.Triangulation, err = triangulationOf(name, g); err != nil {
			return nil, err
		}
	}
	if g, ok := d["network"].(Dict); ok {
		if l.Network, err = readNetwork(name, g, len(l.Lam)); err != nil {
			return nil, err
		}
	}
	return l, l.check(name)
}

func readNetwork(name string, g Dict, pixels int) (*Network, error) {
	n := &Network{State: &torch.Dict{Ordered: true}}
	for key, to := range map[string]*int{"indim": &n.InDim, "width": &n.Width, "nlayers": &n.Layers, "npc": &n.NPC} {
		v, ok := g[key].(int64)
		if !ok || v < 0 || v > 1<<24 {
			return nil, g.missing(name, key, "a whole number from 0 to 2^24")
		}
		*to = int(v)
	}
	n.BatchNorm, _ = g["withbn"].(bool)
	n.File, _ = g["file"].(string)
	if a, ok := g["hull"].(*Array); ok && a.Numbers != nil && len(a.Numbers.Shape()) == 2 {
		n.Hull = a.Numbers.Convert(tensor.Float64)
	}
	weights, ok := g["weights"].(Dict)
	if !ok {
		return nil, g.missing(name, "weights", "a group of datasets")
	}
	order, err := g.strings(name, "order")
	if err != nil {
		return nil, err
	}
	for _, key := range order {
		a, ok := weights[key].(*Array)
		if !ok || a.Numbers == nil {
			return nil, weights.missing(name, key, "an array of weights")
		}
		t, err := torch.NewTensor(append([]int{}, a.Numbers.Shape()...), a.Numbers.Compact().Data())
		if err != nil {
			return nil, err
		}
		n.State.Set(key, t)
	}
	return n, n.check(name, pixels)
}
