// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package main

import (
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/internal/browser"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// A page fits what is dropped, with the numbers of the program, and shows the report.
func TestPage(t *testing.T) {
	dir := os.Getenv("EURYALE_PAGE") // a page that was made before
	if dir == "" {
		dir = t.TempDir()
		t.Chdir(apptest.Root())
		if err := write(dir); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	p := browser.Open(t, server.URL+"/index.html")
	t.Chdir(t.TempDir())
	for _, demo := range []string{"g2", "twotime", "rsoxs", "spectrum", "assembly"} {
		if code, _, stderr := apptest.Do(t, "demo", demo, "--out", "demo-"+demo, "--quiet"); code != 0 {
			t.Fatal(stderr)
		}
	}
	table := "t,y,dy\n"
	for i := range 40 {
		x := float64(i) / 4
		table += strings.Join([]string{num(x), num(3*math.Exp(-x/2) + 0.5 + 0.03*math.Sin(float64(7*i*i))), "0.05"}, ",") + "\n"
	}
	if err := os.WriteFile("decay.csv", []byte(table), 0o644); err != nil {
		t.Fatal(err)
	}
	stars, _ := filepath.Glob("demo-spectrum/coadd*.fits")
	if len(stars) != 1 {
		t.Fatal(stars)
	}
	for _, c := range []struct {
		files string // that are dropped
		args  string
	}{
		{"decay.csv", `fit curve decay.csv a*exp(-t/tau)+c --json`},
		{"demo-g2/g2_result.hdf", "fit g2 demo-g2/g2_result.hdf --json"},
		{"demo-g2/g2_result.hdf", "sample g2 demo-g2/g2_result.hdf --bin 3 --seed 1 --no-report --out posterior --overwrite --json"},
		{"demo-rsoxs/problem.json,demo-rsoxs/config.txt,demo-rsoxs/Material1.txt,demo-rsoxs/Material2.txt,demo-rsoxs/Material3.txt,demo-rsoxs/HDF5", "invert rsoxs demo-rsoxs/problem.json --out inverted --overwrite --json"},
		{"demo-assembly/project.yaml", "sim assembly demo-assembly/project.yaml --out simulated --overwrite --json"},
		{stars[0] + ",demo-spectrum/config.yaml,demo-spectrum/library.h5", "fit spectra " + stars[0] + " --config demo-spectrum/config.yaml --output-dir fitted --json"},
	} {
		t.Run(strings.Join(strings.Fields(c.args)[:2], " "), func(t *testing.T) {
			give(t, p, strings.Split(c.files, ","))
			begun := time.Now()
			run(t, p, c.args)
			t.Logf("%s in the page: %v", c.args, time.Since(begun).Round(10*time.Millisecond))
			var have string
			p.Eval("document.getElementById('text').textContent", &have)
			code, want, stderr := apptest.Do(t, strings.Fields(c.args)...)
			if code != 0 {
				t.Fatal(stderr)
			}
			alike(t, have, want)
		})
	}
	run(t, p, "fit curve decay.csv a*exp(-t/tau)+c")
	p.Wait("!document.getElementById('report').hidden")
	var state string
	if p.Eval("document.getElementById('state').textContent", &state); !strings.HasPrefix(state, "Done in") {
		t.Errorf("the page says %q", state)
	}
	start(p, "fit g2 none.hdf")
	p.Wait("document.getElementById('state').className === 'bad'")
	if p.Eval("document.getElementById('state').textContent", &state); !strings.Contains(state, "none.hdf") {
		t.Errorf("the page says %q", state)
	}
	for _, width := range []int{400, 1280} {
		p.Resize(width, 900)
		var over int
		if p.Eval("document.documentElement.scrollWidth - innerWidth", &over); over > 0 {
			t.Errorf("at %d pixels, the page is %d wider", width, over)
		}
		if name := os.Getenv("EURYALE_SCREENSHOTS"); name != "" {
			os.WriteFile(filepath.Join(name, "drop"+num(float64(width))+".png"), p.Screenshot(), 0o644)
		}
	}
	if len(p.Failures) > 0 {
		t.Errorf("the page reported %v", p.Failures)
	}
}

func num(x float64) string {
	b, _ := json.Marshal(x)
	return string(b)
}

// give hands files to the page as if they had been dropped, under their paths.
func give(t *testing.T, p *browser.Page, names []string) {
	t.Helper()
	for _, name := range names {
		err := filepath.Walk(name, func(path string, info os.FileInfo, err error) error {
			if err != nil || info.IsDir() {
				return err
			}
			b, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			text, err := json.Marshal(b) // base64
			if err != nil {
				return err
			}
			p.Eval("given.set("+quoted(filepath.ToSlash(path))+", Uint8Array.from(atob("+string(text)+"), c => c.charCodeAt(0))); document.getElementById('work').hidden = false; 0", nil)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// start types a command line and begins it.
func start(p *browser.Page, line string) {
	p.Eval("document.getElementById('command').value = "+quoted(line)+"; document.getElementById('run').click(); 0", nil)
}

// run waits for the answer to a command line, for up to four minutes.
func run(t *testing.T, p *browser.Page, line string) {
	t.Helper()
	start(p, line)
	var state, class string
	for range 2400 {
		p.Eval("running ? '' : document.getElementById('state').textContent", &state)
		if state != "" {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if p.Eval("document.getElementById('state').className", &class); class == "bad" || state == "" {
		p.Eval("document.getElementById('said').textContent", &class)
		t.Fatalf("%s: %q\n%s", line, state, class)
	}
}

// alike fails unless two documents have the same numbers to seven digits, and the same texts.
func alike(t *testing.T, have, want string) {
	t.Helper()
	var a, b any
	if err := json.Unmarshal([]byte(have), &a); err != nil {
		t.Fatalf("%v\n%.500s", err, have)
	}
	if err := json.Unmarshal([]byte(want), &b); err != nil {
		t.Fatal(err)
	}
	var walk func(at string, a, b any)
	walk = func(at string, a, b any) {
		switch b := b.(type) {
		case map[string]any:
			m, _ := a.(map[string]any)
			for k, v := range b {
				if !slices.Contains([]string{"timing", "memory", "nfev", "njev", "file", "script", "table", "models", "seconds"}, k) {
					walk(at+"."+k, m[k], v)
				}
			}
		case []any:
			l, _ := a.([]any)
			if len(l) != len(b) {
				t.Errorf("%s has %d elements, want %d", at, len(l), len(b))
				return
			}
			for i, v := range b {
				walk(at+"["+num(float64(i))+"]", l[i], v)
			}
		case float64:
			x, ok := a.(float64)
			if !ok || math.Abs(x-b) > 1e-7*max(math.Abs(b), 1e-6) {
				t.Errorf("%s is %v, want %v", at, a, b)
			}
		default:
			if a != b {
				t.Errorf("%s is %v, want %v", at, a, b)
			}
		}
	}
	walk("", a, b)
}
