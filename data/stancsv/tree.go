// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stancsv

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/xarray"
	"github.com/euryale-dev/euryale/tensor"
)

// statistics pairs CmdStan's columns with ArviZ's names for them.
var statistics = []struct{ column, name, dtype string }{
	{"lp__", "lp", "float64"}, {"accept_stat__", "acceptance_rate", "float64"}, {"stepsize__", "step_size", "float64"}, {"treedepth__", "tree_depth", "int64"},
	{"n_leapfrog__", "n_steps", "int64"}, {"divergent__", "diverging", "bool"}, {"energy__", "energy", "float64"},
}

// Tree returns the chains of one run as labelled arrays: the group posterior of the parameters,
// whose elements name.i.j become arrays, the group sample_stats, and the same two groups for the
// warm-up if it was saved. Elements that do not fill an array, as after a selection, remain separate
// variables. Chains of unequal length are cut to the shortest, and columns may be in another order. It returns an error if chains
// have different columns.
func Tree(chains []*Chain) (*tensor.DataTree, error) {
	if len(chains) == 0 {
		return nil, fmt.Errorf("stancsv: there are no chains: want at least one")
	}
	names := make([]string, len(chains))
	for i := range chains {
		names[i] = fmt.Sprintf("chain %d", i+1)
	}
	if err := Arrange(chains, names); err != nil {
		return nil, err
	}
	t := tensor.NewDataTree()
	for _, warm := range []bool{false, true} {
		rows := make([][][]float64, len(chains))
		draws := math.MaxInt
		for i, c := range chains {
			rows[i] = c.Draws
			if warm {
				rows[i] = c.Warmup
			}
			draws = min(draws, len(rows[i]))
		}
		if warm && draws == 0 {
			break
		}
		if err := addGroups(t, chains[0], rows, draws, warm); err != nil {
			return nil, fmt.Errorf("stancsv: %w", err)
		}
	}
	return t, nil
}

func addGroups(t *tensor.DataTree, c *Chain, rows [][][]float64, draws int, warm bool) error {
	prefix := ""
	if warm {
		prefix = "warmup_"
	}
	post, stats := tensor.NewDataset(prefix+"posterior"), tensor.NewDataset(prefix+"sample_stats")
	g := gatherer{rows, draws}
	for _, d := range []*tensor.Dataset{post, stats} {
		c.describe(d)
		for dim, n := range map[string]int{"chain": len(rows), "draw": draws} {
			if err := d.AddCoord(dim, counting(n)); err != nil {
				return err
			}
		}
	}
	for _, a := range arrays(c.Columns) {
		if own(a.name) {
			continue
		}
		if err := post.AddVariable(g.variable(a)); err != nil {
			return err
		}
	}
	for i, name := range c.Columns {
		if !own(name) {
			continue
		}
		if err := stats.AddVariable(g.statistic(name, i)); err != nil {
			return err
		}
	}
	if err := t.Add(post); err != nil || len(stats.Vars()) == 0 {
		return err
	}
	return t.Add(stats)
}

// describe records where the draws come from.
func (c *Chain) describe(d *tensor.Dataset) {
	for key, attr := range map[string]string{"num_warmup": "tuning_steps", "max_depth": "max_tree_depth", "delta": "target_accept", "model": "model_name", "seed": "seed"} {
		if v := c.Settings[key]; v != "" {
			d.Attrs[attr] = v
		}
	}
	d.Attrs["inference_library"] = "Stan"
	if v := c.Settings["euryale_version"]; v != "" {
		d.Attrs["inference_library"], d.Attrs["inference_library_version"] = "euryale", v
	} else if v := c.Settings["stan_version_major"]; v != "" {
		d.Attrs["inference_library_version"] = strings.Join([]string{v, c.Settings["stan_version_minor"], c.Settings["stan_version_patch"]}, ".")
	}
}

