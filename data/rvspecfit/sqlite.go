// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rvspecfit

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"os"
	"regexp"
	"strings"

	"github.com/euryale-dev/euryale/internal/foreign"
)

// database reads tables of an SQLite file: whole tables in the order of their rows, which is all that
// a library needs. Indices, views and a write-ahead log are not read.
//
// Reference: https://www.sqlite.org/fileformat2.html.
type database struct {
	name   string
	r      io.ReaderAt
	size   int64
	page   int
	usable int
	pages  int64
	seen   map[int64]bool // pages visited: a tree has no cycles
	left   int64          // bytes of text and blobs that may still be read
}

func openDatabase(name string, r io.ReaderAt, size int64) (*database, error) {
	head := make([]byte, 100)
	if _, err := r.ReadAt(head, 0); err != nil || string(head[:16]) != "SQLite format 3\x00" {
		return nil, bad(name, "", "the file does not begin as an SQLite database: give a database of rvs_read_grid, or a table as CSV")
	}
	page := int(binary.BigEndian.Uint16(head[16:]))
	if page == 1 {
		page = 65536
	}
	usable := page - int(head[20])
	if page < 512 || page&(page-1) != 0 || usable < 480 {
		return nil, bad(name, "", "the pages of the database have %d bytes, %d of which are in use, which is impossible: copy the file again", page, usable)
	}
	if enc := binary.BigEndian.Uint32(head[56:]); enc > 1 {
		return nil, bad(name, "", "the database stores text as UTF-16: want UTF-8, or give a table as CSV")
	}
	return &database{name: name, r: r, size: size, page: page, usable: usable, pages: size / int64(page), seen: map[int64]bool{}, left: 4*size + 1<<20}, nil
}

func (d *database) bad(format string, args ...any) error {
	e := bad(d.name, "", format, args...)
	e.Try = "check it with sqlite3 FILE 'pragma integrity_check', or give a table as CSV"
	return e
}

func (d *database) read(page int64) ([]byte, error) {
	if page < 1 || page > d.pages {
		return nil, d.bad("the database refers to page %d, but it has %d pages", page, d.pages)
	}
	b := make([]byte, d.page)
	_, err := d.r.ReadAt(b, (page-1)*int64(d.page))
	if err == io.EOF {
		err = nil
	}
	return b[:d.usable], err
}

// rows calls f with the values of each row of the tree that begins at a page: nil, int64, float64,
// string or []byte each.
func (d *database) rows(page int64, depth int, f func(row []any) error) error {
	if depth > 40 || d.seen[page] {
		return d.bad("page %d is used twice in a table, or the tree of its pages is too deep", page)
	}
	d.seen[page] = true
	b, err := d.read(page)
	if err != nil {
		return err
	}
	at := 0
	if page == 1 {
		at = 100
	}
	if at+12 > len(b) {
		return d.bad("page %d is too short: it has %d bytes", page, len(b))
	}
	n := int(binary.BigEndian.Uint16(b[at+3:]))
	cells := at + 8
	if b[at] == 5 {
		cells = at + 12
	}
	if cells+2*n > len(b) {
		return d.bad("page %d lists %d cells, more than fit into it", page, n)
	}
	for i := range n {
		cell := int(binary.BigEndian.Uint16(b[cells+2*i:]))
		if cell+4 > len(b) {
			return d.bad("cell %d of page %d should be at byte %d, beyond the end of the page", i, page, cell)
		}
		switch b[at] {
		case 5:
			err = d.rows(int64(binary.BigEndian.Uint32(b[cell:])), depth+1, f)
		case 13:
			err = d.row(b[cell:], page, f)
		default:
			return d.bad("page %d is of type %d: want 5 or 13, the types of tables", page, b[at])
		}
		if err != nil {
			return err
		}
	}
	if b[at] == 5 {
		return d.rows(int64(binary.BigEndian.Uint32(b[at+8:])), depth+1, f)
	}
	return nil
}

// varint reads a number of one to nine bytes.
func varint(b []byte) (uint64, []byte) {
	v := uint64(0)
	for i := range min(9, len(b)) {
		if i == 8 {
			return v<<8 | uint64(b[8]), b[9:]
		}
		v = v<<7 | uint64(b[i]&127)
		if b[i] < 128 {
			return v, b[i+1:]
		}
	}
	return math.MaxUint64, nil
}

