// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package batch

import (
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/checkpoint"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Kind is the type of a column.
type Kind uint8

// The types of columns.
const (
	Number  Kind = iota // floating-point numbers (float64)
	Integer             // integers of at most 53 bits
	Text
)

// Column describes one quantity that every result contains.
type Column struct {
	Name string
	Unit string // unit such as s; empty if there is none
	Kind Kind
}

// Record is the result of one item. Numbers holds the values of the number and integer columns, and
// Texts those of the text columns, each in the order of the columns. Integers have at most 53 bits.
type Record struct {
	Item     int64
	Numbers  []float64
	Texts    []string
	Err      string // reason why there is no result; empty if there is one
	Attempts int    // number of attempts made at the item
}

// part is a file of results.
type part struct {
	hash    string // of the manifest
	columns []Column
	damaged bool // the file was left out
	records []Record
}

const (
	partKind    = "BATCH-RESULTS"
	partVersion = 1
)

// widths returns how many numbers and texts a record has.
func widths(columns []Column) (numbers, texts int) {
	for _, c := range columns {
		if c.Kind == Text {
			texts++
		} else {
			numbers++
		}
	}
	return numbers, texts
}

// check compares a record with the columns.
func (r *Record) check(columns []Column) error {
	if r.Err != "" {
		return nil
	}
	numbers, texts := widths(columns)
	if len(r.Numbers) != numbers || len(r.Texts) != texts {
		return fmt.Errorf("the result of item %d has %d numbers and %d texts: want %d and %d, as the columns say", r.Item, len(r.Numbers), len(r.Texts), numbers, texts)
	}
	return nil
}

// equal reports whether two results of one item have the same bits. How often it was tried does not
// count.
func (r *Record) equal(o *Record) bool {
	return r.Err == o.Err && slices.Equal(r.Texts, o.Texts) &&
		slices.EqualFunc(r.Numbers, o.Numbers, func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })
}

// write makes a file of results.
func (p *part) write(name string) error { return atomicfile.Write(name, true, p.encode) }

func (p *part) encode(w io.Writer) error { return encode(w, p.hash, p.columns, p.records) }

// encode writes results of the manifest with a hash: those of all lists.
func encode(w io.Writer, hash string, columns []Column, lists ...[]Record) error {
	return checkpoint.Write(w, partKind, partVersion, func(e *checkpoint.Encoder) {
		e.String(hash)
		e.Int(len(columns))
		for _, c := range columns {
			e.String(c.Name)
			e.String(c.Unit)
			e.Int(int(c.Kind))
		}
		count := 0
		for _, records := range lists {
			count += len(records)
		}
		e.Int(count)
		// The items first, so that a reader of these alone needs not look further.
		for _, records := range lists {
			for k := range records {
				e.Int(int(records[k].Item))
				e.Bool(records[k].Err != "")
			}
		}
		for _, records := range lists {
			for k := range records {
				records[k].encode(e)
			}
		}
	})
}

func (r *Record) encode(e *checkpoint.Encoder) {
	e.Int(r.Attempts)
	if r.Err != "" {
		e.String(r.Err)
		return
	}
	for _, x := range r.Numbers {
		e.Float(x)
	}
	for _, x := range r.Texts {
		e.String(x)
	}
}

// mark is an item of a file of results, and whether it failed.
type mark struct {
	item   int64
	failed bool
}

// readPart reads a file of results: the items alone, or all.
func readPart(name string, all bool) (*part, []mark, error) {
	in, err := foreign.Open(name)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	p, marks, err := decodePart(in, all)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", name, err)
	}
	return p, marks, nil
}

func decodePart(in io.Reader, all bool) (*part, []mark, error) {
	p := &part{}
	var marks []mark
	err := checkpoint.Read(in, partKind, partVersion, func(d *checkpoint.Decoder) {
		p.hash = d.String()
		d.Items(24, func(int) {
			c := Column{Name: d.String(), Unit: d.String(), Kind: Kind(d.Int())}
			if c.Kind > Text {
				d.Fail("column %s is of kind %d", c.Name, c.Kind)
			}
			p.columns = append(p.columns, c)
		})
		n := d.Count(9)
		for range n {
			m := mark{int64(d.Int()), d.Bool()}
			if d.Err() != nil {
				return
			}
			marks = append(marks, m)
		}
		if !all {
			d.Rest() // for its checksum
			return
		}
		numbers, texts := widths(p.columns)
		for _, m := range marks {
			r := Record{Item: m.item, Attempts: d.Int()}
			if m.failed {
				r.Err = d.String()
			} else {
				r.Numbers, r.Texts = make([]float64, numbers), make([]string, texts)
				for k := range numbers {
					r.Numbers[k] = d.Float()
				}
				for k := range texts {
					r.Texts[k] = d.String()
				}
			}
			if d.Err() != nil {
				return
			}
			p.records = append(p.records, r)
		}
	})
	return p, marks, err
}
