// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/euryale-dev/euryale/internal/exportdata"
	"github.com/euryale-dev/euryale/notebook/cells"
)

const notebooks = "../../examples/notebooks"

// examples reads the notebooks of the examples.
func examples(t *testing.T) (files []string, books []*cells.Notebook) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(notebooks, "*.md"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%d notebooks in %s: %v", len(files), notebooks, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		book, err := cells.Parse(filepath.Base(file), text)
		if err != nil {
			t.Fatal(err)
		}
		books = append(books, book)
	}
	return files, books
}

// Every notebook compiles as a Go program, and can be had for GoNB.
func TestNotebooksCompile(t *testing.T) {
	_, books := examples(t)
	paths := []string{"fmt", "log"}
	for _, book := range books {
		imports, err := book.Imports()
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, imports...)
	}
	packages, err := exportdata.Load("../..", nil, paths...)
	if err != nil {
		t.Fatal(err)
	}
	for _, book := range books {
		if _, err := book.Program(packages); err != nil {
			t.Error(err)
		}
		if _, err := book.ForGoNB(packages, "."); err != nil {
			t.Error(err)
		}
	}
}

// progress is what the build of the kernel showed.
var progress bytes.Buffer

// Kernels are built once for all tests, beside the one that users build, and hold the tests of the overlay too: with their flags they
// run these, without they are the kernel.
var built = sync.OnceValues(func() (kernel string, err error) {
	root, err := moduleRoot()
	if err != nil {
		return "", err
	}
	kernel = filepath.Join(root, "bin", "kernel-test")
	const plainly = "=-N -l" // the interpreter compiles in half the time without being optimised
	_, err = build(root, kernel, &progress, "test", "-c", "-vet=off", "-gcflags=github.com/cosmos72/gomacro/..."+plainly, "-gcflags=github.com/gopherdata/gophernotes"+plainly)
	return kernel, err
})

// offline are what the go command says where modules cannot be downloaded.
var offline = regexp.MustCompile(`dial tcp|no such host|i/o timeout|network is unreachable|connection refused|TLS handshake|proxy.*(403|404|410|50[0-9])|module lookup disabled|GOPROXY=off`)

// kernel builds the kernel, or skips the test where its modules are not to be had.
func kernel(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("it builds the kernel, which takes some seconds")
	}
	file, err := built()
	if err != nil && offline.MatchString(err.Error()) {
		t.Skipf("lacks a network: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if shown := progress.String(); !strings.Contains(shown, "reading the packages") || !strings.Contains(shown, "packages compiled") {
		t.Errorf("the build shows %q", shown)
	}
	return file
}

// runs runs notebooks in the kernel without Jupyter and returns them with their outputs, and what
// the kernel said.
func runs(t *testing.T, files ...string) (books []*cells.Notebook, told string, err error) {
	t.Helper()
	file, dir := kernel(t), t.TempDir()
	out, err := exec.Command(file, append([]string{"run", dir}, files...)...).CombinedOutput()
	names, nameErr := cells.Files(dir, ".ipynb", files)
	if nameErr != nil {
		return nil, string(out), err
	}
	for _, name := range names {
		text, readErr := os.ReadFile(name)
		if readErr != nil {
			t.Fatalf("%v: %v: %s", readErr, err, out)
		}
		book, readErr := cells.Read(name, text)
		if readErr != nil {
			t.Fatal(readErr)
		}
		books = append(books, book)
	}
	return books, string(out), err
}

// Every notebook of the examples runs, cell by cell, and shows what it is there to show; the short
// ones run twice, with the same outputs.
func TestNotebooksRun(t *testing.T) {
	files, texts := examples(t)
	var few []string
	var about []*cells.Notebook
	for i, f := range files {
		if !slices.Contains(long, texts[i].Name) {
			few, about = append(few, f), append(about, texts[i])
		}
	}
	books, told, err := runs(t, few...)
	if err != nil {
		t.Fatalf("%v\n%s", err, told)
	}
	for i, book := range books {
		checkCells(t, about[i], book)
	}
	sameAgain(t, few[:1], books[:1])
}

// long are the notebooks that take many seconds; the slow tests run all of them, twice.
var long = []string{"connectome.md", "double_or_stretched.md", "from_frames.md", "inversion.md", "motion.md"}

// sameAgain runs notebooks again and compares them with what they were the first time.
func sameAgain(t *testing.T, files []string, books []*cells.Notebook) {
	t.Helper()
	again, told, err := runs(t, files...)
	if err != nil {
		t.Fatalf("%v\n%s", err, told)
	}
	if len(again) != len(books) {
		t.Fatalf("%d notebooks ran again: want %d", len(again), len(books))
	}
	for i := range books {
		one, _ := books[i].JSON()
		other, _ := again[i].JSON()
		if !bytes.Equal(one, other) {
			t.Errorf("%s: another run has other outputs", files[i])
		}
	}
}

