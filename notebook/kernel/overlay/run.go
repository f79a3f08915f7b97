// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/base64"
	"fmt"
	"io"
	"log"
	"os"
	"regexp"
	"sync"
	"time"

	"github.com/cosmos72/gomacro/xreflect"

	"github.com/euryale-dev/euryale/notebook/cells"
)

// runFiles runs the cells of texts without Jupyter, each file in an interpreter of its own, and
// writes the notebooks with their outputs: run OUT-FOLDER FILE.md ... A cell that fails ends its
// notebook, and the kernel exits with 1; an interrupt ends the whole run.
func runFiles(args []string) {
	log.SetFlags(0)
	if len(args) < 2 {
		log.Fatal("usage: run OUT-FOLDER FILE.md ...")
	}
	folder, files := args[0], args[1:]
	outputs, err := cells.Files(folder, ".ipynb", files)
	if err != nil {
		log.Fatal(err)
	}
	var books []*cells.Notebook
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			log.Fatal(err)
		}
		book, err := cells.Parse(file, text)
		if err != nil {
			log.Fatal(err)
		}
		for _, w := range book.Warnings {
			log.Print("warning: ", w)
		}
		books = append(books, book)
	}
	if err := os.MkdirAll(folder, 0o755); err != nil {
		log.Fatal(err)
	}
	failed := false
	for i, book := range books {
		start := time.Now()
		state := "ok"
		err := runBook(book, outputs[i])
		if err != nil {
			failed, state = true, "FAILED: "+err.Error()
		}
		if cell.total.Load() > 0 {
			fmt.Println(files[i] + ": " + state)
			os.Exit(130)
		}
		fmt.Printf("%s: %d cells, %.1f s: %s\n", files[i], len(book.Cells), time.Since(start).Seconds(), state)
	}
	if failed {
		os.Exit(1)
	}
}

// runBook runs the cells of a notebook one after the other and writes it. A cell may end the
// process: before each one the notebook is written as if it failed so.
func runBook(book *cells.Notebook, file string) error {
	k := &Kernel{ir: newInterpreter()}
	k.display = importPackage(k.ir, "display", "display")
	k.ir.DeclVar("Display", nil, stubDisplay)
	k.initRenderers()
	count := 0
	for i := range book.Cells {
		c := &book.Cells[i]
		if c.Kind != cells.Code {
			continue
		}
		count++
		c.Count = count
		c.Outputs = []cells.Output{cells.Failure(fmt.Sprintf("cell %d ended the process", count))}
		if err := book.Write(file); err != nil {
			return err
		}
		c.Outputs = nil
		err := k.runCell(c)
		if err != nil {
			err = fmt.Errorf("cell %d: %w", count, err)
		}
		if writeErr := book.Write(file); writeErr != nil {
			return writeErr
		}
		if err == nil && cell.total.Load() > 0 { // a run that kept its draws
			err = fmt.Errorf("cell %d: %w", count, errInterrupted)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// runCell evaluates a cell and keeps its outputs.
func (k *Kernel) runCell(c *cells.Cell) error {
	out := &collector{}
	k.ir.ValueOf("Display").Set(xreflect.ValueOf(func(d Data) error {
		d = sized(d)
		out.add(cells.Display(encoded(d), d.Metadata))
		return nil
	}))
	var values []interface{}
	var types []xreflect.Type
	var err error
	var warned string
	printed := captured(&os.Stdout, func() {
		warned = captured(&os.Stderr, func() {
			values, types, err = evaluate(k.ir, OutErr{os.Stdout, os.Stderr}, c.Source, out.publish)
		})
	})
	if printed != "" {
		out.add(cells.Stream("stdout", printed))
	}
	if warned != "" {
		out.add(cells.Stream("stderr", warned))
	}
	switch {
	case err != nil:
		out.add(cells.Failure(err.Error()))
	default:
		if d := k.rendered(values, types); len(d.Data) > 0 {
			out.add(cells.Result(c.Count, encoded(d), d.Metadata))
		}
	}
	c.Outputs = out.list
	return err
}

// collector keeps the outputs of a cell, which may show them from several goroutines.
type collector struct {
	sync.Mutex
	list []cells.Output
}

func (c *collector) add(o cells.Output) {
	c.Lock()
	defer c.Unlock()
	c.list = append(c.list, o)
}

// publish takes the progress of runs, which is not kept: its times differ from run to run, and what
// it ends in says the rest.
func (c *collector) publish(string, interface{}) error { return nil }

// took is the time that a summary says sampling took, which differs from run to run.
var took = regexp.MustCompile(`( gradients), [0-9.e+-]+ s\b`)

// captured returns what a function writes to one of the standard files.
func captured(file **os.File, do func()) string {
	r, w, err := os.Pipe()
	if err != nil {
		do()
		return ""
	}
	was := *file
	*file = w
	text := make(chan string)
	go func() {
		b, _ := io.ReadAll(r)
		text <- string(b)
	}()
	do()
	*file = was
	w.Close()
	return <-text
}

// encoded is data as notebooks keep them: bytes in base 64. A picture that is there as PNG is
// not kept as a PDF or twice as a drawing too, and no text says how long sampling took.
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
		if text, ok := v.(string); ok {
			v = took.ReplaceAllString(text, "$1")
		}
		out[kind] = v
	}
	return out
}
