// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package expr

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/data/columns"
)

// Columns are the columns of a table as a problem has them.
func Columns(t columns.Table) map[string]Column {
	out := map[string]Column{}
	for _, c := range t {
		switch v := c.Values.(type) {
		case []float64:
			out[c.Name] = Column{Values: v}
		case []string:
			out[c.Name] = Column{Labels: v}
		}
	}
	return out
}

// FileColumn is the column of labels that tells from which of several tables a row comes.
const FileColumn = "file"

// Together puts the rows of several tables below each other, with the names of their files, without folders and endings, in the column file. Columns that not all tables
// have are left out and returned as missing.
func Together(names []string, tables []columns.Table) (all map[string]Column, missing []string, err error) {
	all = map[string]Column{}
	parts := make([]map[string]Column, len(tables))
	for k, t := range tables {
		parts[k] = Columns(t)
	}
	have := map[string]int{}
	for _, part := range parts {
		for name := range part {
			have[name]++
		}
	}
	for _, name := range sortedKeys(have) {
		if have[name] < len(parts) || name == FileColumn {
			missing = append(missing, name)
			continue
		}
		var c Column
		for k, part := range parts {
			own := part[name]
			if k > 0 && (own.Labels == nil) != (c.Labels == nil) {
				return nil, nil, fmt.Errorf("the column %s has texts in one of %s and %s, and numbers in the other: correct one", name, names[k-1], names[k])
			}
			c.Values, c.Labels = append(c.Values, own.Values...), append(c.Labels, own.Labels...)
		}
		all[name] = c
	}
	var file Column
	var labels []string
	for k, t := range tables {
		label := strings.TrimSuffix(filepath.Base(names[k]), filepath.Ext(names[k]))
		if slices.Contains(labels, label) {
			label = names[k]
		}
		labels = append(labels, label)
		if len(t) > 0 {
			file.Labels = append(file.Labels, slices.Repeat([]string{label}, Columns(t)[t[0].Name].Len())...)
		}
	}
	all[FileColumn] = file
	return all, missing, nil
}

// withFile puts the columns of the file or of the files that data names in its place, and returns their names and tables.
func withFile(b []byte, raw map[string]json.RawMessage, read func(name string) ([]byte, error)) (with []byte, names []string, tables []columns.Table, err error) {
	if text := bytes.TrimSpace(raw["data"]); bytes.HasPrefix(text, []byte(`"`)) {
		names = make([]string, 1)
		if json.Unmarshal(text, &names[0]) != nil {
			return b, nil, nil, nil
		}
	} else if !bytes.HasPrefix(text, []byte("[")) || json.Unmarshal(text, &names) != nil || len(names) == 0 {
		return b, nil, nil, nil
	}
	if read == nil {
		return nil, nil, nil, fmt.Errorf("expr: data names the file %q, and this problem comes from no file beside which it could lie: give the columns themselves", names[0])
	}
	for _, name := range names {
		file, part := columns.SplitPart(name)
		content, err := read(file)
		if err != nil {
			return nil, nil, nil, err
		}
		t, _, err := columns.ReadPart(content, part)
		if err != nil {
			return nil, nil, nil, fmt.Errorf("expr: data %s: %w", name, err)
		}
		tables = append(tables, t)
	}
	data := Columns(tables[0])
	if len(tables) > 1 {
		if data, _, err = Together(names, tables); err != nil {
			return nil, nil, nil, fmt.Errorf("expr: data: %w", err)
		}
	}
	if raw["data"], err = json.Marshal(data); err != nil {
		return nil, nil, nil, err
	}
	with, err = json.Marshal(raw)
	return with, names, tables, err
}

// Matrix is rows of numbers.
type Matrix [][]float64