// checkCells compares a notebook that was run with its text: the same cells, run in order, without
// an error; posteriors show a verdict, and pictures are pictures.
func checkCells(t *testing.T, text, book *cells.Notebook) {
	t.Helper()
	if len(book.Cells) != len(text.Cells) {
		t.Errorf("%s: %d cells of %d", text.Name, len(book.Cells), len(text.Cells))
		return
	}
	count := 0
	for i, c := range book.Cells {
		if c.Source != text.Cells[i].Source || c.Kind != text.Cells[i].Kind {
			t.Errorf("%s: cell %d is not that of the text:\n%s", text.Name, i+1, c.Source)
		}
		if c.Kind != cells.Code {
			continue
		}
		count++
		if c.Count != count {
			t.Errorf("%s: cell %d of code was run as number %d", text.Name, count, c.Count)
		}
		if err := checkOutputs(c); err != nil {
			t.Errorf("%s: cell %d of code: %v", text.Name, count, err)
		}
	}
}

// pictures end in a method that draws, and name in a value.
var (
	pictures = regexp.MustCompile(`\.(Trace|Pair|Density|Forest|Rank)\([^()]*\)$`)
	name     = regexp.MustCompile(`^\w+$`)
)

func checkOutputs(c cells.Cell) error {
	var shown string
	drawn := 0
	for _, o := range c.Outputs {
		data, _ := o["data"].(map[string]any)
		shown += fmt.Sprint(data["text/plain"])
		if o["output_type"] == "error" || o["name"] == "stderr" {
			return fmt.Errorf("it failed: %v", o)
		}
		if picture, has := data["image/png"].(string); has {
			b, err := base64.StdEncoding.DecodeString(picture)
			if err != nil {
				return err
			}
			size, err := png.DecodeConfig(bytes.NewReader(b))
			if err != nil || size.Width < 200 || size.Height < 100 {
				return fmt.Errorf("its picture of %d x %d pixels: %v", size.Width, size.Height, err)
			}
			drawn++
		}
	}
	switch last := c.Source[strings.LastIndex(c.Source, "\n")+1:]; {
	case pictures.MatchString(last) && drawn != 1:
		return fmt.Errorf("%s shows %d pictures", last, drawn)
	case last == "post" && !strings.Contains(shown, "with the data"):
		return fmt.Errorf("the posterior has no verdict:\n%s", shown)
	case name.MatchString(last) && len(c.Outputs) == 0:
		return fmt.Errorf("%s shows nothing", last)
	}
	return nil
}

// The names that cells may import are bound, the others are not.
func TestBindings(t *testing.T) {
	packages, err := exportdata.Load("../..", nil, "math", "sort", "github.com/euryale-dev/euryale/infer/dist")
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string][]string{
		"math": {`"Pi": ValueOf(bound.Pi)`, `"MaxUint64": ValueOf(uint64(bound.MaxUint64))`, `"Sqrt": ValueOf(bound.Sqrt)`},
		"sort": {`"Interface": TypeOf((*P_sort_Interface)(nil)).Elem()`, "func (p *P_sort_Interface) Less(a0 int, a1 int) bool"},
		"github.com/euryale-dev/euryale/infer/dist": {`"Normal": ValueOf(bound.Normal)`},
	} {
		p, err := packages.Import(path)
		if err != nil {
			t.Fatal(err)
		}
		text, n, err := bindingOf(p)
		if err != nil || n < 5 {
			t.Fatalf("%s: %d names, %v", path, n, err)
		}
		flat := strings.Join(strings.Fields(string(text)), " ")
		for _, w := range want {
			if !strings.Contains(flat, w) {
				t.Errorf("%s: there is no %s", path, w)
			}
		}
	}
	for path, want := range map[string]bool{"a/b": true, "a/internal/b": false, "a/examples/b": false, "a/gen": false} {
		if isPublic(exportdata.Package{ImportPath: path, Name: "b"}) != want {
			t.Errorf("%s may be imported: want %v", path, want)
		}
	}
}

// A folder holds what it should, and files that did not change keep their time.
func TestWriteFiles(t *testing.T) {
	dir := t.TempDir()
	f := files{"a.go": []byte("a"), "in/b.go": []byte("b")}
	never := func(string) bool { return false }
	if err := f.write(dir, never); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(filepath.Join(dir, "a.go"))
	if err != nil {
		t.Fatal(err)
	}
	delete(f, "in/b.go")
	f["c.go"] = []byte("c")
	if err := f.write(dir, never); err != nil {
		t.Fatal(err)
	}
	after, err := os.Stat(filepath.Join(dir, "a.go"))
	if err != nil || !os.SameFile(before, after) {
		t.Errorf("a file was written again, %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "in", "b.go")); err == nil {
		t.Error("a stale file stays")
	}
	if err := (change{"c.go", "x", "y"}).apply(f); err == nil || !strings.Contains(err.Error(), `"x" 0 times`) {
		t.Error(err)
	}
}
