// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !js

package table

import (
	"cmp"
	"fmt"
	"io"
	"math"

	"github.com/xuri/excelize/v2"
)

// mostRows is the number of rows of a sheet of Excel.
const mostRows = 1 << 20

// writeXLSX writes one sheet. Its first row, with the headers, stays in view.
func writeXLSX(w io.Writer, t *Table, rows int) error {
	if rows+1 > mostRows {
		return fmt.Errorf("table: a sheet of Excel has %d rows at most and this table %d: write .csv or .parquet", mostRows, rows+1)
	}
	book := excelize.NewFile()
	defer book.Close()
	sheet := cmp.Or(t.Name, "results")
	if err := book.SetSheetName("Sheet1", sheet); err != nil {
		return fmt.Errorf("table: the sheet %q: %w", sheet, err)
	}
	out, err := book.NewStreamWriter(sheet)
	if err != nil {
		return err
	}
	bold, err := book.NewStyle(&excelize.Style{Font: &excelize.Font{Bold: true}})
	if err != nil {
		return err
	}
	if err := out.SetPanes(&excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft"}); err != nil {
		return err
	}
	cells := make([]any, len(t.Columns))
	for k := range t.Columns {
		cells[k] = excelize.Cell{StyleID: bold, Value: t.Columns[k].Header()}
	}
	for i := range rows + 1 {
		if i > 0 {
			for k := range t.Columns {
				cells[k] = t.Columns[k].cell(i - 1)
			}
		}
		at, err := excelize.CoordinatesToCellName(1, i+1)
		if err != nil {
			return err
		}
		if err := out.SetRow(at, cells); err != nil {
			return fmt.Errorf("table: row %d: %w", i+1, err)
		}
	}
	if err := out.Flush(); err != nil {
		return err
	}
	_, err = book.WriteTo(w)
	return err
}

// cell is a cell as Excel takes it, which knows neither NaN nor infinities.
func (c *Column) cell(i int) any {
	switch v := c.Values.(type) {
	case []float64:
		if math.IsNaN(v[i]) {
			return nil
		}
		if math.IsInf(v[i], 0) {
			return c.text(i)
		}
		return v[i]
	case []int64:
		return v[i]
	case []bool:
		return v[i]
	}
	return c.Values.([]string)[i]
}
