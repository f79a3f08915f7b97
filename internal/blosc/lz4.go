// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package blosc

import (
	"encoding/binary"
	"io"
)

// LZ4 fills dst from one LZ4 block.
//
// Format: https://github.com/lz4/lz4/blob/dev/doc/lz4_Block_format.md
func LZ4(dst, src []byte) error {
	out := 0
	for len(src) > 0 {
		token := src[0]
		src = src[1:]
		literals, rest, ok := lz4Length(int(token>>4), src)
		if !ok || literals > len(rest) || literals > len(dst)-out {
			return io.ErrUnexpectedEOF
		}
		copy(dst[out:], rest[:literals])
		out += literals
		if src = rest[literals:]; len(src) == 0 {
			break
		}
		if len(src) < 2 {
			return io.ErrUnexpectedEOF
		}
		back := int(binary.LittleEndian.Uint16(src))
		match, rest, ok := lz4Length(int(token&15), src[2:])
		match += 4
		if !ok || back == 0 || back > out || match > len(dst)-out {
			return io.ErrUnexpectedEOF
		}
		repeat(dst, out, back, match)
		out += match
		src = rest
	}
	if out != len(dst) {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// lz4Length adds the extra bytes of a length that starts at 15.
func lz4Length(n int, src []byte) (int, []byte, bool) {
	if n < 15 {
		return n, src, true
	}
	for i, b := range src {
		n += int(b)
		if b < 255 {
			return n, src[i+1:], true
		}
	}
	return 0, nil, false
}

// repeat copies n bytes from back bytes before at, which may be bytes that it writes itself.
func repeat(dst []byte, at, back, n int) {
	for to := at + n; at < to; {
		at += copy(dst[at:to], dst[at-min(back, at):at])
	}
}
