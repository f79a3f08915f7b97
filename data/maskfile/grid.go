// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/errtext"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor"
)

// file is what readers of grids need of an open file.
type file interface {
	io.ReadSeeker
	io.ReaderAt
}

// gridReaders are the formats of an array of numbers.
var gridReaders = map[string]func(f file, size int64, s Settings) (*Image, error){
	"npy":  imageNPY,
	"npz":  imageNPZ,
	"edf":  imageEDF,
	"cbf":  imageCBF,
	"text": imageText,
}

// readGrid reads a file that is an array of numbers.
func readGrid(name, kind string, s Settings) (*Image, error) {
	f, err := foreign.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !strings.EqualFold(path.Ext(name), ".gz") {
		return gridReaders[kind](f, info.Size(), s)
	}
	b, err := unzipped(f, mostEDFHead+8*int64(s.most()))
	if err != nil {
		return nil, fmt.Errorf("the file cannot be decompressed: %w: copy it again", err)
	}
	return gridReaders[kind](bytes.NewReader(b), int64(len(b)), s)
}

// unzipped returns what a file holds that gzip compressed, and fails where that is more than the given number of bytes. It counts them first,
// so that it takes no memory for what is too much.
func unzipped(r io.ReadSeeker, most int64) ([]byte, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	n, err := io.Copy(io.Discard, io.LimitReader(z, most+1))
	if err != nil {
		return nil, err
	}
	if n > most {
		return nil, fmt.Errorf("it holds more than %d bytes, which no image of the largest size has", most)
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	if err := z.Reset(r); err != nil {
		return nil, err
	}
	b := make([]byte, n)
	_, err = io.ReadFull(z, b)
	return b, err
}

func imageNPY(f file, size int64, s Settings) (*Image, error) {
	r := io.NewSectionReader(f, 0, size)
	_, _, shape, err := tensor.NPYHead(r)
	if err != nil {
		return nil, err
	}
	if len(shape) != 2 {
		return nil, fmt.Errorf("the array has %d axes: want 2, rows and columns", len(shape))
	}
	if err := s.shape(shape[0], shape[1]); err != nil {
		return nil, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	x, err := tensor.ReadNPY(r)
	if err != nil {
		return nil, err
	}
	return &Image{Height: shape[0], Width: shape[1], Values: x.Float64s()}, nil
}

// imageNPZ reads the array of an NPZ file that the settings name, the one that is called mask, or the only one with two axes.
func imageNPZ(f file, size int64, s Settings) (*Image, error) {
	z, err := foreign.Zip(f, size)
	if err != nil {
		return nil, fmt.Errorf("%w: save it with numpy.savez", err)
	}
	var found []*zip.File
	for _, member := range z.File {
		name := strings.TrimSuffix(member.Name, ".npy")
		if s.Key != "" && name != strings.TrimPrefix(s.Key, "/") || name == member.Name {
			continue
		}
		r, err := member.Open()
		if err != nil {
			return nil, err
		}
		_, _, shape, err := tensor.NPYHead(r)
		r.Close()
		if err == nil && len(shape) == 2 {
			if name == "mask" {
				found = []*zip.File{member}
				break
			}
			found = append(found, member)
		}
	}
	if len(found) != 1 {
		return nil, notOne(found, s.Key)
	}
	r, err := found[0].Open()
	if err != nil {
		return nil, err
	}
	_, _, shape, err := tensor.NPYHead(r)
	r.Close()
	if err == nil {
		err = s.shape(shape[0], shape[1])
	}
	if err != nil {
		return nil, fmt.Errorf("the array %s: %w", strings.TrimSuffix(found[0].Name, ".npy"), err)
	}
	if r, err = found[0].Open(); err != nil {
		return nil, err
	}
	defer r.Close()
	x, err := tensor.ReadNPY(bufio.NewReader(io.LimitReader(r, 1<<16+16*int64(s.most()))))
	if err != nil {
		return nil, err
	}
	return &Image{Height: shape[0], Width: shape[1], Values: x.Float64s()}, nil
}

// notOne says that an archive does not have exactly one array that could be meant.
func notOne(found []*zip.File, key string) error {
	if len(found) == 0 && key != "" {
		return fmt.Errorf("the archive has no array %q of two axes", key)
	}
	var names []string
	for _, m := range found[:min(len(found), 5)] {
		names = append(names, strings.TrimSuffix(m.Name, ".npy"))
	}
	if len(found) == 0 {
		return fmt.Errorf("the archive has no array of two axes, rows and columns")
	}
	return fmt.Errorf("%d arrays have two axes (%s): name one with --dataset, or as FILE:NAME", len(found), strings.Join(names, ", "))
}

// mostEDFHead is the largest size of the header of an EDF file in bytes.
const mostEDFHead = 1 << 20

// edfPiece is how much of an EDF file is read to find a header in bytes; few are longer.
const edfPiece = 1 << 13

// edfTypes are NumPy's names of the types of EDF files, without the byte order.
var edfTypes = map[string]string{"unsignedbyte": "u1", "signedbyte": "i1", "unsignedshort": "u2", "signedshort": "i2", "unsignedinteger": "u4", "signedinteger": "i4",
	"unsignedlong": "u4", "signedlong": "i4", "unsigned64": "u8", "signed64": "i8", "float": "f4", "floatvalue": "f4", "real": "f4", "double": "f8", "doublevalue": "f8"}

// imageEDF reads the first image of a file in the ESRF data format.
func imageEDF(f file, size int64, s Settings) (*Image, error) {
	m, err := edfAt(f, 0, size, s)
	if err != nil {
		return nil, err
	}
	x, err := m.numbers(f)
	if err != nil {
		return nil, err
	}
	return &Image{Height: m.height, Width: m.width, Values: x.Float64s()}, nil
}

// edfAt reads the header of the image of an EDF file that begins at a position: lines NAME = VALUE ; between braces, which the numbers
// follow, rows of the second dimension after each other. It returns io.EOF where only padding is left of the file.
func edfAt(f file, from, size int64, s Settings) (m edfImage, err error) {
	head := make([]byte, min(size-from, edfPiece))
	if _, err := f.ReadAt(head, from); err != nil && err != io.EOF {
		return m, err
	}
	end := bytes.IndexByte(head, '}')
	if end < 0 && from < size-edfPiece {
		head = make([]byte, min(size-from, mostEDFHead))
		if _, err := f.ReadAt(head, from); err != nil && err != io.EOF {
			return m, err
		}
		end = bytes.IndexByte(head, '}')
	}
	if from > 0 && size-from <= edfPiece && len(bytes.Trim(head, "\x00\r\n ")) == 0 {
		return m, io.EOF
	}
	if !bytes.HasPrefix(bytes.TrimLeft(head, "\r\n "), []byte("{")) || end < 0 {
		return m, fmt.Errorf("the file has no EDF header between braces%s: give an EDF image, or use the extension of its format", after(from))
	}
	fields := map[string]string{}
	for field := range strings.SplitSeq(string(head[:end]), ";") {
		name, value, _ := strings.Cut(strings.Trim(field, "{ \r\n\t"), "=")
		fields[strings.ToLower(strings.TrimSpace(name))] = strings.TrimSpace(value)
	}
	m.width, err = strconv.Atoi(fields["dim_1"])
	var err2 error
	m.height, err2 = strconv.Atoi(fields["dim_2"])
	if err != nil || err2 != nil {
		return m, fmt.Errorf("the EDF header%s has Dim_1 %.20q and Dim_2 %.20q: want the numbers of columns and rows", after(from), fields["dim_1"], fields["dim_2"])
	}
	if err := s.shape(m.height, m.width); err != nil {
		return m, err
	}
	m.kind = edfTypes[strings.ToLower(fields["datatype"])]
	if c := strings.ToLower(fields["compression"]); m.kind == "" || c != "" && c != "none" && c != "nocompression" {
		return m, fmt.Errorf("the EDF image%s has the type %.30q and the compression %.30q: save it as plain integers or floats", after(from), fields["datatype"], fields["compression"])
	}
	m.order = "<"
	if strings.HasPrefix(strings.ToLower(fields["byteorder"]), "high") {
		m.order = ">"
	}
	if end++; end < len(head) && head[end] == '\r' {
		end++
	}
	if end < len(head) && head[end] == '\n' {
		end++
	}
	m.at, m.n = from+int64(end), int64(m.height)*int64(m.width)*int64(m.kind[1]-'0')
	if m.at+m.n > size {
		return m, fmt.Errorf("the EDF file has %d bytes after its header%s instead of the %d of %d x %d pixels: it is truncated, copy it again", size-m.at, after(from), m.n, m.height, m.width)
	}
	return m, nil
}

// after says where in a file a later header stands.
func after(from int64) string {
	if from == 0 {
		return ""
	}
	return fmt.Sprintf(" at byte %d", from)
}

// imageText reads rows of numbers, as numpy.savetxt writes them, with # before comments.
func imageText(f file, size int64, s Settings) (*Image, error) {
	m := &Image{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, int(min(size+1, 1<<26)))
	for n := 1; lines.Scan(); n++ {
		fields := fieldsOf(lines.Bytes())
		if len(fields) == 0 {
			continue
		}
		if m.Width == 0 {
			m.Width = len(fields)
		}
		if len(fields) != m.Width {
			return nil, fmt.Errorf("line %d has %s instead of the %d of the first: want an image with a line for each row, or a list of pixels with two columns", n, errtext.Count(len(fields), "number"), m.Width)
		}
		if err := s.shape(m.Height+1, m.Width); err != nil {
			return nil, err
		}
		for _, text := range fields {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil {
				return nil, fmt.Errorf("line %d: %q is not a number: begin comments with #", n, foreign.Short(text, 40))
			}
			m.Values = append(m.Values, v)
		}
		m.Height++
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return m, s.shape(m.Height, m.Width)
}

// fieldsOf returns the numbers of a line, without its comment.
func fieldsOf(line []byte) []string {
	text, _, _ := strings.Cut(string(foreign.Unmarked(line)), "#")
	return strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || r == ' ' || r == '\t' || r == '\r' })
}

// isGridText reports whether a text file is an image: its first line of numbers has more than the two of a list of pixels.
func isGridText(name string) bool {
	f, err := foreign.Open(name)
	if err != nil {
		return false
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		if n := len(fieldsOf(lines.Bytes())); n > 0 {
			return n > 2
		}
	}
	return false
}

// Split takes a name such as mask.h5:/entry/mask apart into that of the file and the path of a dataset in it, "" if the name is that of a
// file.
func Split(name string) (file, dataset string) {
	if foreign.Exists(name) {
		return name, ""
	}
	at := strings.LastIndex(name, ":")
	if at < 1 || kinds[strings.ToLower(path.Ext(name[:at]))] == "" {
		return name, ""
	}
	return name[:at], name[at+1:]
}
