// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package fits

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// Writer makes a file that astropy and CFITSIO open, with DATASUM and CHECKSUM in every header. Data
// are written to disk at once, and Close renames the file to its final name. If the name ends in .gz,
// the file is compressed. The first error is kept, makes later calls return without effect, and is
// returned by Close, so checking Close is enough:
//
//	w, err := fits.Create("out.fits")
//	if err != nil { ... }
//	defer w.Discard()
//	w.Image("FLUX", nil, []int{500, 2751}, flux)
//	w.Table("FIBERMAP", nil, []fits.Data{{Name: "TARGETID", Values: ids}, {Name: "TARGET_RA", Unit: "deg", Values: ra}})
//	return w.Close()
//
// The primary HDU is empty unless the first call is Primary or an Image without a name.
type Writer struct {
	// New makes Close fail with an error that wraps fs.ErrExist, rather than replace a file that has appeared meanwhile.
	New bool

	name string
	file *atomicfile.File
	at   int64 // end of what is written
	hdus int
	err  error
	cur  *unit
}

// unit is an HDU being written.
type unit struct {
	head int64
	data int64
	name string
	h    *Header
	sum  ones
	n    int64
	end  func() error // of what comes in pieces: completes the header, or reports what is missing
}

// Create starts a file that will have the given name once Close succeeds.
func Create(name string) (*Writer, error) {
	place := name
	if gzipped(name) {
		place = name[:len(name)-3] // its temporary file is in the same folder
	}
	f, err := atomicfile.Create(place)
	if err != nil {
		return nil, err
	}
	return &Writer{name: name, file: f}, nil
}

func gzipped(name string) bool { return len(name) > 3 && strings.EqualFold(name[len(name)-3:], ".gz") }

func (w *Writer) fail(hdu string, err error) error {
	if w.err == nil && err != nil {
		w.err = &FormatError{Format: "fits", File: w.name, Place: hdu, What: "it cannot be written", Err: err}
		if fe, ok := err.(*FormatError); ok {
			w.err = fe
		}
	}
	return w.err
}

// Primary writes a primary HDU without data.
func (w *Writer) Primary(h *Header) error {
	if w.err != nil {
		return w.err
	}
	if w.hdus > 0 || w.cur != nil {
		return w.fail("", fmt.Errorf("the primary HDU has already been written: call Primary first"))
	}
	return w.Image("", h, nil, nil)
}

// structural reports whether a keyword describes the layout, which the Writer writes itself.
func structural(key string) bool {
	switch key {
	case "SIMPLE", "XTENSION", "BITPIX", "NAXIS", "PCOUNT", "GCOUNT", "TFIELDS", "THEAP", "EXTEND", "END", "GROUPS", "EXTNAME",
		"CHECKSUM", "DATASUM", "BSCALE", "BZERO", "BLANK", "LONGSTRN", "CONTINUE":
		return true
	}
	for _, p := range []string{"NAXIS", "TFORM", "TTYPE", "TUNIT", "TDIM", "TNULL", "TSCAL", "TZERO", "TBCOL", "TDISP", "ZNAXIS", "ZTILE", "ZNAME", "ZVAL"} {
		rest, ok := strings.CutPrefix(key, p)
		if ok && rest != "" && strings.Trim(rest, "0123456789") == "" {
			return true
		}
	}
	switch key {
	case "ZIMAGE", "ZCMPTYPE", "ZBITPIX", "ZNAXIS", "ZQUANTIZ", "ZDITHER0", "ZSCALE", "ZZERO", "ZBLANK", "ZTENSION", "ZSIMPLE", "ZEXTEND", "ZPCOUNT", "ZGCOUNT", "ZHECKSUM", "ZDATASUM":
		return true
	}
	return false
}

