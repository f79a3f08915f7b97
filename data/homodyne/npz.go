// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package homodyne

import (
	"archive/zip"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/tensor"
)

// npzSource reads matrices of an archive of NumPy arrays.
type npzSource struct {
	file    *os.File
	members map[string]*zip.File
	name    string
	most    int64 // bytes that a member can have
	shape   [3]int
}

// expansion is the largest ratio by which deflate compresses, rounded up.
const expansion = 1040

const cubeName = "c2_exp"

func openNPZ(file *os.File, name string) (*File, error) {
	f := &File{Name: name, Layout: NPZ, First: 1, Step: math.NaN(), asked: math.NaN()}
	s := &npzSource{file: file, name: name, members: map[string]*zip.File{}}
	f.source = s
	if err := f.openArrays(s); err != nil {
		file.Close()
		return nil, err
	}
	return f, nil
}

// Close closes the file.
func (s *npzSource) Close() error { return s.file.Close() }

func (f *File) openArrays(s *npzSource) error {
	st, err := s.file.Stat()
	if err != nil {
		return err
	}
	s.most = expansion * st.Size()
	z, err := foreign.Zip(s.file, st.Size())
	if err != nil {
		return &FormatError{Format: "homodyne", File: f.Name, What: "the file cannot be read as .npz", Err: err}
	}
	for _, m := range z.File {
		if n, ok := strings.CutSuffix(m.Name, ".npy"); ok {
			s.members[n] = m
		}
	}
	q, err := s.floats("wavevector_q_list", 0)
	if err != nil {
		return err
	}
	phi, err := s.floats("phi_angles_list", 0)
	if err != nil {
		return err
	}
	r, descr, fortran, shape, err := s.array(cubeName)
	if err != nil {
		return err
	}
	r.Close()
	width := map[string]int{"<f8": 8, "<f4": 4, ">f8": 8, ">f4": 4}[descr]
	switch {
	case len(shape) != 3 || shape[1] != shape[2] || shape[1] == 0:
		return bad(f.Name, cubeName, "it has the shape %v; want (angles, frames, frames)", shape)
	case width == 0:
		return bad(f.Name, cubeName, "it has elements of type %q; want float64 or float32", descr)
	case fortran:
		return bad(f.Name, cubeName, "it is stored with the first axis fastest; write it again after numpy.ascontiguousarray")
	case int64(shape.Size())*int64(width) > s.most:
		return bad(f.Name, cubeName, "it has the shape %v, which a file of %d bytes cannot hold; copy it again if it is incomplete", shape, st.Size())
	case len(q) != shape[0] || len(phi) != shape[0]:
		return bad(f.Name, cubeName, "it has %d matrices, but wavevector_q_list has %d values of q and phi_angles_list %d angles; want equal numbers", shape[0], len(q), len(phi))
	}
	s.shape, f.Frames = [3]int(shape), shape[1]
	for i := range q {
		f.Bins = append(f.Bins, Bin{fmt.Sprintf("%s[%d]", cubeName, i), i + 1, q[i], phi[i]})
	}
	if err := f.times(s); err != nil {
		return err
	}
	return f.metadata(s)
}

// times reads the times of the frames, which must be equally spaced.
func (f *File) times(s *npzSource) error {
	var axes [2][]float64
	for i, name := range []string{"t1", "t2"} {
		if s.members[name] == nil {
			continue
		}
		t, err := s.floats(name, f.Frames)
		if err != nil {
			return err
		}
		if len(t) != f.Frames {
			return bad(f.Name, name, "it has %d times, but %s has %d frames; want one for each frame", len(t), cubeName, f.Frames)
		}
		axes[i] = t
		for k := 2; k < len(t); k++ {
			if d := t[1] - t[0]; !(d > 0) || !(math.Abs(t[k]-t[k-1]-d) <= 1e-6*d*float64(len(t))) {
				return bad(f.Name, name, "it goes from %g s to %g s at frame %d, but from %g s to %g s at the beginning; want equal steps above 0", t[k-1], t[k], k+1, t[0], t[1])
			}
		}
	}
	for i := range min(len(axes[0]), len(axes[1])) {
		if a, b := axes[0][i], axes[1][i]; math.Abs(a-b) > 1e-9*math.Abs(a) {
			return bad(f.Name, "t2", "frame %d is at %g s, but at %g s in t1; want the same times on both axes", i+1, b, a)
		}
	}
	if t := axes[0]; len(t) > 1 {
		f.Step = (t[len(t)-1] - t[0]) / float64(len(t)-1)
	}
	return nil
}

