// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/peer"
)

// What cells do wrong is told in words, with the place in the cell, and never ends the kernel
// without one.
func TestCells(t *testing.T) {
	dir := t.TempDir()
	var files []string
	cases := []struct {
		name, want string // what the last cell of code shows
		cells      []string
	}{
		{"undefined", "line 3, column 6 of the cell: undefined identifier: nothing", []string{"x := 1\n\nz := nothing + x"}},
		{"syntax", "line 2, column 7 of the cell: expected operand, found ')'", []string{"x := 1\n  x + ) 2"}},
		{"kinds", "line 2, column 5 of the cell: cannot assign", []string{"x := 1\nvar s string = x"}},
		{"runtime", "line 2 of the cell: Sample: ", []string{"import nb \"github.com/euryale-dev/euryale/notebook\"\np := nb.DemoG2().Sample(\"singel\")\np"}},
		{"standard", "cells cannot import slices: the interpreter lacks this package", []string{"import (\n\t\"fmt\"\n\t\"slices\"\n)"}},
		{"exit", "line 2 of the cell: os.Exit(0): a cell cannot end the kernel", []string{"import \"os\"\nos.Exit(0)\n1"}},
		{"calls", "line 4 of the cell: a", []string{"func f() { panic(\"a\") }\nx := 1\n\nf()\nx = 2"}},
		{"order", "line 2 of the cell: b", []string{"x := 1\nvar y = f()\nfunc f() int { return g() }\nfunc g() int { panic(\"b\") }"}},
		{"fatal", "wrong: 3", []string{"import \"log\"\nlog.Fatalf(\"wrong: %d\", 3)\n1"}},
		{"goroutine", "A goroutine of a cell ended with a panic: f 3 1.5", []string{"import (\"fmt\"; \"time\")\nfunc f(a int, b float64) { panic(fmt.Sprint(\"f \", a, \" \", b)) }\nk := 3\ngo f(k, 1.5)\nk = 4\ntime.Sleep(100*time.Millisecond)"}},
		{"later", "A goroutine of a cell ended with a panic: late", []string{"import \"time\"\ngo func() { time.Sleep(50*time.Millisecond); panic(\"late\") }()", "time.Sleep(200*time.Millisecond)"}},
		{"nested", "2", []string{"import \"sync\"\nvar wg sync.WaitGroup\nc := make(chan int, 2)\nwg.Add(2)\nfor i := 0; i < 2; i++ {\n\tgo func(i int) {\n\t\tdefer wg.Done()\n\t\tif i == 1 { go close(make(chan int)) }\n\t\tc <- i\n\t}(i)\n}\nwg.Wait()\nlen(c)"}},
		{"today", "a true", []string{"import (\"fmt\"; \"strings\"; \"sync/atomic\"; \"math/rand/v2\"; \"gonum.org/v1/gonum/stat\")\na, _, ok := strings.Cut(\"a=b\", \"=\")\nvar n atomic.Int64\nn.Add(int64(rand.New(rand.NewPCG(1, 2)).IntN(3)))\nstat.Mean([]float64{1}, nil)\nfmt.Sprint(a, \" \", ok)"}},
		{"print", "a", []string{"import \"fmt\"\nfmt.Println(\"a\")"}},
		{"shown", "4 chains", []string{"import nb \"github.com/euryale-dev/euryale/notebook\"\ndone := make(chan string, 12)\nfor i := 0; i < 12; i++ {\n\tgo func() { done <- nb.DemoG2().Sample(\"single\", nb.Settings{Draws: 200}).String() }()\n}\nlast := \"\"\nfor i := 0; i < 12; i++ {\n\tlast = <-done\n}\nlast"}},
		{"failing", "no", []string{"import \"errors\"\nfunc f() (int, error) { return 1, errors.New(\"no\") }", "f()"}},
	}
	for _, c := range cases {
		text := "# " + c.name + "\n"
		for _, source := range c.cells {
			text += "```go\n" + source + "\n```\n"
		}
		file := filepath.Join(dir, c.name+".md")
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	books, told, err := runs(t, files...)
	if err == nil {
		t.Errorf("cells failed, and the kernel reports success:\n%s", told)
	}
	for i, c := range cases {
		var shown strings.Builder
		last := books[i].Cells[len(books[i].Cells)-1]
		for _, o := range last.Outputs {
			data, _ := o["data"].(map[string]any)
			for _, part := range []any{o["text"], o["evalue"], data["text/plain"]} {
				if part != nil {
					fmt.Fprintln(&shown, part)
				}
			}
		}
		if s := shown.String(); !strings.Contains(s, c.want) || strings.Contains(s, "warning") || c.name == "print" && s != "a\n\n" {
			t.Errorf("%s: %q, want %q", c.name, s, c.want)
		}
	}
}

// A cell that ends the process has been written as the one that did, and two notebooks of one name
// are refused before anything runs.
func TestNothingIsLost(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.md")
	text := "```go\n1\n```\n```go\nimport \"os\"\np, _ := os.FindProcess(os.Getpid())\np.Kill()\nselect {}\n```\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	books, told, err := runs(t, file)
	if err == nil {
		t.Fatalf("a process that ended reports success: %s", told)
	}
	first, second := books[0].Cells[0], books[0].Cells[1]
	if len(first.Outputs) != 1 || len(second.Outputs) != 1 || second.Outputs[0]["evalue"] != "cell 2 ended the process" {
		t.Errorf("%v\n%v", first, second)
	}
	_, told, err = runs(t, file, filepath.Join(dir, "b", "a.md"))
	if err == nil || !strings.Contains(told, "would both be written") || strings.Contains(told, "cells,") {
		t.Errorf("%v: %s", err, told)
	}
}

// The tests of the overlay itself, within the kernel's module.
func TestOverlay(t *testing.T) {
	if out, err := exec.Command(kernel(t), "-test.v").CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: TestCellsThatDoNotCompile")) {
		t.Errorf("%v: %s", err, out)
	}
}

