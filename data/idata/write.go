// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package idata

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/tensor"
)

// Settings control how a tree is written. The zero value is the default.
type Settings struct {
	// Strict writes non-finite numbers as strings. By default they are bare words, which Python reads
	// as numbers.
	Strict bool
	// Labels also writes names of axes, labels and attributes, for from_json of ArviZ 0. By default
	// only groups are written, for from_dict.
	Labels bool
	// Overwrite replaces an existing file.
	Overwrite bool
}

// Write writes a tree to a file under a temporary name and then renames it.
func Write(name string, t *tensor.DataTree, s Settings) error {
	err := atomicfile.Write(name, s.Overwrite, func(w io.Writer) error { return Encode(w, t, s) })
	if err != nil {
		return fmt.Errorf("idata: %w", err)
	}
	return nil
}

// Encode writes a tree as JSON. It writes coordinates only if Settings.Labels is set.
func Encode(w io.Writer, t *tensor.DataTree, s Settings) error {
	e := &encoder{w: bufio.NewWriter(w), strict: s.Strict}
	e.w.WriteByte('{')
	for i, d := range t.Groups() {
		e.comma(i)
		e.key(d.Name)
		e.w.WriteByte('{')
		for k, v := range d.Vars() {
			e.comma(k)
			e.key(v.Name)
			e.lists(v)
		}
		e.w.WriteByte('}')
	}
	if s.Labels {
		e.labels(t, len(t.Groups()))
	}
	e.w.WriteString("}\n")
	return e.w.Flush()
}

// encoder writes JSON; its bufio.Writer keeps the first error.
type encoder struct {
	w      *bufio.Writer
	strict bool
	num    []byte
}

func (e *encoder) comma(i int) {
	if i > 0 {
		e.w.WriteString(",\n ")
	}
}

func (e *encoder) text(s string) {
	b, _ := json.Marshal(s) // marshalling a string cannot fail
	e.w.Write(b)
}

func (e *encoder) key(s string) {
	e.text(s)
	e.w.WriteString(": ")
}

// lists writes an array as nested lists.
func (e *encoder) lists(v tensor.Variable) {
	at := 0
	e.axis(v, 0, &at)
}

func (e *encoder) axis(v tensor.Variable, depth int, at *int) {
	if depth == len(v.Shape) {
		e.leaf(v.Data, *at)
		*at++
		return
	}
	e.w.WriteByte('[')
	for i := range v.Shape[depth] {
		if i > 0 {
			e.w.WriteByte(',')
		}
		e.axis(v, depth+1, at)
	}
	e.w.WriteByte(']')
}

func (e *encoder) leaf(data any, i int) {
	switch d := data.(type) {
	case []float64:
		e.float(d[i])
	case []int64:
		e.num = strconv.AppendInt(e.num[:0], d[i], 10)
		e.w.Write(e.num)
	case []bool:
		e.w.WriteString(strconv.FormatBool(d[i]))
	case []string:
		e.text(d[i])
	}
}

// float writes a number with a point or exponent.
func (e *encoder) float(v float64) {
	name := ""
	switch {
	case math.IsNaN(v):
		name = "NaN"
	case math.IsInf(v, 1):
		name = "Infinity"
	case math.IsInf(v, -1):
		name = "-Infinity"
	}
	if name != "" {
		if e.strict {
			name = `"` + name + `"`
		}
		e.w.WriteString(name)
		return
	}
	e.num = strconv.AppendFloat(e.num[:0], v, 'g', -1, 64)
	if !slices.ContainsFunc(e.num, func(c byte) bool { return c == '.' || c == 'e' }) {
		e.num = append(e.num, '.', '0')
	}
	e.w.Write(e.num)
}

// labels writes coords, dims and attributes; before is the number of groups written
// before them.
func (e *encoder) labels(t *tensor.DataTree, before int) {
	for _, d := range t.Groups() {
		if len(d.Attrs) > 0 {
			e.comma(1)
			e.key(d.Name + "_attrs")
			e.attrs(d.Attrs)
		}
	}
	if len(t.Attrs) > 0 {
		e.comma(before)
		before++
		e.key("attrs")
		e.attrs(t.Attrs)
	}
	e.comma(before)
	e.key("coords")
	e.w.WriteByte('{')
	seen := map[string]bool{}
	for _, d := range t.Groups() {
		for _, c := range d.Coords() {
			if !seen[c.Name] && d.Len(c.Name) >= 0 {
				e.comma(len(seen))
				seen[c.Name] = true
				e.key(c.Name)
				e.lists(c)
			}
		}
	}
	e.w.WriteString("},\n \"dims\": {")
	seen = map[string]bool{}
	for _, d := range t.Groups() {
		for _, v := range d.Vars() {
			dims := v.Dims
			if len(dims) >= 2 && dims[0] == "chain" && dims[1] == "draw" {
				dims = dims[2:]
			}
			if !seen[v.Name] && len(dims) > 0 {
				e.comma(len(seen))
				seen[v.Name] = true
				e.key(v.Name)
				e.lists(tensor.Variable{Shape: tensor.Shape{len(dims)}, Data: dims})
			}
		}
	}
	e.w.WriteByte('}')
}

func (e *encoder) attrs(attrs map[string]string) {
	e.w.WriteByte('{')
	for i, k := range slices.Sorted(maps.Keys(attrs)) {
		e.comma(i)
		e.key(k)
		e.text(strings.ToValidUTF8(attrs[k], "\uFFFD"))
	}
	e.w.WriteByte('}')
}
