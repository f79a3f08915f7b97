// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package idata

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/xarray"
	"github.com/euryale-dev/euryale/tensor"
)

// Open reads the file with the given name.
func Open(name string) (*tensor.DataTree, error) {
	f, err := foreign.Open(name, ".json")
	if err != nil {
		return nil, fmt.Errorf("idata: %w", err)
	}
	defer f.Close()
	return Read(f, name)
}

// Read reads a tree; name appears in errors. It uses at most about 50 times the memory of
// the data in r.
func Read(r io.Reader, name string) (*tensor.DataTree, error) {
	b, err := io.ReadAll(r)
	if err != nil {
		return nil, fmt.Errorf("idata: %w", err)
	}
	if what := foreign.NotText(b); what != "" {
		return nil, &FormatError{Format: "idata", File: name, What: "the file is not JSON but " + what}
	}
	t, err := parse(foreign.Unmarked(b))
	var e *FormatError
	if errors.As(err, &e) {
		e.File = name
		return nil, e
	}
	if err != nil {
		return nil, &FormatError{Format: "idata", File: name, What: "the variables do not fit together", Err: err}
	}
	return t, nil
}

// content is the content of the file before its labels are assigned to the arrays.
type content struct {
	groups []group
	coords []tensor.Variable
	dims   map[string][]string          // names of axes by variable, after chain and draw
	attrs  map[string]map[string]string // attributes by group; the key "" stands for the tree
}

type group struct {
	name string
	vars []tensor.Variable
}

func parse(b []byte) (*tensor.DataTree, error) {
	p := &parser{b: b}
	c := &content{dims: map[string][]string{}, attrs: map[string]map[string]string{}}
	if err := p.object(func(key string) error { return c.take(p, key) }); err != nil {
		return nil, err
	}
	if p.peek() != 0 || p.at < len(b) {
		return nil, p.fault("found %s after the end of the object, want nothing", p.next())
	}
	t := tensor.NewDataTree()
	for k, v := range c.attrs[""] {
		t.Attrs[k] = v
	}
	for _, g := range c.groups {
		d, err := c.dataset(g)
		if err != nil {
			return nil, err
		}
		if err := t.Add(d); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// take reads the value of one key of the file.
func (c *content) take(p *parser, key string) error {
	name, isAttrs := strings.CutSuffix(key, "_attrs")
	switch {
	case key == "attrs":
		name = ""
		fallthrough
	case isAttrs:
		attrs := map[string]string{}
		c.attrs[name] = attrs
		return p.object(func(k string) error { return p.attr(attrs, k) })
	case key == "coords" || key == "pred_coords":
		return p.object(func(k string) error {
			v, err := p.variable(k)
			if known := slices.ContainsFunc(c.coords, func(o tensor.Variable) bool { return o.Name == k }); err == nil && !known {
				c.coords = append(c.coords, v)
			}
			return err
		})
	case key == "dims" || key == "pred_dims":
		return p.object(func(k string) error {
			v, err := p.variable(k)
			if words, ok := v.Data.([]string); ok && len(words) > 0 {
				c.dims[k] = words
			}
			return err
		})
	}
	if p.peek() != '{' { // a key that is not a group, such as save_warmup
		return p.skip(0)
	}
	g := group{name: key}
	err := p.object(func(k string) error {
		v, err := p.variable(k)
		g.vars = append(g.vars, v)
		return err
	})
	if len(g.vars) > 0 {
		c.groups = append(c.groups, g)
	}
	return err
}

func (p *parser) variable(name string) (tensor.Variable, error) {
	a, err := p.array()
	if err != nil {
		return tensor.Variable{}, err
	}
	return a.variable(name)
}

// attr reads an attribute. Text is kept as it is, everything else as JSON.
func (p *parser) attr(attrs map[string]string, key string) error {
	if p.peek() == '"' {
		s, err := p.text()
		attrs[key] = s
		return err
	}
	start := p.at
	err := p.skip(0)
	attrs[key] = string(p.b[start:p.at])
	return err
}

// withoutDraws lists the groups whose variables have no axes chain and draw.
var withoutDraws = []string{"observed_data", "constant_data", "predictions_constant_data"}

// dataset names the axes of a group and returns it as a dataset.
func (c *content) dataset(g group) (*tensor.Dataset, error) {
	d := tensor.NewDataset(g.name)
	for k, v := range c.attrs[g.name] {
		d.Attrs[k] = v
	}
	for i := range g.vars {
		v := &g.vars[i]
		rest := len(v.Shape)
		if !slices.Contains(withoutDraws, g.name) && rest >= 2 {
			v.Dims, rest = []string{"chain", "draw"}, rest-2
		}
		given := c.dims[v.Name]
		for k := range rest {
			dim := xarray.Axis(v.Name, k)
			if len(given) == rest {
				dim = given[k]
			}
			v.Dims = append(v.Dims, dim)
		}
	}
	if err := c.label(d, g); err != nil {
		return nil, err
	}
	for _, v := range g.vars {
		if err := d.AddVariable(v); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// label adds the coordinates that fit the axes of a group, and numbers chains and draws.
func (c *content) label(d *tensor.Dataset, g group) error {
	lengths := map[string]int{}
	var order []string
	for _, v := range g.vars {
		for i, dim := range v.Dims {
			if _, known := lengths[dim]; !known {
				order = append(order, dim)
				lengths[dim] = v.Shape[i]
			}
		}
	}
	for _, dim := range order {
		if i := slices.IndexFunc(c.coords, func(o tensor.Variable) bool { return o.Name == dim && len(o.Shape) == 1 && o.Len() == lengths[dim] }); i >= 0 {
			if err := d.AddCoord(dim, c.coords[i].Data); err != nil {
				return err
			}
		} else if dim == "chain" || dim == "draw" {
			labels := make([]int64, lengths[dim])
			for k := range labels {
				labels[k] = int64(k)
			}
			if err := d.AddCoord(dim, labels); err != nil {
				return err
			}
		}
	}
	return nil
}
