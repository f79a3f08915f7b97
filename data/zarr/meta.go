// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// arrayMeta is the content of .zarray, or what zarr.json says instead.
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

	// The rest is of version 3.
	prefix   string   // begin of the names of chunks
	perm     []int    // order in which the axes of a chunk are stored; nil for C order
	pipeline []string // compressors and checksums of a chunk, in the order in which they were applied
	shards   *shards  // how chunks are divided; nil if they are not
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
	if err := foreign.Decode(b, m, false); err != nil {
		return nil, element{}, &FormatError{Format: "zarr", What: "the metadata of the array in .zarray cannot be read", Err: err, Try: copyAgain}
	}
	switch {
	case m.Format != 2:
		return nil, element{}, bad("zarr_format is %d, want 2", m.Format)
	case m.Order != "C" && m.Order != "F" && m.Order != "":
		return nil, element{}, bad("order is %q, want C or F", m.Order)
	}
	if err := m.checkShape(); err != nil {
		return nil, element{}, err
	}
	e, err := m.element()
	if err != nil {
		return nil, element{}, err
	}
	if m.Compressor != nil && m.Compressor.ID != "blosc" && decoders[m.Compressor.ID] == nil {
		return nil, element{}, &FormatError{Format: "zarr", What: fmt.Sprintf("the array is compressed by %q, which cannot be read", m.Compressor.ID),
			Try: `write it with compressor None or numcodecs.Zlib(), in xarray encoding={"name": {"compressor": None}}`}
	}
	return m, e, nil
}

// checkShape returns an error for a shape, chunks or names of chunks that no array has.
func (m *arrayMeta) checkShape() error {
	if m.Separator != "" && m.Separator != "." && m.Separator != "/" {
		return bad("the numbers in names of chunks are separated by %.20q, want . or /", m.Separator)
	}
	if len(m.Shape) != len(m.Chunks) || len(m.Shape) > maxAxes {
		return bad("the shape is %v and the chunks are %v, want as many lengths of each, at most %d", m.Shape, m.Chunks, maxAxes)
	}
	for i := range m.Shape {
		if m.Shape[i] < 0 || m.Chunks[i] < 1 {
			return bad("the shape is %v and the chunks are %v, want no negative length and chunks of at least 1", m.Shape, m.Chunks)
		}
	}
	return nil
}

// element determines the element type from dtype and filters.
func (m *arrayMeta) element() (element, error) {
	var name string
	if json.Unmarshal(m.DType, &name) != nil {
		return element{}, bad("records of dtype %.80s cannot be read, want plain elements", m.DType)
	}
	e, err := parseElement(name)
	if err != nil {
		return e, err
	}
	var filters []string
	for _, raw := range m.Filters {
		var f codec
		if err := json.Unmarshal(raw, &f); err != nil {
			return e, &FormatError{Format: "zarr", What: "the list of filters cannot be read", Err: err, Try: "write the array without filters"}
		}
		filters = append(filters, f.ID)
	}
	switch list := strings.Join(filters, ", "); {
	case e.kind == 'O' && list == "vlen-utf8", e.kind != 'O' && list == "":
		return e, nil
	case e.kind == 'O':
		return e, bad("the elements are objects coded by [%s], want text coded by vlen-utf8", list)
	default:
		return e, &FormatError{Format: "zarr", What: "the filters [" + list + "] cannot be read", Try: "write the array without filters"}
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