// ReadMatrix reads a matrix from a table without names, such as text or a NumPy array.
func ReadMatrix(content []byte) (Matrix, error) {
	t, _, err := columns.Read(content)
	if err != nil {
		return nil, err
	}
	var m Matrix
	for k, c := range t {
		v, ok := c.Values.([]float64)
		if !ok {
			return nil, fmt.Errorf("column %d of the matrix has texts: want numbers alone, without names of columns", k+1)
		}
		for i, x := range v {
			if k == 0 {
				m = append(m, nil)
			}
			m[i] = append(m[i], x)
		}
	}
	return m, nil
}

// withMatrix puts the matrix of the file that cov names in its place.
func withMatrix(b []byte, raw map[string]json.RawMessage, read func(name string) ([]byte, error)) ([]byte, error) {
	var name string
	if !bytes.HasPrefix(bytes.TrimSpace(raw["cov"]), []byte(`"`)) || json.Unmarshal(raw["cov"], &name) != nil {
		return b, nil
	}
	if read == nil {
		return nil, fmt.Errorf("expr: cov names the file %q, and this problem comes from no file beside which it could lie: give the rows themselves", name)
	}
	content, err := read(name)
	if err != nil {
		return nil, err
	}
	m, err := ReadMatrix(content)
	if err != nil {
		return nil, fmt.Errorf("expr: cov %s: %w", name, err)
	}
	if raw["cov"], err = json.Marshal(m); err != nil {
		return nil, err
	}
	return json.Marshal(raw)
}

// Keep keeps the rows for which a function says so.
func (p *Problem) Keep(row func(i int) bool) {
	for name, c := range p.Data {
		var kept Column
		for i := range c.Len() {
			switch {
			case !row(i):
			case c.Labels != nil:
				kept.Labels = append(kept.Labels, c.Labels[i])
			default:
				kept.Values = append(kept.Values, c.Values[i])
			}
		}
		p.Data[name] = kept
	}
	p.Cov = p.Cov.keep(row)
	p.places = p.places.keep(row)
}

// keep returns the part of a covariance that belongs to some rows.
func (m Matrix) keep(row func(i int) bool) Matrix {
	var out Matrix
	for i, r := range m {
		if !row(i) {
			continue
		}
		var kept []float64
		for k, v := range r {
			if row(k) {
				kept = append(kept, v)
			}
		}
		out = append(out, kept)
	}
	return out
}

// DropEmpty leaves out the rows in which one of the named columns has no number, and returns how many there are.
func (p *Problem) DropEmpty(names []string) (dropped int) {
	empty := map[int]bool{}
	for _, name := range names {
		for i, v := range p.Data[name].Values {
			if math.IsNaN(v) {
				empty[i] = true
			}
		}
	}
	if len(empty) > 0 {
		p.Keep(func(i int) bool { return !empty[i] })
	}
	return len(empty)
}

// Numeric lists the columns of numbers.
func (p *Problem) Numeric() (names []string) {
	for _, name := range sortedKeys(p.Data) {
		if p.Data[name].Labels == nil {
			names = append(names, name)
		}
	}
	return slices.Clip(names)
}

// GroupsOf returns the rows of each value of a column, in order of appearance, and the values as labels.
func (p *Problem) GroupsOf(column string) (rows [][]int, labels []string, err error) {
	c, ok := p.Data[column]
	if !ok {
		return nil, nil, fmt.Errorf("there is no column %s%s", column, meant(column, sortedKeys(p.Data)))
	}
	labels, code := c.levels()
	rows = make([][]int, len(labels))
	for i, k := range code {
		rows[k] = append(rows[k], i)
	}
	return rows, labels, nil
}

// Rows returns the problem with some of its rows. Starts are its own.
func (p *Problem) Rows(rows []int) *Problem {
	few := *p
	few.Data = maps.Clone(p.Data)
	few.Start = maps.Clone(p.Start)
	in := map[int]bool{}
	for _, i := range rows {
		in[i] = true
	}
	few.Keep(func(i int) bool { return in[i] })
	return &few
}
