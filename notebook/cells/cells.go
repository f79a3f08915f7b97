// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"fmt"
	"path/filepath"
	"strings"
)

// The kinds of cells.
const (
	Code     = "code"
	Markdown = "markdown"
)

// Notebook is a list of cells. The zero value is an empty notebook for the Euryale kernel.
type Notebook struct {
	Name   string // name of the file that the notebook was read from
	Kernel Kernel // kernel that runs the notebook; default: that of Euryale
	Cells  []Cell

	// Warnings report parts of the text that are not cells but may have been meant as cells.
	Warnings []string
}

// Kernel names a Jupyter kernel.
type Kernel struct {
	Name    string // name of its folder among Jupyter's kernels
	Display string // name that a front end shows
}

// The kernels of Go notebooks.
var (
	Euryale = Kernel{"euryale", "Go (Euryale)"}
	GoNB    = Kernel{"gonb", "Go (gonb)"}
)

// Cell is one cell of a notebook.
type Cell struct {
	Kind    string // Code or Markdown
	Source  string
	Line    int // line of the file at which the source begins, from 1; 0 if the cell was not read from text
	Count   int // place in the order of execution, from 1; 0 if the cell has not been run
	Outputs []Output
}

// Output is one output of a cell, as Jupyter's notebook format describes it.
type Output map[string]any

// Stream returns the output of a cell that printed a text to "stdout" or "stderr".
func Stream(name, text string) Output {
	return Output{"output_type": "stream", "name": name, "text": text}
}

// Display returns an output that a cell displayed, given by media type, with metadata for the front end
// such as the size of a picture. Pictures are encoded as base 64 text.
func Display(data, metadata map[string]any) Output {
	return Output{"output_type": "display_data", "data": data, "metadata": orEmpty(metadata)}
}

// Result returns the output of the last expression of a cell, as Display does.
func Result(count int, data, metadata map[string]any) Output {
	return Output{"output_type": "execute_result", "execution_count": count, "data": data, "metadata": orEmpty(metadata)}
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// Failure returns the output of a cell that failed.
func Failure(text string) Output {
	return Output{"output_type": "error", "ename": "ERROR", "evalue": text, "traceback": []string{text}}
}

// Error says what is wrong with a notebook, and where.
type Error struct {
	Notebook string
	Line     int // line of the file, from 1; 0 if the error concerns the file as a whole
	Cell     int // number of the code cell, counted from 1; 0 if the error is not in a code cell
	Text     string
}

func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("notebook " + e.Notebook)
	if e.Line > 0 {
		fmt.Fprintf(&b, ", line %d", e.Line)
	}
	if e.Cell > 0 {
		fmt.Fprintf(&b, ", cell %d", e.Cell)
	}
	return b.String() + ": " + e.Text
}

// Files returns, for each file, the name of the file that it is converted to in a folder. It is an
// error if two files have the same base name, since one would overwrite the other, or if an output
// would overwrite an input.
func Files(folder, extension string, files []string) ([]string, error) {
	from, inputs := map[string]string{}, map[string]bool{}
	for _, file := range files {
		inputs[absolute(file)] = true
	}
	var list []string
	for _, file := range files {
		name := filepath.Base(file)
		name = filepath.Join(folder, strings.TrimSuffix(name, filepath.Ext(name))+extension)
		if other, taken := from[name]; taken {
			return nil, fmt.Errorf("cells: %s and %s would both be written to %s: run one at a time, into folders of their own", other, file, name)
		}
		if inputs[absolute(name)] {
			return nil, fmt.Errorf("cells: %s would overwrite itself: name another folder", name)
		}
		from[name] = file
		list = append(list, name)
	}
	return list, nil
}

// absolute is the path of a file from the root, or as it is if that is not known.
func absolute(file string) string {
	if path, err := filepath.Abs(file); err == nil {
		return path
	}
	return filepath.Clean(file)
}