// An interrupt ends functions of a cell that a run waits for, says so in words, and ends the whole
// run of notebooks.
func TestInterrupts(t *testing.T) {
	program, dir := kernel(t), t.TempDir()
	const nb = "import (\"github.com/euryale-dev/euryale/infer\"; nb \"github.com/euryale-dev/euryale/notebook\"; \"time\")\n"
	for name, cell := range map[string]string{
		"loop":  nb + "nb.SampleDensity(\"a\", 2, func(q []float64) float64 { for {} })",
		"sleep": nb + "nb.SampleDensity(\"a\", 2, func(q []float64) float64 { time.Sleep(time.Hour); return 0 })",
		"build": nb + "_ = time.Second\nnb.Sample(\"a\", func(m *infer.Model) { for {} })",
		"plain": nb + "for { time.Sleep(time.Millisecond) }",
		"keeps": nb + "nb.DemoG2().Sample(\"double\", nb.Settings{Draws: 60000})",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := filepath.Join(dir, name)
			var files []string
			for file, source := range map[string]string{"a.md": cell, "b.md": "2"} {
				file = filepath.Join(dir, name+file)
				if err := os.WriteFile(file, []byte("```go\n"+source+"\n```\n"), 0o644); err != nil {
					t.Fatal(err)
				}
				files = append(files, file)
			}
			slices.Sort(files)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			cmd := exec.CommandContext(ctx, program, append([]string{"run", out}, files...)...)
			var told bytes.Buffer
			cmd.Stdout, cmd.Stderr = &told, &told
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			for begun := false; !begun && ctx.Err() == nil; time.Sleep(time.Second) { // the notebook is written before its cell runs
				_, err := os.Stat(filepath.Join(out, name+"a.ipynb"))
				begun = err == nil
			}
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			err := cmd.Wait()
			if cmd.ProcessState.ExitCode() != 130 || !strings.Contains(told.String(), "cell 1: interrupted") || strings.Contains(told.String(), "b.md") {
				t.Errorf("%v: %s", err, &told)
			}
		})
	}
}

//go:embed testdata/jupyter.py
var jupyter string

// The kernel under Jupyter's own client: interrupts, restart, and the same draws when all is run
// again.
func TestJupyter(t *testing.T) {
	python := peer.Python(t, "jupyter_client")
	dir := t.TempDir()
	if err := installSpec(dir, kernel(t)); err != nil {
		t.Fatal(err)
	}
	_, books := examples(t)
	file := filepath.Join(dir, "g2.ipynb")
	for _, book := range books {
		if book.Name == "g2.md" {
			if err := book.Write(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	out := python.Run(t, jupyter, dir, file)
	for _, want := range []string{"sleep: interrupted", "loop: interrupted", "sampling: keeps its draws", "after: 42", "restart: ok", "twice: same", "notebook: 6 cells"} {
		if !strings.Contains(out, want+"\n") {
			t.Errorf("there is no %q in\n%s", want, out)
		}
	}
}
