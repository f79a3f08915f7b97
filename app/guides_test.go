// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/internal/docs"
	"github.com/euryale-dev/euryale/internal/peer"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/kernels"
)

// guide says what a page needs beside what it says itself.
type guide struct {
	quick bool              // runs in the quick tier, since all its commands together take less than a second
	given string            // commands that make the reader's own files, one a line
	files map[string]string // files that a page speaks of, by name
	own   string            // command lines that only a reader can run, with the reason in notRun
}

// notRun are commands that the test leaves out, by how they begin or what they contain, with the reason.
var notRun = []struct{ pattern, why string }{
	{`^(go|git|make|gonb|curl|pip|python3?|jupyter|export|source) `, "installs or builds something"},
	{`^(sbatch|srun|kubectl|docker|mpirun|scp|euryale-cluster) `, "needs a cluster"},
	{`^\./|^cd euryale `, "needs what make builds"},
	{` \| |<|>`, "needs a shell"},
	{`^euryale view|--edit|--watch`, "waits for a browser or for files"},
	{`^euryale batch (sbatch|k8s)`, "is for a pipe into a scheduler"},
	{`--device cuda|^euryale bench gpu`, "needs a GPU"},
	{`\.so\b`, "needs a library that BridgeStan compiled"},
	{`PHOENIX|build library|train spectrum`, "needs a grid of model atmospheres"},
}

// The numbers of outputs may differ from the page by this share: processors round differently, and draws of a posterior are those of another
// run then, whose means and effective sample sizes scatter. Checks of draws may end otherwise then, so that outputs with draws are only compared on
// processors with the instructions of the one that wrote the pages.
const (
	ofFits  = 2e-3
	ofDraws = 0.2
)

var drawing = regexp.MustCompile(`^euryale (sample|demo|invert|train|sbc|summary|diagnose|compare|loo) `)

// The commands of every page, typed one after the other in one folder, end as the page says, with the output that it shows. With -update
// the page gets the output of today.
func TestCommandsOfGuides(t *testing.T) {
	top := apptest.Root()
	pages, err := docs.Pages(top)
	if err != nil {
		t.Fatal(err)
	}
	found, ran, left := 0, 0, map[string]int{}
	for _, p := range pages {
		g, ok := guides[p.Path]
		if !ok && slices.ContainsFunc(p.Blocks, docs.Block.IsConsole) && !described[p.Path] {
			t.Errorf("%s has commands and is not among the pages that are run", p.Path)
		}
		for _, b := range p.Blocks {
			if ok && b.IsConsole() {
				found += len(b.CommandLines())
			}
		}
		if !ok || !g.quick && !tier.Slow {
			continue
		}
		t.Run(p.Path, func(t *testing.T) {
			w := &follower{t: t, page: p, guide: g, left: left}
			w.begin()
			for i, b := range p.Blocks {
				w.block(i, b)
			}
			w.pictures(top)
			if *update {
				w.write(filepath.Join(top, filepath.FromSlash(p.Path)))
			}
			ran += w.ran
		})
	}
	t.Logf("%d commands were run; left out: %v", ran, left)
	if found < 150 {
		t.Errorf("%d commands in guides: they are not found any more", found)
	}
}

// follower does what a page says.
type follower struct {
	t      *testing.T
	page   docs.Page
	guide  guide
	ran    int
	dir    string
	left   map[string]int
	python peer.Interpreter
	out    string         // output of the last block of commands
	loose  bool           // whether a command of that block draws
	fresh  map[int]string // outputs that a page lacks, by number of the block
}

