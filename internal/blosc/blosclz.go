// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package blosc

import "io"

// bloscLZ fills dst from one block of Blosc's own compressor: runs of up to 32 literal bytes, and copies of at
// least 3 bytes from up to 73726 back.
func bloscLZ(dst, src []byte) error {
	const far = 8191 // distance from which on a copy has two more bytes
	out, in := 0, 0
	next := func() int {
		if in >= len(src) {
			in = len(src) + 1
			return 0
		}
		in++
		return int(src[in-1])
	}
	for ctrl := next() & 31; in <= len(src); ctrl = next() {
		if ctrl < 32 {
			n := ctrl + 1
			if n > len(src)-in || n > len(dst)-out {
				return io.ErrUnexpectedEOF
			}
			out += copy(dst[out:], src[in:in+n])
			in += n
		} else {
			n, back := ctrl>>5-1, ctrl&31<<8
			for more := n == 6; more && n <= len(dst); {
				k := next()
				n += k
				more = k == 255
			}
			low := next()
			if back += low; back == far {
				back = next()<<8 + next() + far
			}
			n, back = n+3, back+1
			if in > len(src) || back > out || n > len(dst)-out {
				return io.ErrUnexpectedEOF
			}
			repeat(dst, out, back, n)
			out += n
		}
		if in == len(src) {
			break
		}
	}
	if out != len(dst) {
		return io.ErrUnexpectedEOF
	}
	return nil
}