// cacheMetadata is what a cache says it was made for.
type cacheMetadata struct {
	Q     *float64 `json:"config_wavevector_q"`
	First *int     `json:"start_frame"`
	Last  *int     `json:"end_frame"`

	// Of the file that the cache was made from; only Euryale writes these.
	Source   string `json:"source_file,omitempty"`
	Bytes    int64  `json:"source_bytes,omitempty"`
	Modified string `json:"source_modified,omitempty"`
}

func (f *File) metadata(s *npzSource) error {
	const key = "cache_metadata_json"
	if s.members[key] == nil {
		if s.members["cache_metadata"] != nil {
			return bad(f.Name, "cache_metadata", "it is a Python pickle, which is a program and is not run; make the cache again with homodyne 2.23.2 or later, or name the HDF5 file")
		}
		f.Notes = append(f.Notes, key+" is not there: the first row is taken to be frame 1")
		return nil
	}
	text, err := s.text(key)
	if err != nil {
		return err
	}
	var m cacheMetadata
	if err := foreign.Decode([]byte(text), &m, false); err != nil {
		return &FormatError{Format: "homodyne", File: f.Name, Place: key, What: "the description of the cache is not valid JSON", Err: err, Try: "make the cache again, or name the HDF5 file"}
	}
	if m.Q != nil {
		f.asked = *m.Q
	}
	if m.First != nil {
		if *m.First < 1 {
			return bad(f.Name, key, "the first frame is %d; want frames from 1", *m.First)
		}
		f.First = *m.First
	}
	if m.Last != nil {
		f.last = *m.Last
		if n := f.last - f.First + 1; n < f.Frames {
			return bad(f.Name, key, "the frames %d to %d are %d, but %s has %d; make the cache again", f.First, f.last, n, cubeName, f.Frames)
		}
	}
	return f.unchanged(m)
}

// unchanged returns an error if the file that a cache was made from is another now.
func (f *File) unchanged(m cacheMetadata) error {
	if m.Source == "" {
		f.Notes = append(f.Notes, "The cache does not say which file it was made from, so it may be out of date. If homodyne or xpcsjax made it from an APS-U file with empty cells, its q and angles are wrong; name the HDF5 file instead if there is one.")
		return nil
	}
	st, err := os.Stat(m.Source)
	if err != nil {
		f.Notes = append(f.Notes, "the file that this cache was made from is no longer there: "+m.Source)
		return nil
	}
	if at := st.ModTime().UTC().Format(time.RFC3339Nano); st.Size() != m.Bytes || at != m.Modified {
		return bad(f.Name, "cache_metadata_json", "%s now has %d bytes and the date %s, but had %d bytes and the date %s when this cache was made; name that file, or make the cache again",
			m.Source, st.Size(), at, m.Bytes, m.Modified)
	}
	return nil
}

// array opens a member behind its head.
func (s *npzSource) array(name string) (r io.ReadCloser, descr string, fortran bool, shape tensor.Shape, err error) {
	m := s.members[name]
	if m == nil {
		return nil, "", false, nil, bad(s.name, name, "it is missing; want wavevector_q_list, phi_angles_list and c2_exp, and t1, t2 and cache_metadata_json if possible")
	}
	if r, err = m.Open(); err == nil {
		if descr, fortran, shape, err = tensor.NPYHead(r); err == nil {
			return r, descr, fortran, shape, nil
		}
		r.Close()
	}
	return nil, "", false, nil, s.broken(name, err)
}

func (s *npzSource) broken(name string, err error) error {
	return &FormatError{Format: "homodyne", File: s.name, Place: name, What: "it cannot be read", Err: err}
}

