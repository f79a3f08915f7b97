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
	if p.Eval("document.getElementById('said').textContent", &state); strings.Contains(state, "deleted") {
		t.Errorf("notes: %s", state)
	}
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

// Files and folders that are dropped get the commands that suit them, also while a command runs, which they leave alone.
func TestOffers(t *testing.T) {
	dir := t.TempDir()
	top := filepath.Join(apptest.Root(), "app", "drop")
	if err := copies(dir, map[string]string{filepath.Join(top, "page.html"): "index.html", filepath.Join(top, "page.css"): "page.css", filepath.Join(top, "page.js"): "page.js"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "worker.js"), []byte("onmessage = () => {};"), 0o644); err != nil { // never ends
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	p := browser.Open(t, server.URL+"/index.html")
	p.Wait("document.readyState === 'complete'")
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"decay.csv":             "t,y\n0,1\n",
		"comment.dat":           "# time (s)\tcounts\n0\t1\n",
		"names.csv":             "dose of drug,Größe\n0,1\n",
		"plain.txt":             "0 1\n1 2\n",
		"g2.csv":                "delay,g2,err\n1,1.2,0.1\n",
		"star.csv":              "wavelength (nm),flux\n500,1\n",
		"line.stan":             "data { int N; } parameters { real a; } model { }",
		"bare.stan":             "parameters { real a; } model { }",
		"data.json":             `{"N": 3}`,
		"broken.json":           `{"N": `,
		"beads.h5":              "\x89HDF Euler_Angles",
		"flow.hdf":              "\x89HDF twotime correlation_map",
		"both.hdf":              "\x89HDF normalized_g2 correlation_map",
		"library.h5":            "\x89HDF euryale-template-library",
		"sample/posterior.json": `{"constants": [], "method": "nuts"}`,
		"sample/problem.json":   `{"constants": []}`,
		"sample/config.txt":     "CaseType = 0;\n",
		"sample/Material1.txt":  "EnergyData0:\n{\n",
		"sample/HDF5/E.h5":      "\x89HDF",
	} {
		os.MkdirAll(filepath.Dir(name), 0o755)
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	here, _ := os.Getwd()
	drop := func(names string) (offers string) {
		var paths []string
		for name := range strings.FieldsSeq(names) {
			paths = append(paths, filepath.Join(here, name))
		}
		p.Eval("document.getElementById('offers').replaceChildren(); document.getElementById('work').hidden = true; 0", nil)
		p.Drop(200, 150, paths...)
		p.Wait("!document.getElementById('work').hidden")
		p.Eval("[...document.querySelectorAll('#offers button')].map(b => b.textContent).join('; ')", &offers)
		return offers
	}
	for _, c := range [][2]string{
		{"decay.csv", `fit curve decay.csv "a + b*t"; fit curve decay.csv "a*exp(-t/tau) + c"; sample curve decay.csv "a*exp(-t/tau) + c"`},
		{"comment.dat", `fit curve comment.dat "a + b*time"; fit curve comment.dat "a*exp(-time/tau) + c"; sample curve comment.dat "a*exp(-time/tau) + c"`},
		{"names.csv", `fit curve names.csv "a + b*dose_of_drug"; fit curve names.csv "a*exp(-dose_of_drug/tau) + c"; sample curve names.csv "a*exp(-dose_of_drug/tau) + c"`},
		{"plain.txt", `fit curve plain.txt "a + b*x"; fit curve plain.txt "a*exp(-x/tau) + c"; sample curve plain.txt "a*exp(-x/tau) + c"`},
		{"g2.csv", "fit g2 g2.csv; sample g2 g2.csv"},
		{"bare.stan", "sample stan bare.stan; fit stan bare.stan"},
		{"line.stan data.json", "sample stan line.stan --data data.json; fit stan line.stan --data data.json"},
		{"decay.csv line.stan", "sample stan line.stan --data decay.csv; fit stan line.stan --data decay.csv"},
		{"data.json", "sample stan line.stan --data data.json; fit stan line.stan --data data.json"},
		{"beads.h5", "sim rsoxs beads.h5"},
		{"flow.hdf", "fit twotime flow.hdf"},
		{"both.hdf", "fit g2 both.hdf; sample g2 both.hdf --bin 1; fit twotime both.hdf"},
		{"library.h5", ""},
		{"star.csv", "fit spectra star.csv --library library.h5 --arm desi_b"},
		{"sample", "invert rsoxs sample/problem.json; invert rsoxs sample/posterior.json"},
	} {
		if have := drop(c[0]); have != c[1] {
			t.Errorf("%s: %q, want %q", c[0], have, c[1])
		}
	}
	var s string
	if p.Eval("[...given.keys()].join(' ')", &s); !strings.Contains(s, "sample/HDF5/E.h5") {
		t.Errorf("the files are %s", s)
	}
	var alone bool
	if p.Eval("document.getElementById('guides').hidden", &alone); !alone {
		t.Error("a page that stands alone has a link to guides")
	}
	drop("library.h5")
	if p.Eval("document.getElementById('command').value", &s); s != "" {
		t.Errorf("the command is %q for a file that has none", s)
	}
	p.Eval("take([['raw/scan.bin', {size: 3e9}]])", nil)
	if p.Eval("document.getElementById('state').textContent", &s); !strings.Contains(s, "3000 MB") {
		t.Errorf("3 GB: %q", s)
	}
	start(p, "sample curve decay.csv a*t")
	drop("g2.csv")
	if p.Eval("document.getElementById('command').value + document.getElementById('state').textContent + document.querySelector('#offers button').disabled", &s); s != "sample curve decay.csv a*tWorking …true" {
		t.Errorf("a drop while a command runs leaves %q", s)
	}
	p.Eval("document.getElementById('stop').click(); 0", nil)
	if p.Eval("document.querySelector('#offers button').disabled + document.getElementById('state').textContent", &s); !strings.HasPrefix(s, "falseStopped") {
		t.Errorf("after Stop: %q", s)
	}
	if len(p.Failures) > 0 {
		t.Errorf("the page reported %v", p.Failures)
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
