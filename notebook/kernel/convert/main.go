// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command convert turns notebooks written in Markdown into Go programs, or into notebooks for GoNB.
//
//	go run ./notebook/kernel/convert -to program -o run/programs examples/notebooks/*.md
//	go run ./notebook/kernel/convert -to gonb -o run/gonb examples/notebooks/*.md
//
// Programs are written as FOLDER/NAME/main.go and run within the checkout: go run ./run/programs/g2.
package main

import (
	"flag"
	"fmt"
	"go/types"
	"log"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/internal/exportdata"
	"github.com/euryale-dev/euryale/internal/foreign"
	"github.com/euryale-dev/euryale/notebook/cells"
)

func main() {
	log.SetFlags(0)
	to := flag.String("to", "program", "what to write: program or gonb")
	out := flag.String("o", "run/programs", "the folder to write into")
	root := flag.String("root", ".", "the folder of the checkout")
	flag.Parse()
	if err := run(*to, *out, *root, flag.Args()); err != nil {
		log.Fatalf("convert: %v", err)
	}
}

func run(to, out, root string, files []string) error {
	if to != "program" && to != "gonb" {
		return fmt.Errorf("-to is %s: want program or gonb", to)
	}
	if len(files) == 0 {
		return fmt.Errorf("there are no notebooks to convert: name files such as examples/notebooks/g2.md")
	}
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	extension := map[string]string{"gonb": ".ipynb"}[to]
	names, err := cells.Files(out, extension, files)
	if err != nil {
		return err
	}
	var books []*cells.Notebook
	paths := []string{"fmt", "log"}
	for _, file := range files {
		text, err := foreign.ReadFile(file)
		if err != nil {
			return err
		}
		book, err := cells.Parse(filepath.Base(file), text)
		if err != nil {
			return err
		}
		for _, w := range book.Warnings {
			log.Print("warning: ", w)
		}
		imports, err := book.Imports()
		if err != nil {
			return err
		}
		books, paths = append(books, book), append(paths, imports...)
	}
	packages, err := exportdata.Load(root, nil, paths...)
	if err != nil {
		return err
	}
	for i, book := range books {
		if err := write(to, names[i], root, book, packages); err != nil {
			return err
		}
	}
	return nil
}

// write writes what a notebook becomes.
func write(to, name, root string, book *cells.Notebook, packages types.Importer) error {
	if to == "gonb" {
		converted, err := book.ForGoNB(packages, root)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		return converted.Write(name)
	}
	text, err := book.Program(packages)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(name, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(name, "main.go"), text, 0o644)
}
