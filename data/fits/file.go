// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"sync"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/internal/spelling"
)

const block = 2880

// File is a FITS file open for reading. Its methods may be called from several goroutines.
type File struct {
	// MaxBytes limits the memory that one call may allocate for data that are not stored in the file in
	// that form: decompressed pixels and lists of variable length. Open sets it to 64 MiB plus 1032
	// times the size of the file, the highest compression ratio that deflate can reach.
	MaxBytes int64

	name string
	r    io.ReaderAt
	size int64
	hdus []*HDU
	end  []func() error
}

// HDU is a header with its data.
type HDU struct {
	Header *Header
	Index  int    // position in the file, 0 for the primary HDU
	Name   string // value of EXTNAME; "" if there is none

	file *File
	head int64 // position of the header in bytes
	at   int64 // position of the data
	size int64 // bytes of data that the header announces, without padding
	kind string
	once sync.Once
	sums error // what Verify found
}

// Open opens the named file for reading: a FITS file, or one compressed by gzip.
func Open(name string) (*File, error) {
	osFile, err := foreign.Open(name, ".fits", ".fit", ".fits.gz")
	if err != nil {
		return nil, err
	}
	info, err := osFile.Stat()
	if err != nil {
		osFile.Close()
		return nil, err
	}
	f := &File{name: name, end: []func() error{osFile.Close}}
	if err := f.open(osFile, info.Size()); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Read makes a File from the size bytes that r provides.
func Read(r io.ReaderAt, size int64) (*File, error) {
	f := &File{}
	if err := f.open(r, size); err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

func (f *File) open(r io.ReaderAt, size int64) error {
	f.MaxBytes = math.MaxInt64
	if size < (math.MaxInt64-64<<20)/1032 {
		f.MaxBytes = 64<<20 + 1032*size
	}
	f.r, f.size = r, size
	var magic [2]byte
	if _, err := r.ReadAt(magic[:], 0); err == nil && magic == [2]byte{0x1f, 0x8b} {
		if err := f.unpack(); err != nil {
			return err
		}
	}
	return f.scan()
}

// Close closes the file.
func (f *File) Close() error {
	var errs []error
	for _, end := range f.end {
		errs = append(errs, end())
	}
	f.end = nil
	return errors.Join(errs...)
}

// Name returns the name given to Open.
func (f *File) Name() string { return f.name }

// HDUs returns all HDUs, the primary one first.
func (f *File) HDUs() []*HDU { return append([]*HDU{}, f.hdus...) }

// Has reports whether the file has an extension with the given name.
func (f *File) Has(name string) bool {
	_, err := f.HDU(name)
	return err == nil
}

// HDU returns the first extension with the given name. Case does not matter, and PRIMARY is the primary
// HDU.
func (f *File) HDU(name string) (*HDU, error) {
	var names []string
	for _, h := range f.hdus {
		if strings.EqualFold(h.Name, name) || h.Index == 0 && strings.EqualFold(name, "PRIMARY") {
			return h, nil
		}
		if h.Name != "" {
			names = append(names, h.Name)
		}
	}
	return nil, &MissingError{Format: "fits", File: f.name, Kind: "extension", Name: name, Near: spelling.Sorted(strings.ToUpper(name), names)}
}

// Image returns the image of an extension.
func (f *File) Image(name string) (*Image, error) {
	h, err := f.HDU(name)
	if err != nil {
		return nil, err
	}
	return h.Image()
}

// Table returns the table of an extension.
func (f *File) Table(name string) (*Table, error) {
	h, err := f.HDU(name)
	if err != nil {
		return nil, err
	}
	return h.Table()
}

// Verify checks DATASUM and CHECKSUM of every HDU that has them, and returns an error for each
// mismatch, joined.
func (f *File) Verify() error {
	var errs []error
	for _, h := range f.hdus {
		errs = append(errs, h.Verify())
	}
	return errors.Join(errs...)
}

// scan finds the HDUs.
func (f *File) scan() error {
	for at := int64(0); ; {
		h, next, err := f.header(at)
		if err != nil {
			return err
		}
		if h == nil {
			return nil
		}
		f.hdus = append(f.hdus, h)
		if h.size == 0 { // nobody will ask for its data
			if err := h.verified(); err != nil {
				return err
			}
		}
		if at = next; at >= f.size {
			return nil
		}
	}
}

// header reads the header at a position and returns where the next one is; nil if what follows is no
// extension, which the standard allows after the last one.
func (f *File) header(at int64) (*HDU, int64, error) {
	h := &HDU{Header: &Header{}, Index: len(f.hdus), file: f, head: at}
	buf := make([]byte, block)
	for pos := at; ; pos += block {
		n, err := f.r.ReadAt(buf, pos)
		if n < block {
			if pos == at && at > 0 {
				return nil, 0, nil // less than a block of anything
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return nil, 0, err
			}
			return nil, 0, &FormatError{Format: "fits", File: f.name, Place: h.label(), Offset: pos, Err: io.ErrUnexpectedEOF,
				What: fmt.Sprintf("the header ends after %d of the %d bytes of a block", n, block), Try: "fetch the file again"}
		}
		if pos == at {
			if want := map[bool]string{true: "SIMPLE  =", false: "XTENSION="}[at == 0]; string(buf[:9]) != want {
				if at > 0 {
					return nil, 0, f.last(at)
				}
				return nil, 0, &FormatError{Format: "fits", File: f.name, What: "the file does not begin with SIMPLE, so it is not a FITS file", Try: "give a FITS file"}
			}
		}
		if h.Header.parse(buf) {
			h.at = pos + block
			break
		}
	}
	h.Name = strings.TrimSpace(h.Header.Text("EXTNAME"))
	if err := h.measure(); err != nil {
		return nil, 0, err
	}
	if h.size > math.MaxInt64-2*block-h.at {
		return nil, 0, h.bad(-1, "the data of %d bytes would end beyond the largest possible file: fetch the file again", h.size)
	}
	return h, h.at + (h.size+block-1)/block*block, nil
}

// last is whether no extension follows a block that is none: it would be lost with the damaged one.
func (f *File) last(at int64) error {
	head := make([]byte, 9)
	for pos := at + block; pos < f.size; pos += block {
		if n, _ := f.r.ReadAt(head, pos); n == len(head) && string(head) == "XTENSION=" {
			return &FormatError{Format: "fits", File: f.name, Place: fmt.Sprintf("HDU %d", len(f.hdus)), Offset: at, What: "the header does not begin with XTENSION, but other extensions follow", Try: "fetch the file again"}
		}
	}
	return nil
}

// measure finds the kind of an HDU and the size of its data.
func (h *HDU) measure() error {
	hd := h.Header
	h.kind = "IMAGE"
	if h.Index > 0 {
		h.kind = strings.TrimSpace(hd.Text("XTENSION"))
	}
	bitpix, ok := hd.Int("BITPIX")
	if !ok || bitpixLetter[int(max(-99, min(99, bitpix)))] == 0 {
		return h.bad(-1, "BITPIX is %v: want 8, 16, 32, 64, -32 or -64", h.value("BITPIX"))
	}
	naxis, ok := hd.Int("NAXIS")
	if !ok || naxis < 0 || naxis > 999 {
		return h.bad(-1, "NAXIS is %v: want 0 to 999", h.value("NAXIS"))
	}
	groups, _ := hd.Bool("GROUPS")
	if groups && h.Index == 0 {
		h.kind = "GROUPS"
	}
	n := int64(1)
	if naxis == 0 {
		n = 0
	}
	empty := false
	for i := range int(naxis) {
		d, ok := hd.Int(fmt.Sprintf("NAXIS%d", i+1))
		if !ok || d < 0 {
			return h.bad(-1, "NAXIS%d is %v: want 0 or more", i+1, h.value(fmt.Sprintf("NAXIS%d", i+1)))
		}
		if d == 0 && !(i == 0 && h.kind == "GROUPS") {
			empty = true
		}
		if i == 0 && h.kind == "GROUPS" || d == 0 {
			continue
		}
		if n > math.MaxInt64/d {
			return h.bad(-1, "the axes have more than %d elements: fetch the file again", int64(math.MaxInt64))
		}
		n *= d
	}
	if empty {
		n = 0
	}
	pcount, gcount := int64(0), int64(1)
	if h.Index > 0 || h.kind == "GROUPS" {
		if v, ok := hd.Int("PCOUNT"); ok {
			pcount = v
		}
		if v, ok := hd.Int("GCOUNT"); ok {
			gcount = v
		}
	}
	if pcount < 0 || gcount < 1 || n > math.MaxInt64-pcount {
		return h.bad(-1, "PCOUNT is %d and GCOUNT is %d: want at least 0 and 1", pcount, gcount)
	}
	size := max(bitpix, -bitpix) / 8 * gcount
	if gcount > 1<<40 || n+pcount > 0 && size > math.MaxInt64/(n+pcount) {
		return h.bad(-1, "the data have more than %d bytes: fetch the file again", int64(math.MaxInt64))
	}
	h.size = size * (n + pcount)
	return nil
}

// value returns what a header says of a keyword, for messages.
func (h *HDU) value(key string) any {
	c, ok := h.Header.Get(key)
	if !ok || c.Value == nil {
		return "absent"
	}
	return c.Value
}

// label names an HDU for messages.
func (h *HDU) label() string {
	if h.Name == "" {
		return fmt.Sprintf("HDU %d", h.Index)
	}
	return fmt.Sprintf("HDU %d (%s)", h.Index, h.Name)
}

func (h *HDU) bad(at int64, format string, args ...any) *FormatError {
	return &FormatError{Format: "fits", File: h.file.name, Place: h.label(), Offset: at, What: fmt.Sprintf(format, args...)}
}

// reading fills b with bytes of the data; at counts from the start of the data.
func (h *HDU) reading(b []byte, at int64) error {
	if err := h.present(at, int64(len(b))); err != nil {
		return err
	}
	_, err := h.file.r.ReadAt(b, h.at+at)
	if err == io.EOF && len(b) > 0 {
		err = nil // present has compared with the size
	}
	return err
}

// present reports an error unless n bytes of the data from at are in the file. Whoever allocates for
// bytes of the file asks this first.
func (h *HDU) present(at, n int64) error {
	if at < 0 || n < 0 || at > h.size || n > h.size-at {
		return h.bad(-1, "bytes %d to %d of the data were asked for, but there are only %d", at, at+n, h.size)
	}
	if h.at+at+n > h.file.size {
		e := h.bad(h.file.size, "the file ends here, but its header announces data up to byte %d", h.at+h.size)
		e.Try, e.Err = "fetch the file again", io.ErrUnexpectedEOF
		return e
	}
	return nil
}

// room reports an error unless n elements of size bytes may be allocated.
func (h *HDU) room(n, size int64) error {
	if n < 0 || size > 0 && n > h.file.MaxBytes/size {
		e := h.bad(-1, "%d elements of %d bytes need more than the limit of %d bytes, which guards against files that declare more than they hold", n, size, h.file.MaxBytes)
		e.Try = "uncompress the file, as funpack does; in Go, read fewer rows at a time or raise File.MaxBytes"
		return e
	}
	return nil
}

// temporary makes a file without a name, or one that disappears when f is closed.
func (f *File) temporary() (*os.File, error) {
	tmp, err := os.CreateTemp("", "fits-*")
	if err != nil {
		return nil, err
	}
	f.end = append(f.end, func() error {
		err := tmp.Close()
		if e := os.Remove(tmp.Name()); e != nil && !errors.Is(e, os.ErrNotExist) {
			err = errors.Join(err, e)
		}
		return err
	})
	os.Remove(tmp.Name()) // where the system allows it now, nothing stays behind after a crash
	return tmp, nil
}
