// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/euryale-dev/euryale/app/frame"
	"github.com/euryale-dev/euryale/data/columns"
	"github.com/euryale-dev/euryale/internal/foreign"
)

// Bounds of tables in the page.
const (
	mostRows  = 200      // rows that are sent at a time
	mostTable = 64 << 20 // bytes of a file that is read as a table
)

// tables are the tables that people look at. The last one is kept, so that sorting does not read it again.
type tables struct {
	mu    sync.Mutex
	key   string
	table columns.Table
}

// of reads the table of a file with a stamp.
func (t *tables) of(name, stamp string) (columns.Table, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.key == name+stamp {
		return t.table, nil
	}
	if info, err := os.Stat(name); err == nil && info.Size() > mostTable {
		return nil, fmt.Errorf("the table has %d MB: the page shows rows of tables up to %d MB, and pictures of any", info.Size()>>20, mostTable>>20)
	}
	b, err := foreign.ReadFile(name)
	if err != nil {
		return nil, err
	}
	got, _, err := columns.Read(b)
	if err != nil {
		return nil, err
	}
	t.key, t.table = name+stamp, got
	return got, nil
}

// tableDoc is a part of a table.
type tableDoc struct {
	Columns []string   `json:"columns"`
	Numbers []bool     `json:"numbers"` // which columns have numbers
	Rows    [][]string `json:"rows"`
	From    int        `json:"from"`
	Found   int        `json:"found"` // rows that hold what is searched for
	Total   int        `json:"total"`
}

// rows answers with some rows of a table, searched and sorted.
func (p *page) rows(r *http.Request) (any, error) {
	q := r.URL.Query()
	i, ok := p.shelf.find(q.Get("id"))
	if !ok || !i.look.Table && i.look.Rows == nil {
		return nil, errors.New("it is no longer there")
	}
	name := i.ID
	switch {
	case i.look.Rows != nil:
		name = i.look.Rows.File
	case i.folder:
		name = filepath.Join(name, frame.FitsFile)
	}
	t, err := p.tables.of(name, i.Stamp)
	if err != nil {
		return nil, err
	}
	return partOf(t, q)
}

// partOf returns the rows of a table that a request asks for: those with a text, in the order of a column, from one on.
func partOf(t columns.Table, q url.Values) (tableDoc, error) {
	d := tableDoc{Rows: [][]string{}}
	for _, c := range t {
		name := c.Name
		if c.Unit != "" {
			name += " (" + c.Unit + ")"
		}
		v, number := c.Values.([]float64)
		d.Columns, d.Numbers = append(d.Columns, name), append(d.Numbers, number)
		if d.Total = len(v); !number {
			d.Total = len(c.Values.([]string))
		}
	}
	order := make([]int, 0, d.Total)
	find := strings.ToLower(strings.TrimSpace(q.Get("find")))
	for row := range d.Total {
		if find == "" || slices.ContainsFunc(t, func(c columns.Column) bool { return strings.Contains(strings.ToLower(cell(c, row)), find) }) {
			order = append(order, row)
		}
	}
	d.Found = len(order)
	if text := q.Get("sort"); text != "" {
		k, err := strconv.Atoi(text)
		if err != nil || k < 0 || k >= len(t) {
			return d, fmt.Errorf("sort %q: want the number of a column, from 0 to %d", text, len(t)-1)
		}
		down := q.Get("down") == "true"
		slices.SortStableFunc(order, func(a, b int) int { return compared(t[k], a, b, down) })
	}
	from, _ := strconv.Atoi(q.Get("from"))
	d.From = min(max(from, 0), len(order))
	for _, row := range order[d.From:min(d.From+mostRows, len(order))] {
		var cells []string
		for _, c := range t {
			cells = append(cells, cell(c, row))
		}
		d.Rows = append(d.Rows, cells)
	}
	return d, nil
}

// compared orders two rows by a column; cells without a number come last in both directions.
func compared(c columns.Column, a, b int, down bool) int {
	sign := 1
	if down {
		sign = -1
	}
	v, ok := c.Values.([]float64)
	if !ok {
		s := c.Values.([]string)
		return sign * strings.Compare(s[a], s[b])
	}
	if math.IsNaN(v[a]) || math.IsNaN(v[b]) {
		return cmp.Compare(boolInt(math.IsNaN(v[a])), boolInt(math.IsNaN(v[b])))
	}
	return sign * cmp.Compare(v[a], v[b])
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

func cell(c columns.Column, row int) string {
	if v, ok := c.Values.([]float64); ok {
		if math.IsNaN(v[row]) {
			return ""
		}
		if x := v[row]; x == math.Trunc(x) && math.Abs(x) < 1e15 {
			return strconv.FormatFloat(x, 'f', -1, 64) // a whole number, with all of its digits
		}
		return strconv.FormatFloat(v[row], 'g', 8, 64)
	}
	return c.Values.([]string)[row]
}
