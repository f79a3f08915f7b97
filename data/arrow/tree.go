// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package arrow

import (
	"fmt"
	"slices"

	"github.com/euryale-dev/euryale/tensor"
)

// Write writes the draws of a tree as one table: the statistics of the group sample_stats, then the
// elements of the group posterior, named as in tensor.Dataset.Draws. A statistic with the same name
// as an element is left out. Labels, other groups and the warm-up cannot be represented in this form
// and are dropped.
func Write(name string, t *tensor.DataTree, s Settings) error {
	post, err := t.Group("posterior")
	if err != nil {
		return fmt.Errorf("arrow: %w", err)
	}
	names, x := post.Draws()
	if len(names) == 0 {
		return fmt.Errorf("arrow: the group posterior has no draws: want variables of numbers with the axes chain and draw")
	}
	var columns []Column
	var values [][][]float64
	if stats, err := t.Group("sample_stats"); err == nil {
		for _, v := range stats.Vars() {
			flat := stats.Stat(v.Name)
			if flat == nil || slices.Contains(names, v.Name) || len(flat) != len(x[0]) || len(flat) > 0 && len(flat[0]) != len(x[0][0]) {
				continue
			}
			columns = append(columns, Column{v.Name, map[string]Type{"int64": Int64, "bool": Bool}[v.DType()]})
			values = append(values, flat)
		}
	}
	for i, n := range names {
		columns, values = append(columns, Column{Name: n}), append(values, x[i])
	}
	if s.Attrs == nil {
		s.Attrs = post.Attrs
	}
	w, err := Create(name, columns, s)
	if err != nil {
		return err
	}
	defer w.Discard()
	row := make([]float64, len(values))
	for c := range x[0] {
		for d := range x[0][c] {
			for i := range row {
				row[i] = values[i][c][d]
			}
			if err := w.Append(c, d, row); err != nil {
				return err
			}
		}
	}
	return w.Close()
}
