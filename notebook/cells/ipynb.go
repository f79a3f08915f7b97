// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cells

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/euryale-dev/euryale/internal/atomicfile"
)

// ipynb is a notebook file, format 4.5.
type ipynb struct {
	Cells    []ipynbCell    `json:"cells"`
	Metadata map[string]any `json:"metadata"`
	Format   int            `json:"nbformat"`
	Minor    int            `json:"nbformat_minor"`
}

// ipynbCell is a cell of a file; only cells of code have the last two fields.
type ipynbCell struct {
	Kind     string         `json:"cell_type"`
	ID       string         `json:"id,omitempty"`
	Metadata map[string]any `json:"metadata"`
	Source   lines          `json:"source"`
	Count    any            `json:"execution_count,omitempty"` // a nil *int is written as null
	Outputs  *[]Output      `json:"outputs,omitempty"`
}

// lines is a text that files keep as the list of its lines, so that changes are seen line by line.
type lines string

// MarshalJSON writes the text as a list of lines.
func (l lines) MarshalJSON() ([]byte, error) {
	list := []string{}
	for line := range strings.Lines(string(l)) {
		list = append(list, line)
	}
	return marshal(list)
}

// UnmarshalJSON reads a list of lines or a single text.
func (l *lines) UnmarshalJSON(b []byte) error {
	var whole string
	if json.Unmarshal(b, &whole) == nil {
		*l = lines(whole)
		return nil
	}
	var list []string
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*l = lines(strings.Join(list, ""))
	return nil
}

// marshal is json.Marshal that keeps the characters of HTML as they are.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}

// JSON returns the notebook in Jupyter's format. Equal notebooks give equal texts.
func (n *Notebook) JSON() ([]byte, error) {
	kernel := n.Kernel
	if kernel == (Kernel{}) {
		kernel = Euryale
	}
	file := ipynb{Format: 4, Minor: 5, Cells: []ipynbCell{}, Metadata: map[string]any{
		"kernelspec":    map[string]any{"name": kernel.Name, "display_name": kernel.Display, "language": "go"},
		"language_info": map[string]any{"name": "go", "file_extension": ".go"},
	}}
	for i, c := range n.Cells {
		cell := ipynbCell{Kind: c.Kind, ID: fmt.Sprintf("cell-%d", i+1), Metadata: map[string]any{}, Source: lines(c.Source)}
		if c.Kind == Code {
			outputs, count := []Output{}, &c.Count
			for _, o := range c.Outputs {
				outputs = append(outputs, inLines(o))
			}
			if c.Count == 0 {
				count = nil
			}
			cell.Outputs, cell.Count = &outputs, count
		}
		file.Cells = append(file.Cells, cell)
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(file); err != nil {
		return nil, fmt.Errorf("cells: notebook %s: %w", n.Name, err)
	}
	return b.Bytes(), nil
}

// inLines returns an output whose texts are lists of lines.
func inLines(o Output) Output {
	out := Output{}
	for key, v := range o {
		if text, isText := v.(string); isText && key == "text" {
			v = lines(text)
		}
		if data, isData := v.(map[string]any); isData && key == "data" {
			v = dataInLines(data)
		}
		out[key] = v
	}
	return out
}

func dataInLines(data map[string]any) map[string]any {
	out := map[string]any{}
	for kind, v := range data {
		if text, isText := v.(string); isText && (strings.HasPrefix(kind, "text/") || kind == "image/svg+xml") {
			v = lines(text)
		}
		out[kind] = v
	}
	return out
}

// Write writes the notebook to a file, which replaces an existing one only once it is complete.
func (n *Notebook) Write(file string) error {
	text, err := n.JSON()
	if err != nil {
		return err
	}
	return atomicfile.Write(file, true, func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// Read reads a notebook in Jupyter's format.
func Read(name string, text []byte) (*Notebook, error) {
	var file ipynb
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, fmt.Errorf("cells: notebook %s: %w", name, err)
	}
	if file.Format != 4 {
		return nil, &Error{Notebook: name, Text: fmt.Sprintf("the notebook has format %d: want 4; open and save it in Jupyter to convert it", file.Format)}
	}
	n := &Notebook{Name: name}
	if spec, ok := file.Metadata["kernelspec"].(map[string]any); ok {
		n.Kernel.Name, _ = spec["name"].(string)
		n.Kernel.Display, _ = spec["display_name"].(string)
	}
	for _, c := range file.Cells {
		cell := Cell{Kind: c.Kind, Source: string(c.Source)}
		if count, isNumber := c.Count.(float64); isNumber {
			cell.Count = int(count)
		}
		if c.Outputs != nil {
			for _, o := range *c.Outputs {
				cell.Outputs = append(cell.Outputs, joined(o))
			}
		}
		n.Cells = append(n.Cells, cell)
	}
	return n, nil
}

// joined returns an output whose texts are in one piece.
func joined(o Output) Output {
	if text, isText := inOnePiece(o["text"]); isText {
		o["text"] = text
	}
	if data, isData := o["data"].(map[string]any); isData {
		for kind, v := range data {
			if text, isText := inOnePiece(v); isText {
				data[kind] = text
			}
		}
	}
	return o
}

func inOnePiece(v any) (string, bool) {
	if text, isText := v.(string); isText {
		return text, true
	}
	list, isList := v.([]any)
	if !isList {
		return "", false
	}
	var b strings.Builder
	for _, part := range list {
		text, isText := part.(string)
		if !isText {
			return "", false
		}
		b.WriteString(text)
	}
	return b.String(), true
}
