// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package deflate makes zlib streams with the compressor that suits the level best.
//
//	z, err := deflate.NewWriter(&out, 4)
//	z.Write(chunk)
//	err = z.Close()
//	z.Reset(&out)         // for the next chunk
package deflate

import (
	"compress/zlib"
	"io"

	fast "github.com/klauspost/compress/zlib"
)

// Writer is a compressor; Reset begins another stream.
type Writer interface {
	io.WriteCloser
	Reset(w io.Writer)
}

// NewWriter returns a compressor of level 1 (fast) to 9 (small), or of level 0, which only adds a checksum. It is the faster of two
// compressors, except at level 9: there the faster one takes a second for 256 KiB of zeros and
// produces 30 times as much output.
func NewWriter(w io.Writer, level int) (Writer, error) {
	if level == zlib.BestCompression {
		return zlib.NewWriterLevel(w, level)
	}
	return fast.NewWriterLevel(w, level)
}
