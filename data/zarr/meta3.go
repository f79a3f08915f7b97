// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// node is the content of zarr.json, which version 3 has in the folder of each group and array.
//
// Format: Zarr core specification 3.1.
type node struct {
	Format     int                        `json:"zarr_format"`
	Type       string                     `json:"node_type"`
	Shape      []int                      `json:"shape"`
	DataType   json.RawMessage            `json:"data_type"`
	Grid       named                      `json:"chunk_grid"`
	Keys       named                      `json:"chunk_key_encoding"`
	Fill       json.RawMessage            `json:"fill_value"`
	Codecs     []named                    `json:"codecs"`
	Dims       []*string                  `json:"dimension_names"`
	Attributes map[string]json.RawMessage `json:"attributes"`
	// Storage are storage transformers, of which none is known.
	Storage []json.RawMessage `json:"storage_transformers"`
	// Consolidated is the metadata of all below, in the root of some stores.
	Consolidated *struct {
		Metadata json.RawMessage `json:"metadata"`
	} `json:"consolidated_metadata"`
}

// named is a part of the metadata with a name and what belongs to it; one without may be the name alone.
type named struct {
	Name   string          `json:"name"`
	Config json.RawMessage `json:"configuration,omitempty"`
}

// UnmarshalJSON reads an object or a name.
func (n *named) UnmarshalJSON(b []byte) error {
	if json.Unmarshal(b, &n.Name) == nil {
		return nil
	}
	type plain named
	return json.Unmarshal(b, (*plain)(n))
}

// config is all that the known parts are configured with.
type config struct {
	ChunkShape []int           `json:"chunk_shape"`
	Separator  *string         `json:"separator"`
	Endian     string          `json:"endian"`
	Order      json.RawMessage `json:"order"`
	Length     int             `json:"length_bytes"`
	Codecs     []named         `json:"codecs"`
	Index      []named         `json:"index_codecs"`
	Location   string          `json:"index_location"`
}

func (n named) config() (c config, err error) {
	if n.Config == nil {
		return c, nil
	}
	if err := foreign.Decode(n.Config, &c, false); err != nil {
		return c, &FormatError{Format: "zarr", What: "the configuration of " + foreign.Short(n.Name, 40) + " cannot be read", Err: err, Try: copyAgain}
	}
	return c, nil
}

// shards says that a chunk is a shard: chunks of the shape of inner, and an index of where each begins in the shard.
type shards struct {
	inner   *arrayMeta
	atStart bool
	checked bool // whether the index ends with its CRC-32C
}

// parseNode reads zarr.json.
func parseNode(b []byte) (*node, error) {
	n := &node{}
	if err := foreign.Decode(b, n, false); err != nil {
		return nil, &FormatError{Format: "zarr", What: "the metadata in zarr.json cannot be read", Err: err, Try: copyAgain}
	}
	if n.Format != 3 || n.Type != "group" && n.Type != "array" {
		return nil, bad("zarr_format is %d and node_type %.20q, want 3 and group or array", n.Format, n.Type)
	}
	return n, nil
}

// array returns the metadata of an array and the type of its elements.
func (n *node) array() (*arrayMeta, element, error) {
	if len(n.Storage) > 0 {
		return nil, element{}, bad("the array has storage transformers, which are not known")
	}
	e, err := n.element()
	if err != nil {
		return nil, e, err
	}
	grid, err := n.Grid.config()
	if err != nil {
		return nil, e, err
	}
	if n.Grid.Name != "regular" {
		return nil, e, bad("the chunks have the grid %.40q, want regular: write the array with chunks of one shape", n.Grid.Name)
	}
	m := &arrayMeta{Format: 3, Shape: n.Shape, Chunks: grid.ChunkShape, Fill: n.Fill}
	if m.Shape == nil {
		m.Shape = []int{}
	}
	keys, err := n.Keys.config()
	if err != nil {
		return nil, e, err
	}
	switch n.Keys.Name {
	case "default":
		m.prefix, m.Separator = "c", "/"
	case "v2":
		m.Separator = "."
	default:
		return nil, e, bad("chunks are named by the encoding %.40q, want default or v2", n.Keys.Name)
	}
	if keys.Separator != nil {
		m.Separator = *keys.Separator
	}
	if err := m.checkShape(); err != nil {
		return nil, e, err
	}
	return m, e, m.codecs(n.Codecs, &e)
}

