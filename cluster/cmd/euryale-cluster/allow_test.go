// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/batch/work"
)

// A worker starts the program of a list only if it was told that it may: by the name of the program, or by that of the list.
func TestAllow(t *testing.T) {
	dir := t.TempDir()
	program, touched := filepath.Join(dir, "a program"), filepath.Join(dir, "touched")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$1\" >> '"+touched+"'\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(dir, "run.yaml")
	if err := os.WriteFile(config, []byte("work: sweep\nprogram: ./a program\ncommand: [\"{x}\"]\ngrid: {x: [1, 2, 3]}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	read, err := work.Read(config)
	if err != nil {
		t.Fatal(err)
	}
	path, store := filepath.Join(dir, "run", "manifest.txt"), filepath.Join(dir, "run", "results")
	if err := os.Mkdir(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	m, err := read.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	l := start(t, "lead", path, "--patience", "500ms")
	url, token := address(t, l, store), filepath.Join(store, "leader", "token")
	for _, more := range [][]string{nil, {"--allow", "sh"}, {"--allow", "euryale"}, {"--allow", dir}} {
		w := start(t, append([]string{"work", url, "--token-file", token, "--wait", "5s"}, more...)...)
		if code, said := w.code(), w.said.String(); code != exitConfig || !strings.Contains(said, "asks this worker to start the program '"+program+"' for every item") || !strings.Contains(said, "--allow '"+program+"'") {
			t.Errorf("%v: exit %d: %s", more, code, said)
		}
	}
	if _, err := os.Stat(touched); err == nil {
		t.Fatal("the program was started")
	}
	w := start(t, "work", url, "--token-file", token, "--wait", "5s", "--allow", program)
	if code := w.code(); code != 0 {
		t.Errorf("exit %d: %s", code, w.said.String())
	}
	if code := l.code(); code != 0 || !strings.Contains(l.said.String(), " --token-file "+token+" --allow '"+program+"'\n") {
		t.Errorf("exit %d: %s", code, l.said.String())
	}
	if b, err := os.ReadFile(touched); err != nil || len(strings.Fields(string(b))) != 3 {
		t.Errorf("%q, %v", b, err)
	}
	for _, c := range []struct {
		may  allowed
		good bool
	}{{allowed{}, false}, {allowed{Any: true}, true}, {allowed{Programs: []string{program}}, true}, {allowed{Programs: []string{"sh", "true"}}, false}} {
		if _, err := openWork(m, c.may); (err == nil) != c.good {
			t.Errorf("%+v: %v", c.may, err)
		}
	}
	// euryale is a program like others, by this name.
	for name, good := range map[string]bool{"euryale": true, beside("euryale"): true, "sh": false} {
		if err := (allowed{Programs: []string{name}}).permit(beside("euryale")); (err == nil) != good {
			t.Errorf("%s: %v", name, err)
		}
	}
}