// begin starts an HDU: layout are its first cards; late are those that come after EXTNAME, and h the
// cards of the user.
func (w *Writer) begin(name string, primary bool, layout []Card, late []Card, h *Header) error {
	if err := w.finish(); err != nil {
		return err
	}
	u := &unit{head: w.at, name: name, h: &Header{}}
	if w.hdus == 0 {
		u.h.Add(Card{Key: "SIMPLE", Value: true, Comment: "conforms to the FITS standard"})
	} else {
		kind := "BINTABLE"
		if primary {
			kind = "IMAGE"
		}
		u.h.Add(Card{Key: "XTENSION", Value: kind, Comment: "kind of this extension"})
	}
	for _, c := range layout {
		u.h.Add(c)
	}
	if w.hdus == 0 {
		u.h.Add(Card{Key: "EXTEND", Value: true})
	}
	if name != "" {
		u.h.Add(Card{Key: "EXTNAME", Value: name, Comment: "name of this extension"})
	}
	for _, c := range late {
		u.h.Add(c)
	}
	long := false
	for _, c := range u.h.cards {
		if s, ok := c.Value.(string); ok && len(s) > 60 {
			long = true
		}
	}
	if h != nil {
		for _, c := range h.cards {
			if !structural(c.Key) {
				u.h.Add(c)
				s, ok := c.Value.(string)
				long = long || ok && len(s) > 60
			}
		}
	}
	if long {
		u.h.Add(Card{Key: "LONGSTRN", Value: "OGIP 1.0", Comment: "CONTINUE extends long strings"})
	}
	u.h.Add(Card{Key: "CHECKSUM", Value: strings.Repeat("0", 16), Comment: "checksum of header and data"})
	u.h.Add(Card{Key: "DATASUM", Value: "0", Comment: "checksum of the data"})
	text, err := u.encode()
	if err != nil {
		return w.fail(name, err)
	}
	if _, err := w.file.WriteAt(text, u.head); err != nil {
		return w.fail(name, err)
	}
	u.data = u.head + int64(len(text))
	w.cur = u
	w.hdus++
	return nil
}

// encode returns the header in whole blocks.
func (u *unit) encode() ([]byte, error) {
	var b []byte
	for _, c := range u.h.cards {
		s, err := encodeCard(c)
		if err != nil {
			return nil, err
		}
		b = append(b, s...)
	}
	b = append(b, fmt.Sprintf("%-80s", "END")...)
	for len(b)%block != 0 {
		b = append(b, ' ')
	}
	return b, nil
}

// data writes bytes of the current HDU.
func (w *Writer) data(b []byte) error {
	u := w.cur
	if _, err := w.file.WriteAt(b, u.data+u.n); err != nil {
		return w.fail(u.name, err)
	}
	u.sum.Write(b)
	u.n += int64(len(b))
	return nil
}

// finish fills the last block and writes the header again, with the checksums.
func (w *Writer) finish() error {
	if w.err != nil || w.cur == nil {
		return w.err
	}
	u := w.cur
	if u.end != nil {
		if err := u.end(); err != nil {
			return w.fail(u.name, err)
		}
	}
	if rest := u.n % block; rest != 0 {
		if err := w.data(make([]byte, block-rest)); err != nil {
			return err
		}
	}
	sum := u.sum.value()
	u.h.Set("DATASUM", fmt.Sprint(sum), "checksum of the data")
	text, err := u.encode()
	if err != nil {
		return w.fail(u.name, err)
	}
	if int64(len(text)) != u.data-u.head {
		return w.fail(u.name, fmt.Errorf("the header grew from %d to %d bytes while the data were written: please report this bug", u.data-u.head, len(text)))
	}
	var head ones
	head.Write(text)
	u.h.Set("CHECKSUM", encodeSum(fold(uint64(head.value())+uint64(sum))), "checksum of header and data")
	if text, err = u.encode(); err != nil {
		return w.fail(u.name, err)
	}
	if _, err := w.file.WriteAt(text, u.head); err != nil {
		return w.fail(u.name, err)
	}
	w.at, w.cur = u.data+u.n, nil
	return nil
}

// Close writes the rest and renames the file to its final name. After an error no file is left behind.
func (w *Writer) Close() error {
	defer w.Discard()
	if w.err == nil && w.hdus == 0 {
		w.Primary(nil)
	}
	if err := w.finish(); err != nil {
		return err
	}
	w.err = errors.New("fits: the writer is closed: write before Close")
	if !gzipped(w.name) {
		w.file.New = w.New
		return w.file.Commit()
	}
	out, err := atomicfile.Create(w.name)
	if err != nil {
		return err
	}
	defer out.Discard()
	out.New = w.New
	kept := &keeper{w: out}
	z := gzip.NewWriter(kept)
	_, err = io.Copy(z, io.NewSectionReader(w.file, 0, w.at))
	if err := errors.Join(err, z.Close(), kept.err); err != nil {
		return err
	}
	return out.Commit()
}

// keeper remembers the first error of a writer: the compressor's Close loses that of its last write.
type keeper struct {
	w   io.Writer
	err error
}

