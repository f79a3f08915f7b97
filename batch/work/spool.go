// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"bufio"
	"encoding/binary"
	"io"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/batch"
	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/data/hdf5"
)

// spool keeps the columns of a table in files until all rows are known, so that an HDF5 dataset can be
// written of each, and a FITS table of all.
type spool struct {
	dir     string
	columns []batch.Column
	files   []*os.File
	out     []*bufio.Writer
	longest []int // bytes of the longest text of a column
	rows    int64
	scratch []byte
}

// mostFixed is the length in bytes up to which all texts of a column are stored in places of one length.
const mostFixed = 1 << 10

func newSpool(folder string, columns []batch.Column) (*spool, error) {
	dir, err := os.MkdirTemp(folder, ".columns-")
	if err != nil {
		return nil, err
	}
	s := &spool{dir: dir, columns: append([]batch.Column{{Name: "item", Kind: batch.Integer}}, columns...)}
	s.longest = make([]int, len(s.columns))
	for i := range s.columns {
		f, err := os.Create(filepath.Join(dir, strconv.Itoa(i)))
		if err != nil {
			s.remove()
			return nil, err
		}
		s.files, s.out = append(s.files, f), append(s.out, bufio.NewWriterSize(f, 1<<16))
	}
	return s, nil
}

func (s *spool) remove() {
	for _, f := range s.files {
		f.Close()
	}
	os.RemoveAll(s.dir)
}

func (s *spool) add(r *batch.Record) error {
	s.rows++
	numbers, texts := r.Numbers, r.Texts
	for i, c := range s.columns {
		b := s.scratch[:0]
		switch {
		case i == 0:
			b = binary.LittleEndian.AppendUint64(b, uint64(r.Item))
		case c.Kind == batch.Text:
			b = append(binary.LittleEndian.AppendUint32(b, uint32(len(texts[0]))), texts[0]...)
			s.longest[i] = max(s.longest[i], len(texts[0]))
			texts = texts[1:]
		default:
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(numbers[0]))
			numbers = numbers[1:]
		}
		if s.scratch = b; len(b) > 0 {
			if _, err := s.out[i].Write(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// write makes the HDF5 file: one dataset of a number per row for every column.
func (s *spool) write(name string, attributes map[string]string) error {
	w, err := hdf5.Create(name)
	if err != nil {
		return err
	}
	defer w.Discard()
	for i, c := range s.columns {
		in, err := s.reader(i)
		if err != nil {
			return err
		}
		data, err := s.column(in, i, s.rows)
		if err != nil {
			return err
		}
		key := "/results/" + strings.ReplaceAll(c.Name, "/", "_")
		if s.rows == 0 {
			continue
		}
		var l hdf5.Layout
		if n := s.longest[i]; c.Kind == batch.Text && n <= mostFixed {
			l = hdf5.Layout{FixedString: max(1, n), Gzip: 1} // goes to the disk at once
		}
		w.Write(key, data, l)
		if c.Unit != "" {
			w.Attr(key, "units", c.Unit)
		}
	}
	w.Group("/results")
	for _, k := range slices.Sorted(maps.Keys(attributes)) { // the same results are the same file
		w.Attr("/results", k, attributes[k])
	}
	return w.Close()
}

// mostAtOnce is the number of rows that are brought to a FITS table together.
const mostAtOnce = 1 << 14

// fits makes the FITS file: one table with all columns, which is written in parts, because its rows hold all of them.
func (s *spool) fits(name, extension string, m *batch.Manifest) error {
	w, err := fits.Create(name)
	if err != nil {
		return err
	}
	defer w.Discard()
	readers := make([]*bufio.Reader, len(s.columns))
	for i := range s.columns {
		if readers[i], err = s.reader(i); err != nil {
			return err
		}
	}
	h := &fits.Header{}
	h.Set("WORK", m.Command, "kind of work")
	h.Set("SEED", strconv.FormatUint(m.Seed, 10), "seed of the random numbers")
	h.Set("MANIFEST", m.Hash, "")
	table := w.TableStream(extension, h)
	for from := int64(0); from == 0 || from < s.rows; from += mostAtOnce {
		part := make([]fits.Data, len(s.columns))
		for i, c := range s.columns {
			part[i] = fits.Data{Name: strings.ToUpper(c.Name), Unit: c.Unit, Width: max(1, s.longest[i])}
			if part[i].Values, err = s.column(readers[i], i, min(mostAtOnce, s.rows-from)); err != nil {
				return err
			}
		}
		if err := table.Write(part); err != nil {
			return err
		}
	}
	return w.Close()
}

// reader returns what was kept of a column, from its first row on.
func (s *spool) reader(i int) (*bufio.Reader, error) {
	if err := s.out[i].Flush(); err != nil {
		return nil, err
	}
	if _, err := s.files[i].Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	return bufio.NewReaderSize(s.files[i], 1<<16), nil
}

// column reads the next rows of one column.
func (s *spool) column(in io.Reader, i int, rows int64) (any, error) {
	var b [8]byte
	number := func() (uint64, error) {
		_, err := io.ReadFull(in, b[:])
		return binary.LittleEndian.Uint64(b[:]), err
	}
	switch {
	case i == 0 || s.columns[i].Kind == batch.Integer:
		out := make([]int64, rows)
		for k := range out {
			v, err := number()
			if err != nil {
				return nil, err
			}
			if out[k] = int64(v); i > 0 {
				out[k] = int64(math.Float64frombits(v))
			}
		}
		return out, nil
	case s.columns[i].Kind == batch.Text:
		out, known := make([]string, rows), map[string]string{}
		for k := range out {
			if _, err := io.ReadFull(in, b[:4]); err != nil {
				return nil, err
			}
			text := make([]byte, binary.LittleEndian.Uint32(b[:4]))
			if _, err := io.ReadFull(in, text); err != nil {
				return nil, err
			}
			same, ok := known[string(text)]
			if !ok {
				if same = string(text); len(known) < 1<<16 {
					known[same] = same
				}
			}
			out[k] = same
		}
		return out, nil
	}
	out := make([]float64, rows)
	for k := range out {
		v, err := number()
		if err != nil {
			return nil, err
		}
		out[k] = math.Float64frombits(v)
	}
	return out, nil
}