// begin makes an empty folder with the reader's own files the working directory.
func (w *follower) begin() {
	if slices.ContainsFunc(w.page.Blocks, func(b docs.Block) bool { return b.Lang == "python" }) {
		w.python = peer.Python(w.t, "h5py", "numpy")
	}
	w.dir = w.t.TempDir()
	w.t.Chdir(w.dir)
	for name, text := range w.guide.files {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
	for line := range strings.Lines(w.guide.given) {
		for _, c := range (docs.Block{Text: line}).CommandLines() {
			w.run(c)
		}
	}
	w.ran, w.fresh = 0, map[int]string{}
}

func (w *follower) block(i int, b docs.Block) {
	switch {
	case b.Name != "":
		if err := os.WriteFile(b.Name, []byte(b.Text), 0o644); err != nil {
			w.t.Fatal(err)
		}
	case b.IsConsole():
		w.out, w.loose = "", false
		for _, c := range b.CommandLines() {
			w.run(c)
		}
	case b.Lang == "text" && i > 0 && w.page.Blocks[i-1].Lang == "console" && b.After(w.page.Blocks[i-1]):
		tol := ofFits
		if w.loose {
			tol = ofDraws
		}
		if w.loose && kernels.Best() != kernels.AVX512 {
			w.t.Logf("%s:%d: not compared: the page was written on a processor with AVX-512", w.page.Path, b.Line)
		} else if d := docs.Differs(w.out, b.Text, tol); d != "" && *update {
			w.fresh[i] = w.out
		} else if d != "" {
			w.t.Errorf("%s:%d: %s; the output is\n%s", w.page.Path, b.Line, d, w.out)
		}
	case b.Lang == "python":
		w.python.Run(w.t, b.Text)
	}
}

// progress matches lines that tell how far a command is.
var progress = regexp.MustCompile(`(?m)^(chain \d+ .*|evaluations +\d.*|drawing the report.*|writing the draws.*|.*\(\d+ %\).*)\n`)

// run carries out a command line: one of euryale, or what a reader types between those.
func (w *follower) run(c docs.Command) {
	for _, n := range notRun {
		if regexp.MustCompile(n.pattern).MatchString(c.Text + " ") {
			w.left[n.why]++
			return
		}
	}
	if w.guide.own != "" && regexp.MustCompile(w.guide.own).MatchString(c.Text) {
		w.left["needs files of the reader's own"]++
		return
	}
	w.ran++
	var out bytes.Buffer
	code, err := 0, error(nil)
	switch c.Words[0] {
	case "euryale":
		code = app.Run(w.t.Context(), c.Words[1:], &out, &out)
		w.loose = w.loose || drawing.MatchString(c.Text)
	case "cd":
		err = os.Chdir(c.Words[1])
	case "mkdir":
		err = os.MkdirAll(c.Words[len(c.Words)-1], 0o755)
	case "cat", "cp":
		var b []byte
		if b, err = os.ReadFile(c.Words[1]); err == nil && c.Words[0] == "cp" {
			err = os.WriteFile(c.Words[2], b, 0o644)
		}
		out.Write(b)
	case "ls":
		for _, name := range c.Words[1:] {
			fmt.Fprintln(&out, name)
		}
	default:
		err = fmt.Errorf("%s is no command that the test knows", c.Words[0])
	}
	if err != nil || code != c.Code {
		w.t.Errorf("%s:%d: %s: exit code %d, error %v\n%s", w.page.Path, c.Line, c.Text, code, err, out.String())
	}
	w.out += strings.ReplaceAll(progress.ReplaceAllString(out.String(), ""), w.dir+string(filepath.Separator), "")
}

// pictures compares the pictures of a gallery with those that the commands of the page drew.
func (w *follower) pictures(top string) {
	for _, l := range w.page.Links {
		name, ok := strings.CutPrefix(l.Text, "../pictures/gallery-")
		if !ok {
			continue
		}
		kept := filepath.Join(top, "docs", "pictures", "gallery-"+name)
		drawn, err := os.ReadFile(filepath.Join(w.dir, name))
		if err != nil {
			w.t.Errorf("%s:%d: no command draws this picture: %v", w.page.Path, l.Line, err)
			continue
		}
		if len(drawn) > 50_000 {
			w.t.Errorf("%s:%d: the picture has %d bytes, more than 50,000", w.page.Path, l.Line, len(drawn))
		}
		if kernels.Best() != kernels.AVX512 {
			continue
		}
		old, err := os.ReadFile(kept)
		if d := docs.Differs(string(drawn), string(old), ofDraws); d == "" && err == nil {
			continue
		} else if !*update {
			w.t.Errorf("%s:%d: the picture is another one now (-update draws it): %v %.200s", w.page.Path, l.Line, err, d)
		} else if err := os.WriteFile(kept, drawn, 0o644); err != nil {
			w.t.Fatal(err)
		}
	}
}

// write puts the fresh outputs into the page.
func (w *follower) write(name string) {
	if len(w.fresh) == 0 {
		return
	}
	text, err := os.ReadFile(name)
	if err != nil {
		w.t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i := len(w.page.Blocks) - 1; i >= 0; i-- {
		if out, ok := w.fresh[i]; ok {
			b := w.page.Blocks[i]
			lines = slices.Replace(lines, b.Line-1, b.End()-1, strings.Split(strings.Trim(out, "\n"), "\n")...)
		}
	}
	if err := os.WriteFile(name, []byte(strings.Join(lines, "\n")), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

// Programs in pages compile, run, and print what the page says.
func TestProgramsOfGuides(t *testing.T) {
	tier.SlowOnly(t)
	pages, err := docs.Pages(apptest.Root())
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, p := range pages {
		w := &follower{t: t, page: p, fresh: map[int]string{}}
		for i, b := range p.Blocks {
			if b.Lang != "go" || !strings.HasPrefix(b.Text, "package main\n") {
				continue
			}
			ran++
			name := filepath.Join(t.TempDir(), "main.go")
			if err := os.WriteFile(name, []byte(b.Text), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("go", "run", name)
			cmd.Dir = apptest.Root()
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s:%d: %v\n%s", p.Path, b.Line, err, out)
			}
			if i+1 == len(p.Blocks) || p.Blocks[i+1].Lang != "text" || !p.Blocks[i+1].After(b) {
				continue
			}
			if d := docs.Differs(string(out), p.Blocks[i+1].Text, ofDraws); d != "" && *update {
				w.fresh[i+1] = string(out)
			} else if d != "" {
				t.Errorf("%s:%d: %s; the output is\n%s", p.Path, b.Line, d, out)
			}
		}
		if *update {
			w.write(apptest.Root(filepath.FromSlash(p.Path)))
		}
	}
	if ran == 0 {
		t.Error("no program in pages: they are not found any more")
	}
}

// Outputs that differ are told from those that only round otherwise.
func TestDifferencesOfOutputs(t *testing.T) {
	const page = "tau  0.3290 +- 0.0026 s\nThe model agrees.\n4 chains, 0.057 s.\n"
	for got, ok := range map[string]bool{
		page: true,
		"tau   0.3291 +- 0.0026 s\nThe model agrees.\n4 chains, 3.1 s.\n":         true,
		"tau   0.3390 +- 0.0026 s\nThe model agrees.\n4 chains, 3.1 s.\n":         false,
		"tau   0.3290 +- 0.0026 s\nThe model disagrees.\n4 chains, 3.1 s.\n":      false,
		"tau   0.3290 +- 0.0026 s\nThe model agrees.\n5 chains, 3.1 s.\n":         false,
		"tau   0.3290 +- 0.0026 s\nThe model agrees.\n":                           false,
		"tau   0.3290 +- 0.0026 s\nnote\nThe model agrees.\n4 chains, 0.057 s.\n": false,
	} {
		if d := docs.Differs(got, page, ofFits); (d == "") != ok {
			t.Errorf("%q: %s", got, d)
		}
	}
	if d := docs.Differs("a\nb\nc\nd\n", "a\n...\nd\n", ofFits); d != "" {
		t.Error(d)
	}
}