// row reads a cell of a leaf, with the pages into which a long row overflows.
func (d *database) row(b []byte, page int64, f func(row []any) error) error {
	size, b := varint(b)
	_, b = varint(b)
	if size > uint64(d.left) {
		return d.bad("a row on page %d should have %d bytes, more than the file can hold", page, size)
	}
	d.left -= int64(size)
	local := int(size)
	if most := d.usable - 35; local > most {
		least := (d.usable-12)*32/255 - 23
		local = least + (int(size)-least)%(d.usable-4)
		if local > most {
			local = least
		}
	}
	if local > len(b) || local < int(size) && local+4 > len(b) {
		return d.bad("a row on page %d is incomplete", page)
	}
	payload := append([]byte{}, b[:local]...)
	if local < int(size) {
		next := int64(binary.BigEndian.Uint32(b[local:]))
		for len(payload) < int(size) {
			if d.seen[next] {
				return d.bad("page %d is used by two rows", next)
			}
			d.seen[next] = true
			p, err := d.read(next)
			if err != nil {
				return err
			}
			next = int64(binary.BigEndian.Uint32(p))
			payload = append(payload, p[4:min(len(p), 4+int(size)-len(payload))]...)
		}
	}
	values, err := d.record(payload)
	if err != nil {
		return err
	}
	return f(values)
}

// record splits a row into values.
func (d *database) record(b []byte) ([]any, error) {
	n, types := varint(b)
	if n > uint64(len(b)) || n == 0 || len(types) < len(b)-int(n) {
		return nil, d.bad("the header of a row should have %d bytes, but the row has %d", n, len(b))
	}
	types, body := types[:len(types)-(len(b)-int(n))], b[n:]
	var out []any
	for len(types) > 0 {
		var t uint64
		t, types = varint(types)
		size := 0
		switch {
		case t >= 12 && t < uint64(2*len(body)+14):
			size = int(t-12) / 2
		case t < 10:
			size = []int{0, 1, 2, 3, 4, 6, 8, 8, 0, 0}[t]
		default:
			return nil, d.bad("a value of a row has the unknown type %d", t)
		}
		if size > len(body) {
			return nil, d.bad("a row is incomplete: its next value needs %d bytes, but %d are left", size, len(body))
		}
		v := body[:size]
		body = body[size:]
		switch {
		case t == 0:
			out = append(out, nil)
		case t <= 6:
			x := int64(0)
			for i, c := range v {
				if i == 0 {
					x = int64(int8(c))
				} else {
					x = x<<8 | int64(c)
				}
			}
			out = append(out, x)
		case t == 7:
			out = append(out, math.Float64frombits(binary.BigEndian.Uint64(v)))
		case t <= 9:
			out = append(out, int64(t-8))
		case t%2 == 1:
			out = append(out, string(v))
		default:
			out = append(out, append([]byte{}, v...))
		}
	}
	return out, nil
}

var columnNames = regexp.MustCompile(`(?s)^[^(]*\((.*)\)[^)]*$`)

// tables returns the first page and the columns of each table.
func (d *database) tables() (map[string]int64, map[string][]string, error) {
	pages, columns := map[string]int64{}, map[string][]string{}
	err := d.rows(1, 0, func(row []any) error {
		if len(row) < 5 || row[0] != "table" {
			return nil
		}
		name, ok1 := row[1].(string)
		page, ok2 := row[3].(int64)
		sql, ok3 := row[4].(string)
		m := columnNames.FindStringSubmatch(sql)
		if !ok1 || !ok2 || !ok3 || m == nil {
			return nil // a virtual table
		}
		pages[name] = page
		for _, c := range strings.Split(m[1], ",") {
			if f := strings.Fields(c); len(f) > 0 {
				columns[name] = append(columns[name], strings.Trim(f[0], "\"'`[]"))
			}
		}
		return nil
	})
	return pages, columns, err
}

// table calls f with the values of each row of a table, by the names of its columns.
func (d *database) table(name string, f func(row map[string]any) error) error {
	d.seen = map[int64]bool{}
	pages, columns, err := d.tables()
	if err != nil {
		return err
	}
	page, ok := pages[name]
	if !ok {
		return &FormatError{Format: "rvspecfit", File: d.name, Place: name, What: "the database has no such table", Err: ErrIncomplete, Try: "give a database of rvs_read_grid"}
	}
	d.seen = map[int64]bool{}
	return d.rows(page, 0, func(row []any) error {
		named := make(map[string]any, len(row))
		for i, v := range row {
			if i < len(columns[name]) {
				named[columns[name][i]] = v
			}
		}
		return f(named)
	})
}

// readDatabase opens an SQLite file and hands it to f.
func readDatabase(name string, f func(d *database) error) error {
	file, err := foreign.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if log, err := os.Stat(name + "-wal"); err == nil && log.Size() > 0 {
		e := bad(name, "", "part of the database is still in its log %s-wal", name)
		e.Try = fmt.Sprintf("move it into the database with sqlite3 %s 'pragma wal_checkpoint(truncate)'", name)
		return e
	}
	d, err := openDatabase(name, file, info.Size())
	if err != nil {
		return err
	}
	return f(d)
}
