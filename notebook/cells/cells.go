// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Kinds of cells.
const (
	Code     = "code"
	Markdown = "markdown"
)

// Notebook is a list of cells. Its zero value is an empty notebook of the Euryale kernel.
type Notebook struct {
	Name   string // file that it was read from
	Kernel Kernel // kernel that runs it. Default: that of Euryale
	Cells  []Cell

	Warnings []string // what stands in the text and is no cell, but may be meant as one
}

// Kernel names a Jupyter kernel.
type Kernel struct {
	Name    string // name of its folder among Jupyter's kernels
	Display string // name that a front end shows
}

// Kernels of Go notebooks.
var (
	Euryale = Kernel{"euryale", "Go (Euryale)"}
	GoNB    = Kernel{"gonb", "Go (gonb)"}
)

// Cell is one cell of a notebook.
type Cell struct {
	Kind    string // Code or Markdown
	Source  string
	Line    int // line of the file at which the source begins, from 1; 0 if it comes from no text
	Count   int // place in the order of execution, from 1; 0 if the cell was not run
	Outputs []Output
}

// Output is one output of a cell, as Jupyter's notebook format describes it.
type Output map[string]any

// Stream is the output of a cell that printed a text, to "stdout" or "stderr".
func Stream(name, text string) Output {
	return Output{"output_type": "stream", "name": name, "text": text}
}

// Display is an output that a cell showed, by media type, with what the front end is told about it,
// such as the size of a picture. Pictures are text in base 64.
func Display(data, metadata map[string]any) Output {
	return Output{"output_type": "display_data", "data": data, "metadata": orEmpty(metadata)}
}

// Result is the output of the last expression of a cell, as Display.
func Result(count int, data, metadata map[string]any) Output {
	return Output{"output_type": "execute_result", "execution_count": count, "data": data, "metadata": orEmpty(metadata)}
}

func orEmpty(m map[string]any) map[string]any {
	if m == nil {
		return map[string]any{}
	}
	return m
}

// Failure is the output of a cell that failed.
func Failure(text string) Output {
	return Output{"output_type": "error", "ename": "ERROR", "evalue": text, "traceback": []string{text}}
}

// Error says what is wrong with a notebook, and where.
type Error struct {
	Notebook string
	Line     int // line of the file, from 1; 0 if the error is that of the whole file
	Cell     int // number among the cells of code, from 1; 0 if the error is in none
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

// Files returns the name of what each file becomes in a folder. Two files of one base name are an
// error, as one would replace the other, and so is one that would replace a file that is read.
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
			return nil, fmt.Errorf("cells: %s would be written over itself: name another folder", name)
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