// floats reads a list of numbers, of at most so many unless that is 0.
func (s *npzSource) floats(name string, most int) ([]float64, error) {
	r, descr, _, shape, err := s.array(name)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	if most == 0 {
		most = mostList
	}
	if len(shape) > 1 || shape.Size() > most {
		return nil, bad(s.name, name, "it has the shape %v; want one axis of at most %d", shape, most)
	}
	out := make([]float64, shape.Size())
	if err := readFloats(r, descr, out); err != nil {
		return nil, s.broken(name, err)
	}
	if err := foreign.Exactly(nil, r); err != nil {
		return nil, s.broken(name, err)
	}
	return out, nil
}

// text reads a single text.
func (s *npzSource) text(name string) (string, error) {
	r, descr, _, shape, err := s.array(name)
	if err != nil {
		return "", err
	}
	defer r.Close()
	var n int
	if k, _ := fmt.Sscanf(descr, "<U%d", &n); k != 1 || shape.Size() != 1 || n > 1<<20 {
		return "", bad(s.name, name, "it has the type %q and the shape %v; want one text", descr, shape)
	}
	raw := make([]byte, 4*n)
	if err := foreign.Exactly(raw, r); err != nil {
		return "", s.broken(name, err)
	}
	var b []byte
	for i := range n {
		c := binary.LittleEndian.Uint32(raw[4*i:])
		if c == 0 {
			break
		}
		b = utf8.AppendRune(b, rune(c))
	}
	return string(b), nil
}

// read implements source: it reads through the array once and keeps the rows asked for.
func (s *npzSource) read(bins []int, lo, hi int, put func(k int, block []float64)) error {
	r, descr, _, _, err := s.array(cubeName)
	if err != nil {
		return err
	}
	defer r.Close()
	frames, n := s.shape[1], hi-lo
	width := int64(descr[2] - '0')
	row, at := make([]float64, frames), int64(0)
	for k, b := range bins {
		from := (int64(b)*int64(frames) + int64(lo)) * int64(frames) * width
		if _, err := io.CopyN(io.Discard, r, from-at); err != nil {
			return s.broken(cubeName, err)
		}
		block := make([]float64, n*n)
		for i := range n {
			if err := readFloats(r, descr, row); err != nil {
				return s.broken(cubeName, err)
			}
			copy(block[i*n:(i+1)*n], row[lo:hi])
		}
		at = from + int64(n)*int64(frames)*width
		put(k, block)
	}
	if err := foreign.Rest(r); err != nil {
		return s.broken(cubeName, err)
	}
	return nil
}

// elements are the types of numbers that are read.
var elements = map[string]struct {
	width int
	value func(order binary.ByteOrder, b []byte) float64
}{
	"f8": {8, func(o binary.ByteOrder, b []byte) float64 { return math.Float64frombits(o.Uint64(b)) }},
	"f4": {4, func(o binary.ByteOrder, b []byte) float64 { return float64(math.Float32frombits(o.Uint32(b))) }},
	"i8": {8, func(o binary.ByteOrder, b []byte) float64 { return float64(int64(o.Uint64(b))) }},
	"i4": {4, func(o binary.ByteOrder, b []byte) float64 { return float64(int32(o.Uint32(b))) }},
}

// readFloats reads numbers of a type as NumPy names it.
func readFloats(r io.Reader, descr string, dst []float64) error {
	var order binary.ByteOrder = binary.LittleEndian
	if strings.HasPrefix(descr, ">") {
		order = binary.BigEndian
	}
	kind, ok := elements[strings.TrimLeft(descr, "<>=")]
	if !ok {
		return fmt.Errorf("the elements have the type %.20q: want float64, float32 or whole numbers of 4 or 8 bytes", descr)
	}
	raw := make([]byte, min(len(dst), 1<<13)*kind.width)
	for len(dst) > 0 {
		n := min(len(dst), 1<<13)
		if _, err := io.ReadFull(r, raw[:n*kind.width]); err != nil {
			return err
		}
		for i := range n {
			dst[i] = kind.value(order, raw[i*kind.width:])
		}
		dst = dst[n:]
	}
	return nil
}
