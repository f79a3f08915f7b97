// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"regexp"
	"strconv"
	"strings"

	"github.com/cosmos72/gomacro/base"
	interp "github.com/cosmos72/gomacro/fast"
	"github.com/cosmos72/gomacro/imports"
)

// errInterrupted fails a cell that was interrupted.
var errInterrupted = errors.New("interrupted")

// failure makes the error of a cell of what was recovered: before it ran, with the place that the
// compiler named, and later with the line of its statement.
func failure(ir *interp.Interp, r any) error {
	text := fmt.Sprint(r)
	if e, ok := r.(error); ok {
		text = e.Error()
	}
	if r == base.SigInterrupt || strings.Contains(text, base.SigInterrupt.String()) { // also within an error of a step
		return errInterrupted
	}
	if list, ok := r.(scanner.ErrorList); ok && len(list) > 0 {
		text = list[0].Error()
	}
	if !cell.runs() {
		return errors.New(placed(text))
	}
	text = place.ReplaceAllString(text, "")
	if line := cell.lineOf(ir); line > 0 {
		return fmt.Errorf("line %d of the cell: %s", line, text)
	}
	return errors.New(text)
}

// place is how the interpreter begins errors of the compiler.
var place = regexp.MustCompile(`^(?:repl\.go:)?(\d+):(\d+): `)

// placed writes the place of an error of the compiler in words.
func placed(text string) string {
	m := place.FindStringSubmatch(text)
	if m == nil {
		return strings.TrimPrefix(text, "repl.go:")
	}
	return fmt.Sprintf("line %s, column %s of the cell: %s", m[1], m[2], text[len(m[0]):])
}

// checkImports refuses packages of the standard library that the interpreter does not know, which
// it would try to build as a plugin. Packages of other modules may be built so.
func checkImports(nodes []ast.Node) error {
	for _, n := range nodes {
		d, ok := n.(*ast.GenDecl)
		if !ok || d.Tok != token.IMPORT {
			continue
		}
		for _, spec := range d.Specs {
			path, err := strconv.Unquote(spec.(*ast.ImportSpec).Path.Value)
			if err != nil {
				continue
			}
			first, _, _ := strings.Cut(path, "/")
			if _, known := imports.Packages[path]; known || first == "" || strings.Contains(first, ".") {
				continue
			}
			return fmt.Errorf("cells cannot import %s: the interpreter lacks this package of the standard library, or its functions are generic; write a loop or a function of your own, or do it in a Go program", path)
		}
	}
	return nil
}
