// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package work

import (
	"context"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/batch"
)

// What programs of others say reaches no table with its control characters.
func TestTablesShowControlCharacters(t *testing.T) {
	dir := t.TempDir()
	config, store := filepath.Join(dir, "run.yaml"), batch.Store(filepath.Join(dir, "results"))
	if err := os.WriteFile(config, []byte("work: sweep\nretries: 0\nprogram: /bin/sh\ncommand: [-c, \"printf 'a\\\\033[2Jb\\\\007' >&2; exit {x}\"]\ngrid: {x: [0, 1]}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	list, err := Read(config)
	if err != nil {
		t.Fatal(err)
	}
	m, err := list.Create(filepath.Join(dir, "manifest.txt"))
	if err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	if _, err := Open(m, Env{Permit: func(program string) error {
		if program != "/bin/sh" {
			t.Errorf("asked for %s", program)
		}
		return refused
	}}); !errors.Is(err, refused) {
		t.Error(err)
	}
	if program, err := Program(m); program != "/bin/sh" || err != nil {
		t.Error(program, err)
	}
	task, err := Open(m, Env{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := batch.Run(context.Background(), m, task, batch.Settings{Store: store, Shard: batch.Whole}); err != nil {
		t.Fatal(err)
	}
	if _, err := Merge(m, store, dir, Env{}); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(dir, Failures))
	if err != nil || strings.ContainsAny(string(b), "\x1b\a") || !strings.Contains(string(b), `a\x1b[2Jb\x07`) {
		t.Errorf("%q, %v", b, err)
	}
}

// Only sweeps start programs, which is what Permit is asked about.
func TestOnlySweepsStartPrograms(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "sweep") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if i.Path.Value == `"os/exec"` || i.Path.Value == `"syscall"` {
				t.Errorf("%s imports %s: ask Permit before a program is started", name, i.Path.Value)
			}
		}
	}
}

// A process that was killed between taking away the folder of an item and putting another in its place leaves one that comes back.
func TestFoldersOfItemsComeBack(t *testing.T) {
	dir := t.TempDir()
	ended := exec.Command("/bin/sh", "-c", "exit")
	if err := ended.Run(); err != nil {
		t.Skip(err)
	}
	host, _ := os.Hostname()
	left := fmt.Sprintf("%s-%d-%s", leftEnding, ended.Process.Pid, host)
	for _, name := range []string{"1" + left, "1" + left + oldEnding, "2", "2" + left + oldEnding, "3" + left} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, "of"), []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := removeLeft(dir); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) != 2 || entries[0].Name() != "1" || entries[1].Name() != "2" {
		t.Fatalf("%v, %v: want the folders of items 1 and 2", entries, err)
	}
	for name, want := range map[string]string{"1": "1" + left + oldEnding, "2": "2"} {
		if b, err := os.ReadFile(filepath.Join(dir, name, "of")); err != nil || string(b) != want {
			t.Errorf("item %s has the folder %s, want %s: %v", name, b, want, err)
		}
	}
}
