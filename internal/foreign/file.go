// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
)

// Open opens a file for reading. It returns an error if the file is not a regular file: a named
// pipe, for example, might never answer. The error about a folder names the files in it with one of the lower-case endings, or any if
// there are none.
func Open(name string, endings ...string) (*os.File, error) {
	Name(name)
	st, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if st.IsDir() {
		return nil, folderError(name, endings)
	}
	if err := regular(name, st.Mode()); err != nil {
		return nil, err
	}
	return os.Open(name)
}

// Exists reports whether there is a file of a name, be it one that cannot be read.
func Exists(name string) bool {
	Name(name)
	_, err := os.Stat(name)
	return !errors.Is(err, fs.ErrNotExist)
}

// OpenIn is Open for a file of a file system.
func OpenIn(fsys fs.FS, name string) (fs.File, error) {
	Name(name)
	st, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if err := regular(name, st.Mode()); err != nil {
		return nil, err
	}
	return fsys.Open(name)
}

// regular returns an error that says what a file is if it is no regular file.
func regular(name string, m fs.FileMode) error {
	what := ""
	switch {
	case m.IsDir():
		what = "is a folder: name a file"
	case m&fs.ModeNamedPipe != 0:
		what = "is a pipe: write what comes through it to a file first"
	case !m.IsRegular():
		what = "is a device or a socket: name a file"
	}
	if what == "" {
		return nil
	}
	return &fs.PathError{Op: "open", Path: name, Err: otherKind(what)}
}

// otherKind says what something is that is no file.
type otherKind string

func (k otherKind) Error() string { return string(k) }

// IsOther reports whether an error says what something is that is no file, and what to name.
func IsOther(err error) bool { return errors.As(err, new(otherKind)) }

// ReadFile reads a whole file, opened as by Open.
func ReadFile(name string, endings ...string) ([]byte, error) {
	f, err := Open(name, endings...)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b bytes.Buffer
	if st, err := f.Stat(); err == nil && st.Size() < 1<<36 { // files that grow by doubling need up to three times their size
		b.Grow(int(st.Size()) + bytes.MinRead)
	}
	_, err = b.ReadFrom(f)
	return b.Bytes(), err
}

// kinds lists the first bytes of kinds of files that are often given by mistake.
var kinds = []struct{ head, name string }{
	{"SIMPLE  =", "a FITS file"}, {"XTENSION=", "a FITS file"}, {"\x89HDF\r\n\x1a\n", "an HDF5 file"}, {"CDF\x01", "a netCDF file"}, {"CDF\x02", "a netCDF file"}, {"CDF\x05", "a netCDF file"},
	{"\x93NUMPY", "a NumPy file"}, {"PK\x03\x04", "a ZIP archive (or .npz, .xlsx)"}, {"\x1f\x8b", "a gzip file: unpack it"}, {"BZh", "a bzip2 file: unpack it"},
	{"\xfd7zXZ\x00", "an xz file: unpack it"}, {"\x28\xb5\x2f\xfd", "a zstd file: unpack it"}, {"\x89PNG", "a PNG picture"}, {"\xff\xd8\xff", "a JPEG picture"},
	{"%PDF-", "a PDF document"}, {"II*\x00", "a TIFF picture"}, {"MM\x00*", "a TIFF picture"}, {"II+\x00", "a BigTIFF picture"}, {"MM\x00+", "a BigTIFF picture"}, {"ARROW1", "an Arrow file"}, {"PAR1", "a Parquet file"}, {"\x7fELF", "a program"},
	{"\xff\xfe", "UTF-16 text: save it as UTF-8"}, {"\xfe\xff", "UTF-16 text: save it as UTF-8"}, {"\x80\x04\x95", "a Python pickle"},
}

// NotText names the kind of a file that begins with head, or returns "" if it may be UTF-8 text.
func NotText(head []byte) string {
	for _, k := range kinds {
		if bytes.HasPrefix(head, []byte(k.head)) {
			return k.name
		}
	}
	head = head[:min(len(head), 512)]
	switch zeros := bytes.Count(head, []byte{0}); {
	case zeros == 0:
		return ""
	case 2*zeros >= len(head)-1 && len(strings.Trim(string(head), "\x00")) > 0:
		return "UTF-16 text, or binary: save it as UTF-8"
	}
	return "a binary file"
}

// Described says what a file seems to be that begins with head, such as "a TIFF picture", or "text that begins with ...".
func Described(head []byte) string {
	if kind, _, _ := strings.Cut(NotText(head), ": "); kind != "" {
		return kind
	}
	line, _, _ := bytes.Cut(bytes.TrimSpace(Unmarked(head)), []byte("\n"))
	if len(line) == 0 {
		return "empty"
	}
	return fmt.Sprintf("text that begins with %q", Short(string(bytes.TrimSpace(line)), 60))
}

// bom is the byte order mark with which Windows programs begin UTF-8 text.
var bom = []byte("\xef\xbb\xbf")

// Unmarked returns text without the byte order mark.
func Unmarked(b []byte) []byte { return bytes.TrimPrefix(b, bom) }
