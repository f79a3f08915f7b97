// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"bytes"
	"errors"

	"github.com/xuri/excelize/v2"

	"github.com/euryale-dev/euryale/data/columns"
)

func init() { columns.Workbook = firstSheet }

// firstSheet reads the cells of the first sheet of a workbook.
func firstSheet(content []byte) (rows [][]string, sheets int, first string, err error) {
	book, err := excelize.OpenReader(bytes.NewReader(content))
	if err != nil {
		return nil, 0, "", err
	}
	defer book.Close()
	list := book.GetSheetList()
	if len(list) == 0 {
		return nil, 0, "", errors.New("table: the workbook has no sheet: save it again")
	}
	rows, err = book.GetRows(list[0], excelize.Options{RawCellValue: true})
	return rows, len(list), list[0], err
}
