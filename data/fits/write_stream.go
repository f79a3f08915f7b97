// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import "fmt"

// TableStream writes a table larger than memory: Write adds its rows in batches.
type TableStream struct {
	w      *Writer
	name   string
	h      *Header
	fields []field
	rows   int64
	unit   *unit
}

// TableStream begins a table whose rows are added with Write.
func (w *Writer) TableStream(name string, h *Header) *TableStream {
	return &TableStream{w: w, name: name, h: h.Clone()}
}

// Write appends rows. The columns of the first batch determine names, types, widths of strings (set
// Width) and the number that stands for undefined elements (set Null, and a Mask in all batches or in
// none); later batches must agree with it. Lists of variable length are not possible.
func (s *TableStream) Write(columns []Data) error {
	w := s.w
	if w.err != nil {
		return w.err
	}
	first := s.unit == nil
	batch := make([]field, len(columns))
	width := 0
	for i, d := range columns {
		f, err := fieldOf(d)
		if err == nil && f.list != nil {
			err = fmt.Errorf("lists of variable length cannot be streamed: use Table")
		}
		if err == nil && f.rows != batch[0].rows && i > 0 {
			err = fmt.Errorf("it has %d rows, but the first column has %d: give equal numbers", f.rows, batch[0].rows)
		}
		if err == nil && !first {
			err = s.agrees(i, &f, len(columns))
		}
		if err != nil {
			return w.fail(s.name, fmt.Errorf("column %s: %w", d.Name, err))
		}
		batch[i] = f
		width += f.size
	}
	if first {
		if err := s.begin(batch, width); err != nil {
			return err
		}
	}
	if w.cur != s.unit {
		return w.fail(s.name, fmt.Errorf("the next HDU has already begun: write all rows before it"))
	}
	if len(batch) == 0 {
		return nil
	}
	s.rows += int64(batch[0].rows)
	return w.rows(batch, batch[0].rows, width)
}

// agrees reports how a column differs from that of the first batch.
func (s *TableStream) agrees(i int, f *field, n int) error {
	if n != len(s.fields) {
		return fmt.Errorf("the batch has %d columns, but the first batch has %d: give equal numbers", n, len(s.fields))
	}
	if a := &s.fields[i]; a.Name != f.Name || a.form != f.form || a.dim != f.dim || a.zero != f.zero {
		return fmt.Errorf("it is %s %s, but in the first batch it is %s %s: set Width for strings", f.Name, f.form, a.Name, a.form)
	} else if a.null != f.null {
		return fmt.Errorf("undefined elements are %d, but in the first batch they are %d: set Null and Mask in all batches", f.null, a.null)
	}
	return nil
}

func (s *TableStream) begin(fields []field, width int) error {
	w := s.w
	if w.hdus == 0 {
		w.Primary(nil)
	}
	if err := w.beginTable(s.name, s.h, fields, 0, width, 0); err != nil {
		return err
	}
	s.fields, s.unit = fields, w.cur
	s.unit.end = s.count
	return nil
}

// Close ends the table.
func (s *TableStream) Close() error {
	w := s.w
	if w.err == nil && s.unit == nil {
		s.Write(nil)
	}
	if w.err != nil {
		return w.err
	}
	if w.cur == s.unit {
		return w.finish()
	}
	return nil // the next HDU has ended it
}

// count puts the number of rows into the header.
func (s *TableStream) count() error {
	s.unit.h.Set("NAXIS2", s.rows, "number of rows")
	return nil
}
