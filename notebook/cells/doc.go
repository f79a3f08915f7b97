// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package cells reads, writes and converts notebooks: it reads notebooks written in Markdown, writes
// them in Jupyter's format, and converts them into a Go program or a notebook for GoNB.
//
//	book, err := cells.Parse("g2.md", text)       // code between fences is a cell, the rest is text
//	if err != nil { ... }                         // names the line
//	for i := range book.Cells {
//		if c := &book.Cells[i]; c.Kind == cells.Code {
//			c.Outputs = append(c.Outputs, cells.Stream("stdout", run(c.Source)))
//		}
//	}
//	err = book.Write("run/g2.ipynb")              // whole or not at all
//	program, err := book.Program(importer)        // the same statements, in package main
//
// The texts are easy to read and to compare without any notebook program.
package cells
