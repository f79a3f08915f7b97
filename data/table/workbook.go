// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !js

package table

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/xuri/excelize/v2"

	"github.com/euryale-dev/euryale/data/columns"
)

func init() { columns.Workbook = sheetOf }

// sheetOf reads the cells of a sheet of a workbook, by name or number, the first for "".
func sheetOf(content []byte, sheet string) (rows [][]string, sheets []string, read string, err error) {
	book, err := excelize.OpenReader(bytes.NewReader(content))
	if err != nil {
		return nil, nil, "", err
	}
	defer book.Close()
	sheets = book.GetSheetList()
	if len(sheets) == 0 {
		return nil, nil, "", errors.New("table: the workbook has no sheet: save it again")
	}
	switch n, number := strconv.Atoi(sheet); {
	case sheet == "":
		read = sheets[0]
	case slices.Contains(sheets, sheet):
		read = sheet
	case number == nil && n >= 1 && n <= len(sheets):
		read = sheets[n-1]
	default:
		return nil, sheets, "", fmt.Errorf("there is no sheet %q: the sheets are %q", sheet, sheets)
	}
	rows, err = book.GetRows(read, excelize.Options{RawCellValue: true})
	return rows, sheets, read, err
}
