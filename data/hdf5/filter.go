// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// Filters, numbered as registered with the HDF Group.
const (
	filterGzip     = 1
	filterShuffle  = 2
	filterFletcher = 3
	filterSzip     = 4
	filterNbit     = 5
	filterScale    = 6
	filterLZF      = 32000
)

// maxRatio is the largest ratio by which deflate and LZF can shrink data.
const maxRatio = 1032

// filter is one step applied to a chunk before it was stored.
type filter struct {
	id     int
	values []uint32 // parameters of the filter, called client data by HDF5
}

func (f filter) name() string {
	names := map[int]string{filterGzip: "gzip", filterShuffle: "shuffle", filterFletcher: "fletcher32", filterSzip: "szip", filterLZF: "lzf",
		filterNbit: "nbit", filterScale: "scaleoffset", filterBzip2: "bzip2", filterBlosc: "blosc", filterLZ4: "lz4", filterBitshuffle: "bitshuffle", 32013: "zfp", filterZstd: "zstd", filterBlosc2: "blosc2"}
	if s, ok := names[f.id]; ok {
		return s
	}
	return fmt.Sprintf("filter %d", f.id)
}

func unsupportedFilter(err error) bool { return errors.Is(err, ErrUnsupported) }

// filtersOf reads the filter pipeline message, versions 1 and 2.
func (f *File) filtersOf(h *header) ([]filter, error) {
	m, ok := h.first(msgFilters)
	if !ok {
		return nil, nil
	}
	m, err := f.resolve(m)
	if err != nil {
		return nil, err
	}
	c := f.cursor(m.data)
	version, n := c.u8(), c.u8()
	if version < 1 || version > 2 || n > 32 {
		return nil, f.bad(m.addr, "the filter message has version %d and %d filters, want version 1 or 2 and at most 32 filters", version, n)
	}
	if version == 1 {
		c.skip(6)
	}
	var all []filter
	for range n {
		all = append(all, parseFilter(c, version))
	}
	if c.short {
		return nil, f.bad(m.addr, "the filter message ends too early")
	}
	return all, nil
}

func parseFilter(c *cursor, version int) filter {
	p := filter{id: c.u16()}
	name := 0
	if version == 1 || p.id >= 256 {
		name = c.u16()
	}
	c.skip(2) // flags: optional
	n := c.u16()
	if version == 1 {
		name = (name + 7) &^ 7
	}
	c.skip(name)
	for range n {
		if c.short {
			return p
		}
		p.values = append(p.values, c.u32())
	}
	if version == 1 && n%2 == 1 {
		c.skip(4)
	}
	return p
}

// unpacker undoes filters; its buffers serve one chunk after another.
type unpacker struct {
	raw   []byte
	other []byte
	block []byte // a block of bits
	zlib  io.ReadCloser
	zstd  *zstd.Decoder
}

// run undoes the filters of b, last first. The result has exactly size bytes.
func (u *unpacker) run(b []byte, filters []filter, mask uint32, size uint64) ([]byte, error) {
	for i := len(filters) - 1; i >= 0; i-- {
		if mask>>i&1 == 1 {
			continue
		}
		var err error
		if b, err = u.undo(b, filters[i], size); err != nil {
			return nil, fmt.Errorf("%s: %w", filters[i].name(), err)
		}
	}
	if uint64(len(b)) != size {
		return nil, fmt.Errorf("the data decompress to %d bytes, want %d", len(b), size)
	}
	return b, nil
}

func (u *unpacker) undo(b []byte, p filter, size uint64) ([]byte, error) {
	switch p.id {
	case filterGzip:
		return u.inflate(b, size)
	case filterShuffle:
		if len(p.values) < 1 || p.values[0] == 0 {
			return nil, errors.New("the shuffle filter does not give the size of elements")
		}
		return u.swapBuffers(b, unshuffle(u.spare(len(b)), b, int(p.values[0]))), nil
	case filterFletcher:
		return checkFletcher(b)
	case filterSzip:
		return u.unszip(b, p.values, size)
	case filterNbit:
		return u.unbit(b, p.values, size)
	case filterScale:
		return u.unscale(b, p.values, size)
	case filterLZF:
		out, err := unlzf(u.spare(0), b, slack(b, size))
		return u.swapBuffers(b, out), err
	}
	return u.unplug(b, p, size)
}

