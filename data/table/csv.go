// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package table

import (
	"io"
	"math"
	"strconv"

	"github.com/euryale-dev/euryale/internal/foreign"
)

func writeCSV(w io.Writer, t *Table, rows int) error {
	out := foreign.CSV(w)
	record := make([]string, len(t.Columns))
	for k := range t.Columns {
		record[k] = t.Columns[k].Header()
	}
	if err := out.Write(record); err != nil {
		return err
	}
	for i := range rows {
		for k := range t.Columns {
			record[k] = t.Columns[k].text(i)
		}
		if err := out.Write(record); err != nil {
			return err
		}
	}
	out.Flush()
	return out.Error()
}

// text is a cell in words: the shortest decimal that reads back as the same number, or "" for NaN.
func (c *Column) text(i int) string {
	switch v := c.Values.(type) {
	case []float64:
		if math.IsNaN(v[i]) {
			return ""
		}
		return strconv.FormatFloat(v[i], 'g', -1, 64)
	case []int64:
		return strconv.FormatInt(v[i], 10)
	case []bool:
		return strconv.FormatBool(v[i])
	}
	return c.Values.([]string)[i]
}
