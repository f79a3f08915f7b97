// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
)

// unpack undoes the compressors and checksums of a chunk of version 3, last first. The result has at most limit bytes.
func (m *arrayMeta) unpack(b []byte, limit int) ([]byte, error) {
	for _, name := range slices.Backward(m.pipeline) {
		var err error
		if name == "crc32c" {
			b, err = checked(b)
		} else {
			b, err = (&codec{ID: name}).decompress(b, limit)
		}
		if err != nil {
			return nil, err
		}
	}
	return b, nil
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checked takes the CRC-32C off the end of b and compares it.
func checked(b []byte) ([]byte, error) {
	if len(b) < 4 {
		return nil, bad("a chunk of %d bytes is too short for its checksum: copy the store again", len(b))
	}
	data, want := b[:len(b)-4], binary.LittleEndian.Uint32(b[len(b)-4:])
	if got := crc32.Checksum(data, castagnoli); got != want {
		return nil, bad("the chunk is damaged: its CRC-32C is %08x, but its bytes give %08x: copy the store again", want, got)
	}
	return data, nil
}

// roomForChecksums is how much longer than its elements a chunk may be between codecs.
const roomForChecksums = 64

// store3 copies the elements of a chunk of version 3 to their places in out. The position at is in the grid of chunks of m.
func (r *reader) store3(out any, m *arrayMeta, e element, b []byte, at []int) error {
	size, ok := product(m.Chunks, max(e.size, 1))
	limit := int(min(r.left+floor, math.MaxInt32))
	if m.shards == nil && e.kind != 'O' && ok {
		limit = size + roomForChecksums
	}
	b, err := m.unpack(b, limit)
	switch {
	case err != nil:
		return err
	case m.shards != nil:
		return r.shard(out, m, e, b, at)
	case e.kind == 'O':
		return m.scatterText(out.([]string), b, at)
	case len(b) != size:
		return bad("the chunk has %d bytes, want %d", len(b), size)
	}
	return m.scatter(at, func(to, from int) error { return e.set(out, to, b, from) })
}

// shard copies the elements of the chunks inside a shard. Those that are not there have the fill value.
func (r *reader) shard(out any, m *arrayMeta, e element, b []byte, at []int) error {
	inner := m.shards.inner
	grid := make([]int, len(m.Chunks))
	for i := range grid {
		grid[i] = m.Chunks[i] / inner.Chunks[i]
	}
	n, ok := product(grid, 16)
	index, err := m.shards.index(b, n, ok)
	if err != nil {
		return err
	}
	return overGrid(grid, func(part []int) error {
		from, length := binary.LittleEndian.Uint64(index), binary.LittleEndian.Uint64(index[8:])
		index = index[16:]
		if from == math.MaxUint64 && length == math.MaxUint64 {
			return nil
		}
		if from > uint64(len(b)) || length > uint64(len(b))-from {
			return bad("the shard has %d bytes, but its index names the bytes %d to %d: copy the store again", len(b), from, from+length)
		}
		place := make([]int, len(part))
		for i := range part {
			place[i] = at[i]*grid[i] + part[i]
			if place[i]*inner.Chunks[i] >= m.Shape[i] {
				return nil // beyond the array
			}
		}
		return r.store3(out, inner, e, b[from:from+length], place)
	})
}

// index returns the index of a shard of n bytes.
func (s *shards) index(b []byte, n int, ok bool) ([]byte, error) {
	all := n
	if s.checked {
		all += 4
	}
	if !ok || all > len(b) {
		return nil, bad("the shard has %d bytes, too few for the index of its chunks: copy the store again", len(b))
	}
	index := b[len(b)-all:]
	if s.atStart {
		index = b[:all]
	}
	if s.checked {
		return checked(index)
	}
	return index, nil
}
