// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package hdf5

import (
	"fmt"
	"io"
	"path/filepath"
	"sync"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// File is an HDF5 file open for reading. Its methods may be called from
// several goroutines.
type File struct {
	// MaxBytes limits the number of bytes that one call may allocate for elements. Open sets it to 64
	// MiB plus 1032 times the size of the file; raise it to read a mostly empty dataset whole. While it
	// has the value from Open, the sizes of a virtual dataset's sources raise the bound for that
	// dataset in the same way.
	MaxBytes int64

	// AnyFolder lets virtual datasets take elements from files anywhere. Otherwise their sources
	// must be in the folder of this file or below it, and any other source is an error, so that a
	// file from elsewhere cannot make a program read files that it was not given. Set it after Open,
	// before the first Dataset.
	AnyFolder bool

	name       string
	dir        string // folder searched for external links and sources; "" for none
	tree       string // absolute path of the folder that sources must be in or below
	openBytes  int64  // MaxBytes as Open set it
	r          io.ReaderAt
	closer     io.Closer
	size       int64 // number of bytes from base to the end
	base       int64 // position of the superblock, which addresses count from
	offsetSize int
	lengthSize int
	root       uint64
	cut        bool // whether the end of the file may be missing
	anySum     bool // whether to accept wrong checksums, which the fuzz targets need

	mu          sync.Mutex
	headers     map[uint64]*header
	headerBytes uint64 // total size of headers in bytes
	groups      map[uint64][]Link
	groupLinks  uint64 // number of links in groups
	heaps       map[uint64]collection
	heapBytes   uint64           // total size of heaps in bytes
	types       map[uint64]*Type // named types, by the address of their message
	external    map[string]*File
	sources     *sourcePool         // open source files; nil until the first
	mapped      map[string]*Dataset // datasets that virtual datasets took elements from
	names       map[uint64]string
}

// Open opens the named file for reading.
func Open(name string) (*File, error) { return openFile(name, false) }

// OpenCut opens a truncated file, which Open refuses. What lies before the end can be read; reading a
// part of an array that lies beyond it is an error.
func OpenCut(name string) (*File, error) { return openFile(name, true) }

func openFile(name string, cut bool) (*File, error) {
	r, err := foreign.Open(name, ".h5", ".hdf", ".hdf5", ".nxs", ".nc")
	if err != nil {
		return nil, fmt.Errorf("hdf5: %w", err)
	}
	info, err := r.Stat()
	if err != nil || info.IsDir() {
		r.Close()
		return nil, &FormatError{Format: "hdf5", File: name, What: "it is a folder or cannot be read", Try: "name a file", Err: err}
	}
	f, err := read(r, info.Size(), name, cut)
	if err != nil {
		r.Close()
		return nil, err
	}
	f.closer, f.dir = r, filepath.Dir(name)
	if f.tree, err = filepath.Abs(f.dir); err != nil {
		f.Close()
		return nil, fmt.Errorf("hdf5: %w", err)
	}
	return f, nil
}

// Read makes a File from the size bytes that r provides. External links and virtual datasets with
// sources in other files need a File from Open.
func Read(r io.ReaderAt, size int64) (*File, error) { return read(r, size, "file", false) }

func read(r io.ReaderAt, size int64, name string, cut bool) (*File, error) {
	f := &File{cut: cut, name: name, r: r, size: size, MaxBytes: 64<<20 + min(size, 1<<42)*maxRatio}
	f.openBytes = f.MaxBytes
	if err := f.superblock(); err != nil {
		return nil, err
	}
	return f, nil
}

// Close closes the file and all files opened through its external links and virtual datasets.
func (f *File) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, g := range f.external {
		g.Close()
	}
	f.external = nil
	if f.sources == nil { // none from now on
		f.sources = &sourcePool{owner: f}
	} else if f.sources.owner == f {
		f.sources.close()
	}
	if f.closer == nil {
		return nil
	}
	err := f.closer.Close()
	f.closer = nil
	return err
}

// Name returns the name given to Open.
func (f *File) Name() string { return f.name }

// bytes reads n bytes at an address. It allocates only what the file holds.
func (f *File) bytes(addr, n uint64) ([]byte, error) {
	if err := f.holds(addr, n); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	return b, f.fill(b, addr)
}

// holds reports whether the n bytes at addr lie inside the file.
func (f *File) holds(addr, n uint64) error {
	if size := uint64(f.size); addr > size || n > size-addr {
		return f.bad(addr, "%d bytes are needed here, but the file ends at byte %d", n, f.base+f.size)
	}
	return nil
}

// fill reads len(b) bytes at an address that holds has checked.
func (f *File) fill(b []byte, addr uint64) error {
	if n, err := f.r.ReadAt(b, f.base+int64(addr)); n < len(b) {
		e := f.bad(addr, "only %d of %d bytes could be read", n, len(b))
		e.Err = err
		return e
	}
	return nil
}

// block reads a structure of n bytes that begins with a signature.
func (f *File) block(addr, n uint64, signature string) (*cursor, error) {
	b, err := f.bytes(addr, n)
	if err != nil {
		return nil, err
	}
	c := f.cursor(b)
	if got := c.take(len(signature)); string(got) != signature {
		return nil, f.bad(addr, "the bytes %q stand here, want the signature %q", got, signature)
	}
	return c, nil
}

// checked is block for a structure whose last four bytes are its checksum.
func (f *File) checked(addr, n uint64, signature string) (*cursor, error) {
	c, err := f.block(addr, n, signature)
	if err != nil {
		return nil, err
	}
	return c, f.verify(addr, c)
}

// verify compares the last four bytes of c with the checksum of the others and
// takes them off.
func (f *File) verify(addr uint64, c *cursor) error {
	n := len(c.b) - 4
	if n < 0 {
		return f.bad(addr, "a structure of %d bytes has no checksum", len(c.b))
	}
	tail := cursor{b: c.b[n:]}
	want, got := tail.u32(), lookup3(c.b[:n])
	c.b = c.b[:n]
	if want != got && !f.anySum {
		return f.bad(addr, "the checksum is %08x, but the data give %08x", want, got)
	}
	return nil
}

// once guards a walk over blocks against cycles and blocks used twice.
type once map[uint64]bool

func (o once) visit(f *File, addr uint64) error {
	if o[addr] {
		return f.bad(addr, "the block is used twice")
	}
	o[addr] = true
	return nil
}
