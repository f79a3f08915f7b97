// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package maskfile

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// ListSettings say how to interpret lists of pixels. The zero value is the default.
type ListSettings struct {
	// RowFirst means that the row comes first. Usually x, the column, does.
	RowFirst bool
	// FromOne means that pixels are counted from 1 instead of 0.
	FromOne bool
}

// document is the JSON of a list.
type document struct {
	Pixels []struct {
		Pixel []float64 `json:"Pixel"`
	} `json:"Bad pixels"`
}

// ReadList reads a list of pixels to mask, as (row, column) counted from 0: JSON such as
// {"Bad pixels": [{"Pixel": [x, y]}]}, or two columns of text, separated by commas or spaces, with # before comments.
func ReadList(name string, s ListSettings) ([][2]int, error) {
	k, err := kind(name)
	if err == nil && k != "json" && k != "text" {
		err = fmt.Errorf("maskfile: %s is not a list: want .json, .txt or .csv, or use Read", name)
	}
	if err != nil {
		return nil, err
	}
	b, err := foreign.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("maskfile: %w", err)
	}
	list, err := parseList(b, k == "json", s)
	if err != nil {
		return nil, fmt.Errorf("maskfile: %s: %w", name, err)
	}
	return list, nil
}

func parseList(b []byte, isJSON bool, s ListSettings) ([][2]int, error) {
	if isJSON {
		return parseJSON(b, s)
	}
	if what := foreign.NotText(b); what != "" {
		return nil, fmt.Errorf("the file is not text but %s", what)
	}
	return parseText(foreign.Unmarked(b), s)
}

func parseJSON(b []byte, s ListSettings) (list [][2]int, err error) {
	b, err = foreign.JSON(b)
	if err != nil {
		return nil, err
	}
	var d document
	if err := json.Unmarshal(b, &d); err != nil {
		return nil, fmt.Errorf(`%w: want {"Bad pixels": [{"Pixel": [x, y]}]}`, foreign.InWords(b, err))
	}
	if d.Pixels == nil {
		return nil, fmt.Errorf(`there is no list "Bad pixels": want {"Bad pixels": [{"Pixel": [x, y]}]}`)
	}
	for i, p := range d.Pixels {
		if len(p.Pixel) != 2 {
			return nil, fmt.Errorf("pixel %d has %d numbers: want 2", i+1, len(p.Pixel))
		}
		at, err := s.pixel(p.Pixel[0], p.Pixel[1])
		if err != nil {
			return nil, fmt.Errorf("pixel %d: %w", i+1, err)
		}
		list = append(list, at)
	}
	return list, nil
}

func parseText(b []byte, s ListSettings) (list [][2]int, err error) {
	lines := bufio.NewScanner(bytes.NewReader(b))
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		fields := strings.FieldsFunc(text, func(r rune) bool { return r == ',' || r == ';' || r == ' ' || r == '\t' || r == '\r' })
		if len(fields) == 0 {
			continue
		}
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d has %d columns: want 2", n, len(fields))
		}
		var v [2]float64
		for k, f := range fields {
			if v[k], err = strconv.ParseFloat(f, 64); err != nil {
				return nil, fmt.Errorf("line %d: %q is not a number: begin comments with #", n, foreign.Short(f, 40))
			}
		}
		at, err := s.pixel(v[0], v[1])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		list = append(list, at)
	}
	return list, lines.Err()
}

// pixel returns row and column of a pair of numbers.
func (s ListSettings) pixel(x, y float64) (at [2]int, err error) {
	if s.RowFirst {
		x, y = y, x
	}
	if s.FromOne {
		x, y = x-1, y-1
	}
	if x != math.Trunc(x) || y != math.Trunc(y) || !(x >= 0 && y >= 0 && x < 1<<31 && y < 1<<31) {
		return at, fmt.Errorf("row %g, column %g is not a pixel: want whole numbers from 0 to 2^31", y, x)
	}
	return [2]int{int(y), int(x)}, nil
}

// fromList returns the mask of a list.
func (s Settings) fromList(name string) (*Mask, error) {
	list, err := ReadList(name, s.List)
	if err != nil {
		return nil, err
	}
	return s.without(list)
}

func (s Settings) without(list [][2]int) (*Mask, error) {
	if s.Height == 0 && s.Width == 0 {
		return nil, fmt.Errorf("a list of pixels does not say how large the detector is: give its numbers of rows and columns")
	}
	if err := s.shape(s.Height, s.Width); err != nil {
		return nil, err
	}
	m := &Mask{s.Height, s.Width, make([]bool, s.Height*s.Width)}
	for i := range m.Keep {
		m.Keep[i] = true
	}
	for _, p := range list {
		if p[0] >= s.Height || p[1] >= s.Width {
			return nil, fmt.Errorf("the pixel at row %d, column %d is outside a detector of %d x %d: lists have the column first, unless --list-row-first says otherwise", p[0], p[1], s.Height, s.Width)
		}
		m.Keep[p[0]*s.Width+p[1]] = false
	}
	return m, nil
}

// WriteList writes a list of (row, column), counted from 0, as JSON or as two columns x, y. An existing file is an
// error that wraps fs.ErrExist, unless overwrite is set.
func WriteList(name string, pixels [][2]int, overwrite bool) error {
	k, err := kind(name)
	if err == nil && k != "json" && k != "text" {
		err = fmt.Errorf("maskfile: %s is not a list: want .json, .txt or .csv, or use Write", name)
	}
	if err != nil {
		return err
	}
	err = atomicfile.Write(name, overwrite, func(w io.Writer) error {
		b := bufio.NewWriter(w)
		writeList(b, pixels, k == "json")
		return b.Flush()
	})
	if err != nil {
		return fmt.Errorf("maskfile: %s: %w", name, err)
	}
	return nil
}

func writeList(b *bufio.Writer, pixels [][2]int, isJSON bool) {
	if !isJSON {
		fmt.Fprintln(b, "# x,y")
		for _, p := range pixels {
			fmt.Fprintf(b, "%d,%d\n", p[1], p[0])
		}
		return
	}
	b.WriteString(`{"Bad pixels": [`)
	for i, p := range pixels {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(b, "\n\t"+`{"Pixel": [%d, %d]}`, p[1], p[0])
	}
	b.WriteString("\n]}\n")
}
