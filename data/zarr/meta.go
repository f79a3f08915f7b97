// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
)

// arrayMeta is the content of .zarray.
type arrayMeta struct {
	Format     int               `json:"zarr_format"`
	Shape      []int             `json:"shape"`
	Chunks     []int             `json:"chunks"`
	DType      json.RawMessage   `json:"dtype"`
	Compressor *codec            `json:"compressor"`
	Fill       json.RawMessage   `json:"fill_value"`
	Order      string            `json:"order"`
	Filters    []json.RawMessage `json:"filters"`
	Separator  string            `json:"dimension_separator,omitempty"`
}

// codec is the configuration of a compressor.
type codec struct {
	ID    string `json:"id"`
	Level int    `json:"level"`
}

const maxAxes = 32

// parseMeta reads and checks .zarray.
func parseMeta(b []byte) (*arrayMeta, element, error) {
	m := &arrayMeta{}
	if err := json.Unmarshal(b, m); err != nil {
		return nil, element{}, &FormatError{What: "metadata of the array", Err: err}
	}
	switch {
	case m.Format != 2:
		return nil, element{}, bad("zarr_format %d, want 2", m.Format)
	case len(m.Shape) != len(m.Chunks) || len(m.Shape) > maxAxes:
		return nil, element{}, bad("shape %v with chunks %v, want as many of each, at most %d", m.Shape, m.Chunks, maxAxes)
	case m.Order != "C" && m.Order != "F" && m.Order != "":
		return nil, element{}, bad("order %q, want C or F", m.Order)
	case m.Separator != "" && m.Separator != "." && m.Separator != "/":
		return nil, element{}, bad("dimension_separator %q, want . or /", m.Separator)
	}
	for i := range m.Shape {
		if m.Shape[i] < 0 || m.Chunks[i] < 1 {
			return nil, element{}, bad("shape %v with chunks %v, want no negative length and chunks of at least 1", m.Shape, m.Chunks)
		}
	}
	e, err := m.element()
	if err != nil {
		return nil, element{}, err
	}
	if m.Compressor != nil && m.Compressor.ID != "blosc" && decoders[m.Compressor.ID] == nil {
		return nil, element{}, &FormatError{What: fmt.Sprintf("compressed by %q", m.Compressor.ID),
			Try: `write it with compressor None or numcodecs.Zlib(), in xarray encoding={"name": {"compressor": None}}`}
	}
	return m, e, nil
}

// element determines the element type from dtype and filters.
func (m *arrayMeta) element() (element, error) {
	var name string
	if json.Unmarshal(m.DType, &name) != nil {
		return element{}, bad("records of dtype %.80s are not read, want plain elements", m.DType)
	}
	e, err := parseElement(name)
	if err != nil {
		return e, err
	}
	var filters []string
	for _, raw := range m.Filters {
		var f codec
		if err := json.Unmarshal(raw, &f); err != nil {
			return e, &FormatError{What: "filters", Err: err}
		}
		filters = append(filters, f.ID)
	}
	switch list := strings.Join(filters, ", "); {
	case e.kind == 'O' && list == "vlen-utf8", e.kind != 'O' && list == "":
		return e, nil
	case e.kind == 'O':
		return e, bad("objects coded by [%s], want vlen-utf8 text", list)
	default:
		return e, &FormatError{What: "filters [" + list + "] are not read", Try: "write it without filters"}
	}
}

// product returns the size in bytes of an array whose elements have the given size; it
// returns false on overflow.
func product(lengths []int, size int) (int, bool) {
	n := size
	for _, d := range lengths {
		if d > 0 && n > math.MaxInt/d {
			return 0, false
		}
		n *= d
	}
	return n, true
}