func (k *keeper) Write(b []byte) (int, error) {
	if k.err != nil {
		return 0, k.err
	}
	n, err := k.w.Write(b)
	k.err = err
	return n, err
}

// Discard removes what was written. After Close it does nothing.
func (w *Writer) Discard() { w.file.Discard() }

// Copy writes an HDU of an open file unchanged, except for new checksums: an image or a table,
// compressed or not. If h is not nil, it replaces the header, apart from the cards that describe the
// layout.
func (w *Writer) Copy(src *HDU, h *Header) error {
	if w.err != nil {
		return w.err
	}
	if w.hdus == 0 && src.Index > 0 {
		w.Primary(nil)
	}
	if h == nil {
		h = src.Header
	}
	var layout, late []Card
	for _, c := range src.Header.cards {
		switch c.Key {
		case "SIMPLE", "XTENSION", "EXTEND", "EXTNAME", "CHECKSUM", "DATASUM", "LONGSTRN", "CONTINUE":
			continue
		}
		if !structural(c.Key) {
			continue
		}
		if slices.Contains([]string{"BITPIX", "NAXIS", "PCOUNT", "GCOUNT", "TFIELDS", "GROUPS"}, c.Key) || strings.HasPrefix(c.Key, "NAXIS") {
			layout = append(layout, c)
		} else {
			late = append(late, c)
		}
	}
	if w.hdus > 0 && src.Index == 0 {
		layout = append(layout, Card{Key: "PCOUNT", Value: int64(0)}, Card{Key: "GCOUNT", Value: int64(1)})
	}
	if src.kind == "TABLE" {
		return w.fail(src.Name, fmt.Errorf("rows of ASCII tables cannot be copied: write their columns with Table"))
	}
	if err := w.begin(src.Name, src.kind == "IMAGE", layout, late, h); err != nil {
		return err
	}
	return w.copyBytes(src, 0, src.size)
}

// CopyRows writes some rows of a binary table unchanged, with all of its columns. Lists of variable
// length keep the whole heap. If h is not nil, it replaces the header, apart from the cards that
// describe the layout.
func (w *Writer) CopyRows(t *Table, rows []int, h *Header) error {
	src := t.hdu
	if w.err != nil {
		return w.err
	}
	if src.kind != "BINTABLE" || t.err != nil {
		return w.fail(src.Name, errors.Join(t.err, fmt.Errorf("only rows of binary tables can be copied, and this is a %s", src.kind)))
	}
	if w.hdus == 0 {
		w.Primary(nil)
	}
	if h == nil {
		h = src.Header
	}
	var late []Card
	for _, c := range src.Header.cards {
		if k := strings.TrimRight(c.Key, "0123456789"); k != c.Key && k != "NAXIS" && structural(c.Key) {
			late = append(late, c)
		}
	}
	heap := src.size - t.heap
	layout := []Card{{Key: "BITPIX", Value: int64(8)}, {Key: "NAXIS", Value: int64(2)}, {Key: "NAXIS1", Value: int64(t.width)}, {Key: "NAXIS2", Value: int64(len(rows))},
		{Key: "PCOUNT", Value: heap}, {Key: "GCOUNT", Value: int64(1)}, {Key: "TFIELDS", Value: int64(len(t.columns))}}
	if err := w.begin(src.Name, false, layout, late, h); err != nil {
		return err
	}
	if err := src.present(0, int64(t.hi)*int64(t.width)); err != nil {
		return w.fail(src.Name, err)
	}
	row := make([]byte, t.width)
	for _, i := range rows {
		if i < 0 || i >= t.Len() {
			return w.fail(src.Name, fmt.Errorf("there is no row %d: the table has %d rows", i, t.Len()))
		}
		if err := src.reading(row, int64(t.lo+i)*int64(t.width)); err != nil {
			return w.fail(src.Name, err)
		}
		if err := w.data(row); err != nil {
			return err
		}
	}
	return w.copyBytes(src, t.heap, heap)
}

// copyBytes appends bytes of the data of an HDU, and finishes the one that is written.
func (w *Writer) copyBytes(src *HDU, at, n int64) error {
	buf := make([]byte, min(1<<20, n))
	for ; n > 0; n -= int64(len(buf)) {
		buf = buf[:min(int64(len(buf)), n)]
		if err := src.reading(buf, at); err != nil {
			return w.fail(src.Name, err)
		}
		if err := w.data(buf); err != nil {
			return err
		}
		at += int64(len(buf))
	}
	return w.finish()
}