func counting(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// gatherer extracts columns from rows[chain][draw].
type gatherer struct {
	rows  [][][]float64
	draws int
}

// variable collects an array from its columns, which are in row-major order.
func (g gatherer) variable(a array) tensor.Variable {
	v := tensor.Variable{Name: a.name, Dims: []string{"chain", "draw"}, Shape: append(tensor.Shape{len(g.rows), g.draws}, a.shape...)}
	for i := range a.shape {
		v.Dims = append(v.Dims, xarray.Axis(a.name, i))
	}
	data := make([]float64, 0, len(g.rows)*g.draws*len(a.columns))
	for _, chain := range g.rows {
		for _, row := range chain[:g.draws] {
			for _, k := range a.columns {
				data = append(data, row[k])
			}
		}
	}
	v.Data = data
	return v
}

// statistic collects a column of the sampler, converted to its own type.
func (g gatherer) statistic(column string, i int) tensor.Variable {
	v := g.variable(array{name: strings.TrimSuffix(column, "__"), columns: []int{i}})
	for _, s := range statistics {
		if s.column == column {
			v.Name = s.name
			v.Data = typed(v.Data.([]float64), s.dtype)
		}
	}
	return v
}

// typed converts x to integers or truth values if dtype asks for them.
func typed(x []float64, dtype string) any {
	ints, bools := make([]int64, len(x)), make([]bool, len(x))
	for i, v := range x {
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return x
		}
		ints[i], bools[i] = int64(v), v != 0
	}
	switch dtype {
	case "int64":
		return ints
	case "bool":
		return bools
	}
	return x
}

// array is a variable that consists of several columns.
type array struct {
	name    string
	shape   []int
	columns []int // columns of the elements, row-major
}

// member is a column of an array: its number, and its indices from 1 on.
type member struct {
	column int
	index  []int
}

// arrays joins the columns name.i.j into arrays, in the order of their first columns. If the indices
// do not fill a box from 1 on, or the name is also a column, the columns stay separate.
func arrays(columns []string) []array {
	members := map[string][]member{}
	var order []string
	for i, c := range columns {
		name, index := split(c)
		if members[name] == nil {
			order = append(order, name)
		}
		members[name] = append(members[name], member{i, index})
	}
	var out []array
	taken := map[string]bool{}
	for _, name := range order {
		if a, whole := join(name, members[name]); whole && !taken[name] {
			taken[name] = true
			out = append(out, a)
			continue
		}
		for _, m := range members[name] {
			out = append(out, array{name: columns[m.column], columns: []int{m.column}})
			taken[columns[m.column]] = true
		}
	}
	return out
}

// join makes an array from its members; whole is false if they do not fill a box.
func join(name string, all []member) (a array, whole bool) {
	a = array{name: name, shape: make([]int, len(all[0].index)), columns: make([]int, len(all))}
	for _, m := range all {
		if len(m.index) != len(a.shape) {
			return a, false
		}
		for k, i := range m.index {
			a.shape[k] = max(a.shape[k], i)
		}
	}
	if !fills(a.shape, len(all)) {
		return a, false
	}
	seen := make([]bool, len(all))
	for _, m := range all {
		at := 0
		for k, i := range m.index {
			at = at*a.shape[k] + i - 1
		}
		if seen[at] {
			return a, false
		}
		seen[at], a.columns[at] = true, m.column
	}
	return a, true
}

// fills reports whether a box has n places.
func fills(shape []int, n int) bool {
	size := 1
	for _, k := range shape {
		if k > n/size {
			return false
		}
		size *= k
	}
	return size == n
}

// split splits off the indices at the end of a column's name: theta.2.1, or theta[2,1] as others
// write it.
func split(column string) (name string, index []int) {
	if open := strings.IndexByte(column, '['); open > 0 && strings.HasSuffix(column, "]") {
		for _, part := range strings.Split(column[open+1:len(column)-1], ",") {
			k, ok := place(part)
			if !ok {
				return column, nil
			}
			index = append(index, k)
		}
		return column[:open], index
	}
	name = column
	for {
		dot := strings.LastIndexByte(name, '.')
		if dot <= 0 {
			return name, index
		}
		k, ok := place(name[dot+1:])
		if !ok {
			return name, index
		}
		name, index = name[:dot], slices.Insert(index, 0, k)
	}
}

// dotted writes indices as CmdStan does.
func dotted(index []int) string {
	s := ""
	for _, i := range index {
		s += "." + strconv.Itoa(i)
	}
	return s
}

// place parses an index from 1 on.
func place(text string) (int, bool) {
	k, err := strconv.Atoi(text)
	return k, err == nil && k > 0 && k < 1<<40 && strconv.Itoa(k) == text
}
