// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package stancsv

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/tensor"
)

// Chains returns the draws of a tree as CmdStan's tables, one per chain: from sample_stats those of
// CmdStan's seven columns that it has, then the parameters of posterior in CmdStan's order, and the
// warm-up if the tree has it with the same columns. The step size is that of the last draw. A tree
// has no inverse mass matrix, so the header says unit_e, for which CmdStan's readers do not expect
// one. Labels, other statistics and other groups cannot be represented in this form and are dropped.
func Chains(t *tensor.DataTree) ([]*Chain, error) {
	post, err := t.Group("posterior")
	if err != nil {
		return nil, err
	}
	out, err := tables(t, post, "")
	if err != nil {
		return nil, err
	}
	settings(t, post, out)
	if !t.Has("warmup_posterior") {
		return out, nil
	}
	warm, err := t.Group("warmup_posterior")
	if err != nil {
		return nil, err
	}
	early, err := tables(t, warm, "warmup_")
	if err != nil {
		return nil, err
	}
	if len(early) == len(out) && len(out) > 0 && slices.Equal(early[0].Columns, out[0].Columns) {
		for i, c := range out {
			c.Warmup = early[i].Draws
			delete(c.Settings, "num_warmup")
		}
	}
	return out, nil
}

// settings takes over the settings given as attributes.
func settings(t *tensor.DataTree, post *tensor.Dataset, chains []*Chain) {
	attrs := map[string]string{}
	groups := []*tensor.Dataset{post}
	if stats, err := t.Group("sample_stats"); err == nil {
		groups = append(groups, stats)
	}
	for _, d := range groups {
		for k, v := range d.Attrs {
			attrs[k] = strings.Join(strings.Fields(v), " ")
		}
	}
	if attrs["inference_library"] == "euryale" && attrs["inference_library_version"] != "" {
		attrs["euryale_version"] = attrs["inference_library_version"]
	}
	keys := map[string]string{"tuning_steps": "num_warmup", "max_tree_depth": "max_depth", "target_accept": "delta", "model_name": "model", "seed": "seed", "euryale_version": "euryale_version"}
	elapsed, _ := strconv.ParseFloat(attrs["sampling_time"], 64)
	for i, c := range chains {
		c.Elapsed = &Elapsed{Sampling: elapsed}
		if eps := c.Column("stepsize__"); len(eps) > 0 {
			c.Adapted = &Adaptation{StepSize: eps[len(eps)-1]}
		}
		c.Settings = map[string]string{"id": strconv.Itoa(i + 1)}
		for from, to := range keys {
			if attrs[from] != "" {
				c.Settings[to] = attrs[from]
			}
		}
	}
}

// column is one column of a table: element k of the rest values of a draw.
type column struct {
	name string
	data []float64
	rest int
	k    int
}

func tables(t *tensor.DataTree, post *tensor.Dataset, prefix string) ([]*Chain, error) {
	chains, draws := post.Len("chain"), post.Len("draw")
	if chains < 0 || draws < 0 {
		return nil, fmt.Errorf("stancsv: the group %s has no axes chain and draw: want a group of draws", post.Name)
	}
	var columns []column
	if stats, err := t.Group(prefix + "sample_stats"); err == nil {
		for _, s := range statistics {
			if v := stats.Var(s.name); v != nil && slices.Equal(v.Dims, []string{"chain", "draw"}) && v.Shape.Equal(tensor.Shape{chains, draws}) {
				columns = append(columns, column{s.column, v.Floats(), 1, 0})
			}
		}
	}
	for _, v := range post.Vars() {
		flat := v.Floats()
		if len(v.Dims) < 2 || v.Dims[0] != "chain" || v.Dims[1] != "draw" || flat == nil {
			continue
		}
		columns = append(columns, elements(v, flat)...)
	}
	out := make([]*Chain, chains)
	for c := range out {
		out[c] = &Chain{Columns: make([]string, len(columns)), Draws: make([][]float64, draws)}
		for i := range columns {
			out[c].Columns[i] = columns[i].name
		}
		for d := range draws {
			row := make([]float64, len(columns))
			for i, col := range columns {
				row[i] = col.data[(c*draws+d)*col.rest+col.k]
			}
			out[c].Draws[d] = row
		}
		if err := out[c].check(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// elements lists the columns of a variable, with the first index fastest.
func elements(v tensor.Variable, flat []float64) []column {
	shape := v.Shape[2:]
	rest := shape.Size()
	strides := shape.Strides()
	out := make([]column, 0, rest)
	idx := make([]int, len(shape))
	for range rest {
		k, from1 := 0, make([]int, len(idx))
		for a, i := range idx {
			from1[a] = i + 1
			k += i * strides[a]
		}
		out = append(out, column{v.Name + dotted(from1), flat, rest, k})
		for a := range idx {
			if idx[a]++; idx[a] < shape[a] {
				break
			}
			idx[a] = 0
		}
	}
	return out
}