// slack returns the largest number of bytes that b may unpack to.
func slack(b []byte, size uint64) int {
	return int(min(roomy(size), uint64(len(b))*maxRatio+64))
}

// roomy returns the largest number of bytes that a chunk of size bytes may have between filters,
// including checksums, lengths and codes that failed to make it smaller.
func roomy(size uint64) uint64 { return size + size/4 + 64 }

// spare returns the buffer that does not hold the current bytes.
func (u *unpacker) spare(n int) []byte {
	if cap(u.other) < n {
		u.other = make([]byte, n)
	}
	return u.other[:n]
}

// swapBuffers keeps the buffer of old for the next step and returns b.
func (u *unpacker) swapBuffers(old, b []byte) []byte {
	u.other, u.raw = old[:0], b
	return b
}

func (u *unpacker) inflate(b []byte, size uint64) ([]byte, error) {
	in := bytes.NewReader(b)
	var err error
	if u.zlib == nil {
		u.zlib, err = zlib.NewReader(in)
	} else {
		err = u.zlib.(zlib.Resetter).Reset(in, nil)
	}
	if err != nil {
		return nil, err
	}
	out := u.spare(slack(b, size))
	n, err := foreign.AtMost(out, u.zlib)
	if err != nil {
		return nil, fmt.Errorf("where %d bytes are expected: %w", size, err)
	}
	return u.swapBuffers(b, out[:n]), nil
}

// unshuffle restores the bytes of each element, which the filter had sorted by their position in the
// element.
func unshuffle(dst, b []byte, size int) []byte {
	n := len(b) / size
	for k := range size {
		from := b[k*n : (k+1)*n]
		for i, v := range from {
			dst[i*size+k] = v
		}
		if n == 0 {
			break
		}
	}
	copy(dst[n*size:], b[n*size:])
	return dst
}

func checkFletcher(b []byte) ([]byte, error) {
	if len(b) < 4 {
		return nil, fmt.Errorf("%d bytes are too few to contain a checksum", len(b))
	}
	data := b[:len(b)-4]
	want, got := word(b[len(b)-4:]), fletcher32(data)
	swapped := got>>8&0xff00ff | got<<8&0xff00ff00 // as a bug of HDF5 1.6.2 stored it
	if want != got && want != swapped {
		return nil, fmt.Errorf("the checksum is %08x, but the data give %08x", want, got)
	}
	return data, nil
}

// unlzf unpacks LZF (Marc Lehmann's liblzf format), appending to dst at most
// limit bytes: runs of up to 32 literal bytes, and copies of 3 to 264 bytes
// from up to 8192 back.
func unlzf(dst, b []byte, limit int) ([]byte, error) {
	short := errors.New("the compressed data end too early")
	for i := 0; i < len(b); {
		ctrl := int(b[i])
		i++
		if ctrl < 32 {
			n := ctrl + 1
			if n > len(b)-i || len(dst)+n > limit {
				return dst, short
			}
			dst = append(dst, b[i:i+n]...)
			i += n
			continue
		}
		n := ctrl >> 5
		if n == 7 && i < len(b) {
			n += int(b[i])
			i++
		}
		if i >= len(b) {
			return dst, short
		}
		back := (ctrl&31)<<8 + int(b[i]) + 1
		i++
		n += 2
		if back > len(dst) || len(dst)+n > limit {
			return dst, fmt.Errorf("the compressed data ask for a copy of %d bytes from %d bytes back at position %d, which has %d bytes of space", n, back, len(dst), limit)
		}
		for range n {
			dst = append(dst, dst[len(dst)-back])
		}
	}
	return dst, nil
}
