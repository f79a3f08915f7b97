// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/csv"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/internal/peer"
)

// The test program is the command, too: see apptest.Main.
func TestMain(m *testing.M) { apptest.Main(m) }

// The functions of the package are those of today's commands.
func TestCommandsAreCurrent(t *testing.T) {
	want, err := commands()
	if err != nil {
		t.Fatal(err)
	}
	have, err := os.ReadFile(apptest.Root("python", "euryale", "commands.py"))
	if err != nil {
		t.Fatal(err)
	}
	if string(have) != want {
		t.Error("python/euryale/commands.py differs from the commands: run go run ./internal/python commands")
	}
	for _, part := range []string{"def fit_g2(\n    file: Data | Sequence[Data],\n    *,\n", "    prior: Mapping[str, str] | None = None,\n", "-> Posterior:\n"} {
		if !strings.Contains(want, part) {
			t.Errorf("the functions lack %q", part)
		}
	}
}

// Places are the words of a usage line in capital letters.
func TestPlaces(t *testing.T) {
	for use, want := range map[string]string{
		"g2 FILE... [flags]":                   "file...",
		"curve DATA... FORMULA":                "data... formula",
		"rsoxs MORPH.h5 [OUTDIR]":              "morph output?",
		"compare RUN|FILE RUN|FILE...":         "run...",
		"stan MODEL.stan --data FILE.json":     "model",
		"g2 FILE [--bin N]":                    "file",
		"view [FILE|FOLDER|RUN...]":            "file?...",
		"ages RESULT.hdf [OUT.csv|.xlsx]":      "result output?",
		"twotime RESULT.hdf|RUN [OUT.svg|png]": "result output?",
	} {
		var have []string
		for _, p := range placesOf(use) {
			text := p.name
			if p.optional() {
				text += "?"
			}
			if p.several {
				text += "..."
			}
			have = append(have, text)
		}
		if got := strings.Join(have, " "); got != want {
			t.Errorf("%s: %s, want %s", use, got, want)
		}
	}
}

// A package holds the modules, the program as one that may be run, and their checksums.
func TestWheel(t *testing.T) {
	program := filepath.Join(t.TempDir(), "euryale")
	if err := os.WriteFile(program, []byte("a program"), 0o755); err != nil {
		t.Fatal(err)
	}
	t.Chdir(apptest.Root())
	var b, again bytes.Buffer
	for _, w := range []*bytes.Buffer{&b, &again} {
		if err := write(w, program, "1.2.3", tags["linux/amd64"]); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(b.Bytes(), again.Bytes()) {
		t.Error("the same files make another package the second time")
	}
	z, err := zip.NewReader(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		files[f.Name] = string(content)
		if f.Name == "euryale/bin/euryale" && f.Mode()&0o111 == 0 {
			t.Errorf("%s has the mode %v: pip would not make it a program", f.Name, f.Mode())
		}
	}
	rows, err := csv.NewReader(strings.NewReader(files["euryale-1.2.3.dist-info/RECORD"])).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		sum := sha256.Sum256([]byte(files[row[0]]))
		if row[1] != "" && row[1] != "sha256="+base64.RawURLEncoding.EncodeToString(sum[:]) {
			t.Errorf("the checksum of %s is wrong", row[0])
		}
	}
	if len(rows) != len(files) || len(files) < 12 {
		t.Errorf("%d files, of which %d are recorded", len(files), len(rows))
	}
	for name, part := range map[string]string{
		"euryale-1.2.3.dist-info/WHEEL":    "Tag: py3-none-musllinux_1_1_x86_64\n",
		"euryale-1.2.3.dist-info/METADATA": "Version: 1.2.3\n",
		"euryale/py.typed":                 "",
		"euryale/bin/euryale":              "a program",
	} {
		if text, ok := files[name]; !ok || !strings.Contains(text, part) {
			t.Errorf("%s: %q, which lacks %q", name, text, part)
		}
	}
}

// The module's own tests run with the program under test.
func TestPython(t *testing.T) {
	python := peer.Python(t, "numpy")
	cmd := exec.Command(python.Path(), "-m", "unittest", "discover", "-s", apptest.Root("python", "tests"))
	cmd.Env = append(os.Environ(), "PYTHONPATH="+apptest.Root("python"), "PYTHONDONTWRITEBYTECODE=1", "EURYALE="+os.Args[0], "EURYALE_TEST_COMMAND=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
