// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/internal/browser"
)

// Notebooks run in the browser: cells print, draw, fail, read the files beside the notebook and write others, and names are completed.
func TestNotebooks(t *testing.T) {
	dir := os.Getenv("EURYALE_NOTEBOOKS") // those that were made before
	if dir == "" {
		wheel := os.Getenv("EURYALE_JUPYTERLITE")
		if wheel == "" {
			t.Skip("needs the wheel of jupyterlite-core: make lab fetches it, and EURYALE_JUPYTERLITE names it")
		}
		dir = t.TempDir()
		t.Chdir(apptest.Root())
		if err := writeNotebooks(dir, wheel); err != nil {
			t.Fatal(err)
		}
	}
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(server.Close)
	p := browser.Open(t, server.URL+"/notebooks/index.html?path=curves.ipynb")
	patiently := func(what, expression string) {
		t.Helper()
		begun := time.Now()
		for time.Since(begun) < 5*time.Minute {
			var ok bool
			if p.Eval("Boolean("+expression+")", &ok); ok {
				t.Logf("%s: %v", what, time.Since(begun).Round(10*time.Millisecond))
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		var seen string
		p.Eval("document.body.innerText.slice(0, 3000)", &seen)
		os.WriteFile(filepath.Join(os.TempDir(), "notebook.png"), p.Screenshot(), 0o644)
		t.Fatalf("%s: not so; the page reported %v and shows %s", what, p.Failures, seen)
	}
	patiently("the notebook is shown", "window.jupyterapp && document.querySelectorAll('.jp-CodeCell').length > 3")
	patiently("the kernel is there", "window.jupyterapp.shell.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'")
	p.Eval("window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => { window.ran = true }); 0", nil)
	patiently("all cells ran", "window.ran")
	var text string
	p.Eval("[...document.querySelectorAll('.jp-OutputArea-output')].map(o => o.innerText).join('\\n')", &text)
	for _, want := range []string{"tau", "agrees", "half-life"} {
		if !strings.Contains(text, want) {
			t.Errorf("the outputs lack %q: %s", want, text)
		}
	}
	ask := func(code string) (out string) {
		t.Helper()
		p.Eval(fmt.Sprintf(`window.said = null; (async () => {
			const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
			const f = kernel.requestExecute({ code: %s });
			let out = "";
			f.onIOPub = (m) => { out += m.content.text ?? m.content.evalue ?? m.content.data?.["text/plain"] ?? ""; };
			await f.done;
			window.said = out;
		})(); 0`, quoted(code)), nil)
		patiently(code, "window.said !== null")
		p.Eval("window.said", &out)
		return out
	}
	p.Eval(`window.given = null; window.jupyterapp.serviceManager.contents.save("table.csv", { type: "file", format: "text", content: "1,2,3\n" }).then(() => { window.given = true }); 0`, nil)
	patiently("a file is beside the notebook", "window.given")
	for _, c := range []struct{ code, want string }{
		{"x := 6 * 7\nx", "42"}, {`fmt.Println("a line")`, "a line"}, {`panic("no")`, "no"}, {"y := nothing", "nothing"},
		{"import \"os\"\nb, err := os.ReadFile(\"table.csv\")\nstring(b)", "1,2,3"}, {`os.WriteFile("own.txt", []byte("kept"), 0o644)` + "\n\"written\"", "written"},
	} {
		if out := ask(c.code); !strings.Contains(out, c.want) {
			t.Errorf("%s: %q, want %q", c.code, out, c.want)
		}
	}
	p.Eval(`window.kept = null; window.jupyterapp.serviceManager.contents.get("own.txt", { content: true }).then(f => { window.kept = f.content }, e => { window.kept = String(e) }); 0`, nil)
	patiently("a file that a cell wrote is kept", "window.kept !== null")
	var kept string
	if p.Eval("window.kept", &kept); !strings.Contains(kept, "kept") && !strings.Contains(kept, "a2VwdA") {
		t.Errorf("the file holds %q", kept)
	}
	p.Eval(`window.words = null; window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.requestComplete({ code: "fmt.Prin", cursor_pos: 8 }).then(r => { window.words = r.content.matches.join() }); 0`, nil)
	patiently("names are completed", "window.words !== null")
	var words string
	if p.Eval("window.words", &words); !strings.Contains(words, "Println") {
		t.Errorf("completions are %q", words)
	}
	if name := os.Getenv("EURYALE_SCREENSHOTS"); name != "" {
		os.WriteFile(filepath.Join(name, "notebook.png"), p.Screenshot(), 0o644)
	}
}
