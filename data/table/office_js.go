// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"errors"
	"io"
)

// The libraries for workbooks and Parquet would make a page an eighth larger.

func writeXLSX(io.Writer, *Table, int) error {
	return errors.New("in a page, tables are written as .csv, not as .xlsx")
}

func writeParquet(io.Writer, *Table, int) error {
	return errors.New("in a page, tables are written as .csv, not as .parquet")
}
