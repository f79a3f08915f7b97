// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package docs_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/internal/peer"
)

// walk says what a test needs to follow a guide.
type walk struct {
	// own matches command lines that need what only the reader has: files, a beamline, a browser, a second machine.
	own string
	// files names blocks, by their first words, that the guide says are files.
	files map[string]string
}

var walks = map[string]walk{
	"README.md":             {own: `A003_`},
	"docs/guide/xpcs.md":    {own: `--edit|--watch|agbh\.tif|small\.hdf|A003_|[^/]a_results\.hdf`},
	"docs/guide/twotime.md": {own: `^$`},
	"docs/guide/spectra.md": {own: `coadd-\*|night1|blue\.csv|star\.csv|PHOENIX|templates networks|library networks`},
	"docs/guide/curves.md":  {own: `spectrum|xps|neutrons|day1|all\.csv|wave|line\.csv|ring`, files: map[string]string{"t,y": "decay.csv"}},
	"docs/guide/scattering.md": {own: `core_shell\.json|rods\.json|core-shell-run`, files: map[string]string{
		"Energies = [": "config.txt", `{"model": "core_shell"`: "problem.json"}},
}

// A reader who types the commands of a guide one after the other, in one folder, and saves its files and runs its Python, gets what the
// guide promises.
func TestGuidesRunAsWritten(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(bin, "euryale"), "./cmd/euryale")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, p := range pages(t) {
		w, ok := walks[p.Path]
		if !ok {
			continue
		}
		t.Run(p.Path, func(t *testing.T) {
			own, dir, ran := regexp.MustCompile(w.own), t.TempDir(), 0
			run := func(line int, name string, args ...string) {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
				defer cancel()
				cmd := exec.CommandContext(ctx, name, args...)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%s:%d: %s: %v\n%s", p.Path, line, args[len(args)-1], err, out)
				}
				ran++
			}
			for _, b := range p.Blocks {
				for head, name := range w.files {
					if strings.HasPrefix(b.Text, head) {
						if err := os.WriteFile(filepath.Join(dir, name), []byte(b.Text), 0o644); err != nil {
							t.Fatal(err)
						}
					}
				}
				switch b.Lang {
				case "python":
					peer.Python(t, "h5py", "numpy").Run(t, fmt.Sprintf("import os\nos.chdir(%q)\n%s", dir, b.Text))
				case "", "sh":
					for i, line := range strings.Split(b.Text, "\n") {
						line = strings.TrimPrefix(strings.TrimSpace(line), "$ ")
						if strings.HasPrefix(line, "euryale ") && !own.MatchString(line) {
							run(b.Line+i, "bash", "-c", line)
						}
					}
				}
			}
			if ran == 0 {
				t.Error("no command of this page was run")
			}
		})
	}
}
