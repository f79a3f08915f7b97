// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package zarr

import (
	"bytes"
	"compress/bzip2"
	"encoding/binary"
	"hash/crc32"
	"io"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"

	"github.com/euryale-dev/euryale/internal/blosc"
	"github.com/euryale-dev/euryale/internal/deflate"
)

// decoders maps the names of supported compressors, except Blosc, to their readers.
var decoders = map[string]func(io.Reader) (io.Reader, error){
	"zlib": func(r io.Reader) (io.Reader, error) { return zlib.NewReader(r) },
	"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	"bz2":  func(r io.Reader) (io.Reader, error) { return bzip2.NewReader(r), nil },
	"zstd": func(r io.Reader) (io.Reader, error) {
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(64<<20))
	},
}

// decompress returns at most limit bytes, and an error if there are more.
func (c *codec) decompress(b []byte, limit int) ([]byte, error) {
	if c == nil {
		return b, nil
	}
	if c.ID == "blosc" {
		out, err := blosc.Decode(b, limit)
		if err != nil {
			return nil, &FormatError{Format: "zarr", What: err.Error(), Try: copyAgain}
		}
		return out, nil
	}
	r, err := decoders[c.ID](bytes.NewReader(b))
	if err != nil {
		return nil, &FormatError{Format: "zarr", What: "a chunk compressed by " + c.ID + " cannot be decompressed", Err: err, Try: copyAgain}
	}
	if z, ok := r.(*zstd.Decoder); ok {
		defer z.Close()
	}
	out, err := io.ReadAll(io.LimitReader(r, int64(limit)+1))
	if err != nil {
		return nil, &FormatError{Format: "zarr", What: "a chunk compressed by " + c.ID + " cannot be decompressed", Err: err, Try: copyAgain}
	}
	if len(out) > limit {
		return nil, bad("a chunk has more than the %d bytes that it should have: copy the store again", limit)
	}
	return out, nil
}

// compressor writes chunks as zlib streams, which end with an Adler-32 checksum of their bytes. Level 0 stores the bytes as they are in
// such a stream. In version 3, which has no zlib, chunks are gzip streams if the level is above 0, and end with a CRC-32C.
type compressor struct {
	level int
	v3    bool
	raw   bool // no stream and no checksum: of a store of an older version that goes on
	out   bytes.Buffer
	w     deflate.Writer
}

func (c *compressor) codec() *codec {
	if c.raw {
		return nil
	}
	return &codec{"zlib", c.level}
}

// run returns the chunk in its stored form, which is valid until the next call.
func (c *compressor) run(raw []byte) ([]byte, error) {
	if c.raw {
		return raw, nil
	}
	if c.v3 {
		return c.run3(raw)
	}
	c.out.Reset()
	if c.w == nil {
		w, err := deflate.NewWriter(&c.out, c.level)
		if err != nil {
			return nil, err
		}
		c.w = w
	} else {
		c.w.Reset(&c.out)
	}
	if _, err := c.w.Write(raw); err != nil {
		return nil, err
	}
	if err := c.w.Close(); err != nil {
		return nil, err
	}
	return c.out.Bytes(), nil
}

// run3 is run of version 3.
func (c *compressor) run3(raw []byte) ([]byte, error) {
	c.out.Reset()
	if c.level == 0 {
		c.out.Write(raw)
	} else {
		w, err := gzip.NewWriterLevel(&c.out, c.level)
		if err == nil {
			_, err = w.Write(raw)
		}
		if err == nil {
			err = w.Close()
		}
		if err != nil {
			return nil, err
		}
	}
	sum := binary.LittleEndian.AppendUint32(nil, crc32.Checksum(c.out.Bytes(), castagnoli))
	c.out.Write(sum)
	return c.out.Bytes(), nil
}
