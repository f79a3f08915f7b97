// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"io"

	"github.com/euryale-dev/euryale/internal/foreign"
)

const signature = "\x89HDF\r\n\x1a\n"

// superblock finds the signature at byte 0, 512, 1024, 2048, ... and reads the
// sizes and the root group's address.
func (f *File) superblock() error {
	f.offsetSize, f.lengthSize = 8, 8
	total := f.size
	for at := int64(0); at+8 <= total; at = max(512, 2*at) {
		var b [8]byte
		if _, err := f.r.ReadAt(b[:], at); err != nil {
			return &FormatError{Format: "hdf5", File: f.name, Offset: at, What: "the file cannot be read", Err: err}
		}
		if string(b[:]) == signature {
			f.base, f.size = at, total-at
			return f.superblockFields()
		}
	}
	if total == 0 {
		return &FormatError{Format: "hdf5", File: f.name, What: "it is empty (0 bytes)", Try: "copy it again"}
	}
	head := make([]byte, min(total, 512))
	if _, err := f.r.ReadAt(head, 0); err != nil && err != io.EOF {
		return &FormatError{Format: "hdf5", File: f.name, What: "the file cannot be read", Err: err}
	}
	return &FormatError{Format: "hdf5", File: f.name, What: "it is not an HDF5 file but " + foreign.Described(head) + ": no signature \"\\x89HDF\" is at byte 0, 512, 1024, ...",
		Try: "check the name, or whether the download is an error page"}
}

func (f *File) superblockFields() error {
	b, err := f.bytes(0, min(uint64(f.size), 128))
	if err != nil {
		return err
	}
	c := f.cursor(b)
	c.skip(8)
	version := c.u8()
	if version > 3 {
		return f.unsupported(8, "write it with an older library version, for example libver=\"v110\" in h5py", "the superblock has version %d, want 0 to 3", version)
	}
	if version < 2 {
		c.skip(4)
	}
	f.offsetSize, f.lengthSize = c.u8(), c.u8()
	if !validSize(f.offsetSize) || !validSize(f.lengthSize) {
		return f.bad(9, "addresses have %d bytes and lengths %d bytes, want 2, 4 or 8", f.offsetSize, f.lengthSize)
	}
	c.offset, c.length = f.offsetSize, f.lengthSize
	c.skip(1) // reserved, or flags of version 2
	if version < 2 {
		c.skip(8) // tree ranks and flags
	}
	if version == 1 {
		c.skip(4)
	}
	base := c.addr() // what addresses counted from when the file was written
	c.addr()         // free space, or superblock extension
	end := c.addr()
	if version < 2 {
		c.addr()         // driver
		c.skip(c.offset) // name of the root's entry
		f.root = c.addr()
	} else {
		f.root = c.addr()
		c.b = b[:min(len(b), c.i+4)]
		if err := f.verify(0, c); err != nil {
			return err
		}
	}
	switch {
	case c.short:
		return f.bad(0, "the superblock ends after %d bytes", len(b))
	case end != undef && end-base > uint64(f.size) && !f.anySum && !f.cut:
		return f.bad(0, "the file should have %d bytes, but it has %d", end-base, f.size)
	}
	return nil
}

func validSize(n int) bool { return n == 2 || n == 4 || n == 8 }
