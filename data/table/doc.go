// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package table writes tables of results as CSV, Excel workbooks (.xlsx) and Parquet, and reads workbooks for package data/columns. Headers hold the units, and are the same in all formats.
//
//	var t table.Table
//	t.Add("bin", "", []int64{1, 2})
//	t.Add("tau", "s", []float64{0.11, 0.053})
//	err := t.Save("fits.xlsx", false)
//
// Numbers are written with all their digits. NaN is an empty cell; infinities are numbers in Parquet and texts in CSV and Excel. Texts from outside the program
// are made visible in CSV, see foreign.Text, and those that a spreadsheet would take for formulas begin with an apostrophe there.
package table
