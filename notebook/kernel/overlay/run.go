package main

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	interp "github.com/cosmos72/gomacro/fast"
	"github.com/cosmos72/gomacro/xreflect"
)

// cell is a cell of a notebook file.
type cell struct {
	Kind     string         `json:"cell_type"`
	Metadata map[string]any `json:"metadata"`
	Source   string         `json:"source"`
	Outputs  []any          `json:"outputs,omitempty"`
	Count    *int           `json:"execution_count,omitempty"`
}

// MarshalJSON leaves out what only cells of code have, and keeps what they must have.
func (c cell) MarshalJSON() ([]byte, error) {
	m := map[string]any{"cell_type": c.Kind, "metadata": map[string]any{}, "source": c.Source}
	if c.Kind == "code" {
		m["outputs"], m["execution_count"] = append([]any{}, c.Outputs...), c.Count
	}
	return json.Marshal(m)
}

// runFiles runs the cells of texts without Jupyter, each in an interpreter of its own, and
// writes the notebooks with their outputs: run OUT-FOLDER FILE.md ... A cell that fails ends
// its notebook, and the kernel exits with 1.
func runFiles(args []string) {
	log.SetFlags(0)
	if len(args) < 2 {
		log.Fatal("usage: run OUT-FOLDER FILE.md ...")
	}
	failed := false
	for _, file := range args[1:] {
		start := time.Now()
		cells, err := runFile(file)
		if writeErr := writeNotebook(args[0], file, cells); writeErr != nil {
			log.Fatal(writeErr)
		}
		state := "ok"
		if err != nil {
			failed, state = true, "FAILED: "+err.Error()
		}
		fmt.Printf("%s: %d cells, %.1f s: %s\n", file, len(cells), time.Since(start).Seconds(), state)
	}
	if failed {
		os.Exit(1)
	}
}

// runFile runs the cells of a text one after the other.
func runFile(file string) ([]cell, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	cells := parseCells(string(text))
	k := &Kernel{ir: interp.New()}
	quietly(func() {
		k.ir.Comp.Stdout, k.ir.Comp.Stderr = io.Discard, io.Discard
		k.display = importPackage(k.ir, "display", "display")
		k.ir.DeclVar("Display", nil, stubDisplay)
		k.initRenderers()
		prepare(k.ir)
	})
	count := 0
	for i := range cells {
		if cells[i].Kind != "code" {
			continue
		}
		count++
		n := count
		cells[i].Count = &n
		if err := k.runCell(&cells[i]); err != nil {
			return cells, fmt.Errorf("cell %d: %w", count, err)
		}
	}
	return cells, nil
}

// runCell evaluates a cell and keeps its outputs.
func (k *Kernel) runCell(c *cell) error {
	byName := map[string]int{} // places of displays that are updated
	publish := func(kind string, content interface{}) error {
		m := content.(map[string]any)
		name := fmt.Sprint(m["transient"])
		output := map[string]any{"output_type": "display_data", "data": m["data"], "metadata": map[string]any{}}
		if at, known := byName[name]; known && kind == "update_display_data" {
			c.Outputs[at] = output
			return nil
		}
		byName[name] = len(c.Outputs)
		c.Outputs = append(c.Outputs, output)
		return nil
	}
	k.ir.ValueOf("Display").Set(xreflect.ValueOf(func(d Data) error {
		c.Outputs = append(c.Outputs, map[string]any{"output_type": "display_data", "data": encoded(d), "metadata": map[string]any{}})
		return nil
	}))
	var values []interface{}
	var types []xreflect.Type
	var err error
	printed := captured(func() {
		var out bytes.Buffer
		values, types, err = evaluate(k.ir, OutErr{&out, &out}, c.Source, publish)
	})
	if printed != "" {
		c.Outputs = append(c.Outputs, map[string]any{"output_type": "stream", "name": "stdout", "text": printed})
	}
	if err != nil {
		c.Outputs = append(c.Outputs, map[string]any{"output_type": "error", "ename": "ERROR", "evalue": err.Error(), "traceback": []string{err.Error()}})
		return err
	}
	if d := k.rendered(values, types); len(d.Data) > 0 {
		c.Outputs = append(c.Outputs, map[string]any{"output_type": "execute_result", "data": encoded(d), "metadata": map[string]any{}, "execution_count": *c.Count})
	}
	return nil
}

// captured returns what a function prints.
func captured(do func()) string {
	r, w, err := os.Pipe()
	if err != nil {
		do()
		return ""
	}
	stdout := os.Stdout
	os.Stdout = w
	text := make(chan string)
	go func() {
		b, _ := io.ReadAll(r)
		text <- string(b)
	}()
	do()
	os.Stdout = stdout
	w.Close()
	return <-text
}

// encoded is data as notebooks keep them: bytes in base 64. A picture that is there as PNG is
// not kept as a PDF or twice as a drawing too.
func encoded(d Data) map[string]any {
	out := map[string]any{}
	_, isPicture := d.Data["image/png"]
	for kind, v := range d.Data {
		if isPicture && kind != "image/png" && kind != "text/plain" {
			continue
		}
		if b, ok := v.([]byte); ok {
			out[kind] = base64.StdEncoding.EncodeToString(b)
			continue
		}
		out[kind] = v
	}
	return out
}

// parseCells parts a text in Markdown: code between fences with the word go is a cell of code,
// all between is text.
func parseCells(text string) (cells []cell) {
	var lines []string
	flush := func(kind string) {
		if source := strings.TrimSpace(strings.Join(lines, "\n")); source != "" {
			cells = append(cells, cell{Kind: kind, Source: source})
		}
		lines = nil
	}
	kind := "markdown"
	for _, l := range strings.Split(text, "\n") {
		switch {
		case kind == "markdown" && strings.TrimSpace(l) == "```go":
			flush(kind)
			kind = "code"
		case kind == "code" && strings.TrimSpace(l) == "```":
			flush(kind)
			kind = "markdown"
		default:
			lines = append(lines, l)
		}
	}
	flush(kind)
	return cells
}

// writeNotebook writes the notebook of a text into a folder.
func writeNotebook(folder, file string, cells []cell) error {
	book := map[string]any{"cells": cells, "nbformat": 4, "nbformat_minor": 4, "metadata": map[string]any{
		"kernelspec":    map[string]any{"name": "euryale", "display_name": "Go (Euryale)", "language": "go"},
		"language_info": map[string]any{"name": "go", "file_extension": ".go"},
	}}
	text, err := json.MarshalIndent(book, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	name := filepath.Join(folder, strings.TrimSuffix(filepath.Base(file), ".md")+".ipynb")
	return os.WriteFile(name, append(text, '\n'), 0o644)
}
