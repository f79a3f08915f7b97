// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build unix

package app_test

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"unicode/utf16"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
)

// Whatever a file or an argument holds, nothing of it steers the terminal, and what is no
// file of the kind is named.
func TestHostileInput(t *testing.T) {
	t.Chdir(t.TempDir())
	wide := []byte{0xff, 0xfe}
	for _, c := range utf16.Encode([]rune(`{"expr": "a*x"}`)) {
		wide = append(wide, byte(c), byte(c>>8))
	}
	const line = `{"expr": "%s", "start": {"a": 1}, "data": {"x": [1, 2, 3], "y": [1.1, 2, 3.2]}}`
	for name, text := range map[string]string{
		"a.fits": "SIMPLE  =                    T", "wide.json": string(wide), "escape.csv": "tau,g2\x1b[31m\x07,g2_err\n1,2,3\n",
		"twice.json": `{"expr": "a*x", "expr": "b*x"}`, "marked.json": "\xef\xbb\xbf" + strings.Replace(line, "%s", "a*x", 1),
		"escape.json": strings.NewReplacer(`"a"`, `"a\u001b[31m"`, "%s", "a*x").Replace(line), "long.json": strings.Replace(line, "%s", strings.Repeat("a*x+", 50_000)+")", 1),
		"keys.yaml": "analysis_mode: static\n\"dt\\u001b[2J\": 1\n", "mode.yml": "analysis_mode: \"lam\\u001b[2Jinar\"\n",
		"escape.yaml": "p: 0.05\nareas: {\"A\\u001b[2J\": {n: 100, k: 10}}\nstimuli: {S: 5}\nrun: [{project: S>A}]\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo("pipe", 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		line string
		code int
		want string
	}{
		{"fit g2 pipe", exit.NoInput, "is a pipe"}, {"summary pipe", exit.NoInput, "is a pipe"}, {"sim assembly pipe", exit.NoInput, "is a pipe"},
		{"invert rsoxs pipe", exit.NoInput, "is a pipe"}, {"train connectome pipe", exit.NoInput, "is a pipe"}, {"sample expr --problem pipe", exit.NoInput, "is a pipe"},
		{"plot morphology pipe x.svg", exit.NoInput, "is a pipe"},
		{"fit g2 a.fits", exit.Data, "a FITS file"}, {"summary a.fits", exit.Data, "a FITS file"}, {"fit nlsq --problem a.fits", exit.Data, "a FITS file"},
		{"fit nlsq --problem wide.json", exit.Data, "UTF-16"}, {"summary wide.json", exit.Data, "UTF-16"}, {"sim assembly wide.json", exit.Config, "UTF-16"},
		{"fit g2 escape.csv", exit.Data, `\x1b[31m`}, {"fit nlsq --problem escape.json", exit.Data, `\x1b[31m`}, {"sim assembly escape.yaml", exit.Config, `\x1b[2J`},
		{"fit nlsq --problem twice.json", exit.Data, "appears twice"}, {"fit nlsq --problem marked.json", exit.OK, ""}, {"fit nlsq --problem long.json", exit.Data, "position 200001"},
		{"fit twotime pipe", exit.NoInput, "is a pipe"}, {"fit twotime a.fits", exit.Data, "a.fits"}, {"fit twotime --config pipe c2.npz", exit.NoInput, "is a pipe"}, {"fit twotime wide.json", exit.Config, "UTF-16"},
		{"sample twotime keys.yaml", exit.Config, `\x1b[2J`}, {"sample twotime mode.yml", exit.Config, `\x1b[2J`}, {"sim twotime x.npz --config mode.yml", exit.Config, `\x1b[2J`}, {"fit twotime c2.npz --model \x1b[31m", exit.WrongUsage, `\x1b[31m`},
		{"fit twotime keys.yaml --from a.fits", exit.Config, ""},
		{"fit g2 \x1b[31m", exit.NoInput, `\x1b[31m`}, {"\x1b[31m", exit.WrongUsage, `\033[31m`},
	} {
		code, stdout, stderr := apptest.Do(t, strings.Fields(c.line)...)
		if code != c.code || !strings.Contains(stderr, c.want) {
			t.Errorf("%q: exit %d, want %d: %s", c.line, code, c.code, stderr)
		}
		if strings.ContainsAny(stdout+stderr, "\x1b\x07") || len(stderr) > 2000 {
			t.Errorf("%q: %d bytes, %.300q", c.line, len(stderr), stderr)
		}
	}
}
