// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package arrow writes draws as an Arrow IPC file (Feather version 2): one row
// per draw, with the columns chain and draw before those of the variables. It
// opens in pyarrow, pandas, polars, R's arrow and DuckDB.
//
//	w, err := arrow.Create("run.arrow", []arrow.Column{{Name: "lp"}, {Name: "diverging", Type: arrow.Bool}, {Name: "tau"}}, arrow.Settings{})
//	defer w.Discard()
//	err = w.Append(chain, draw, []float64{lp, 0, tau}) // for every draw, from any goroutine
//	err = w.Close()
//
// In Python:
//
//	draws = pyarrow.feather.read_table("run.arrow").to_pandas()
//
// Memory is bounded by one batch of rows. The file is written under a temporary
// name and appears at Close.
//
// Format: https://arrow.apache.org/docs/format/Columnar.html, little endian,
// metadata version 5, no compression, no missing values.
package arrow