// element returns the type of the elements. Their byte order stands in the codecs.
func (n *node) element() (element, error) {
	var t named
	if err := json.Unmarshal(n.DataType, &t); err != nil || t.Name == "" {
		return element{}, bad("the data type is %.80s, want floats, integers, truth values or text", n.DataType)
	}
	c, err := t.config()
	if err != nil {
		return element{}, err
	}
	if e, ok := types3[t.Name]; ok {
		return e, nil
	}
	switch {
	case t.Name == "fixed_length_utf32" && c.Length%4 == 0 && c.Length >= 0 && c.Length < 1<<24:
		return element{kind: 'U', size: c.Length}, nil
	case t.Name == "null_terminated_bytes" && c.Length >= 0 && c.Length < 1<<24:
		return element{kind: 'S', size: c.Length}, nil
	}
	return element{}, &FormatError{Format: "zarr", What: fmt.Sprintf("the data type is %.60q", t.Name), Try: "write floats of 32 or 64 bits, integers, truth values or text"}
}

// types3 are the data types without a configuration.
var types3 = map[string]element{"bool": {kind: 'b', size: 1}, "float32": {kind: 'f', size: 4}, "float64": {kind: 'f', size: 8}, "string": {kind: 'O'},
	"int8": {kind: 'i', size: 1}, "int16": {kind: 'i', size: 2}, "int32": {kind: 'i', size: 4}, "int64": {kind: 'i', size: 8},
	"uint8": {kind: 'u', size: 1}, "uint16": {kind: 'u', size: 2}, "uint32": {kind: 'u', size: 4}, "uint64": {kind: 'u', size: 8}}

// codecs takes over how chunks are coded: perhaps a transposition, then numbers as bytes, text or shards, then compressors and
// checksums.
func (m *arrayMeta) codecs(list []named, e *element) error {
	coded := false // whether what comes next works on bytes
	for _, c := range list {
		k, err := c.config()
		if err != nil {
			return err
		}
		name := strings.TrimPrefix(c.Name, "numcodecs.")
		switch {
		case c.Name == "transpose" && !coded && m.perm == nil:
			if m.perm, err = permutation(k.Order, len(m.Shape)); err != nil {
				return err
			}
		case c.Name == "bytes" && !coded && e.kind != 'O':
			coded, e.big = true, k.Endian == "big"
		case c.Name == "vlen-utf8" && !coded && e.kind == 'O':
			coded = true
		case c.Name == "sharding_indexed" && !coded && m.perm == nil:
			if m.shards, err = m.sharding(k, e); err != nil {
				return err
			}
			coded = true
		case c.Name == "crc32c" && coded, name == "blosc" && coded, decoders[name] != nil && coded:
			m.pipeline = append(m.pipeline, name)
		default:
			return &FormatError{Format: "zarr", What: fmt.Sprintf("the array is coded by %.40q after %d codecs, which cannot be read", c.Name, len(m.pipeline)), Try: "write it with the codecs bytes, sharding_indexed, zstd, gzip, blosc or crc32c"}
		}
	}
	if !coded {
		return bad("the %d codecs of the array do not say how its elements become bytes", len(list))
	}
	return nil
}

// permutation reads the order of a transposition.
func permutation(raw json.RawMessage, rank int) ([]int, error) {
	var p []int
	if err := json.Unmarshal(raw, &p); err == nil && len(p) == rank {
		sorted := slices.Sorted(slices.Values(p))
		for i, v := range sorted {
			if v != i {
				return nil, bad("the axes are transposed in the order %v, which is no permutation of %d axes", p, rank)
			}
		}
		return p, nil
	}
	return nil, bad("the axes are transposed in the order %.60s, want %d numbers", raw, rank)
}

// sharding returns how the chunks inside a shard are coded.
func (m *arrayMeta) sharding(k config, e *element) (*shards, error) {
	s := &shards{atStart: k.Location == "start", inner: &arrayMeta{Format: 3, Shape: m.Shape, Chunks: k.ChunkShape, Fill: m.Fill}}
	if err := s.inner.checkShape(); err != nil {
		return nil, err
	}
	for i, n := range s.inner.Chunks {
		if m.Chunks[i]%n != 0 {
			return nil, bad("shards of the shape %v do not consist of chunks of %v", m.Chunks, s.inner.Chunks)
		}
	}
	for i, c := range k.Index {
		config, err := c.config()
		switch {
		case err != nil:
			return nil, err
		case i == 0 && c.Name == "bytes" && config.Endian != "big":
		case i == 1 && c.Name == "crc32c":
			s.checked = true
		default:
			return nil, bad("the index of shards is coded by %.40q, want bytes in little endian and crc32c", c.Name)
		}
	}
	return s, s.inner.codecs(k.Codecs, e)
}

// leaf returns the metadata of the smallest chunks.
func (m *arrayMeta) leaf() *arrayMeta {
	for m.shards != nil {
		m = m.shards.inner
	}
	return m
}
