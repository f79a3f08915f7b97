// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package view_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/data/cyrsoxs"
	"github.com/euryale-dev/euryale/data/fits"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/internal/browser"
)

func TestMain(m *testing.M) { apptest.Main(m) }

// said collects what a command prints while it runs.
type said struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *said) Write(b []byte) (int, error) { s.mu.Lock(); defer s.mu.Unlock(); return s.b.Write(b) }
func (s *said) String() string              { s.mu.Lock(); defer s.mu.Unlock(); return s.b.String() }

// view is a page that is served.
type view struct {
	t   *testing.T
	url string
}

var address = regexp.MustCompile(`http://127\.0\.0\.1:\d+/[0-9a-f]+/`)

// serve opens a page on a file or folder, until the test ends.
func serve(t *testing.T, names ...string) *view {
	t.Helper()
	t.Setenv("EURYALE_TEST_COMMAND", "1") // for the commands that the page starts, which this program is
	var out, stderr said
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan int, 1)
	go func() { ended <- app.Run(ctx, append([]string{"view", "--no-browser"}, names...), &out, &stderr) }()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != exit.OK {
			t.Errorf("exit %d: %s", code, stderr.String())
		}
	})
	for range 5000 {
		if found := address.FindString(stderr.String()); found != "" {
			return &view{t, found}
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatal(stderr.String())
	return nil
}

// get asks for a document and returns the status; v may be nil.
func (v *view) get(path string, query url.Values, doc any) (int, string) {
	v.t.Helper()
	r, err := http.Get(v.url + path + "?" + query.Encode())
	if err != nil {
		v.t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err != nil {
		v.t.Fatal(err)
	}
	if doc != nil {
		if err := json.Unmarshal(b, doc); err != nil {
			v.t.Fatalf("%s: %v: %.300s", path, err, b)
		}
	}
	return r.StatusCode, string(b)
}

func (v *view) post(path string, body any) (int, string) {
	v.t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		v.t.Fatal(err)
	}
	r, err := http.Post(v.url+path, "application/json", bytes.NewReader(b))
	if err != nil {
		v.t.Fatal(err)
	}
	defer r.Body.Close()
	b, _ = io.ReadAll(r.Body)
	return r.StatusCode, string(b)
}

func line(args ...string) url.Values {
	b, _ := json.Marshal(args)
	return url.Values{"line": {string(b)}}
}

func with(q url.Values, pairs ...string) url.Values {
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q
}

// folder has a result of a correlator, a problem and a run, and a file that nobody knows.
func folder(t *testing.T) (dir, result, run string) {
	t.Helper()
	dir = t.TempDir()
	t.Chdir(dir)
	result, run = filepath.Join(dir, "a b.hdf"), filepath.Join(dir, "runs", "line")
	problem, err := os.ReadFile(apptest.LineFile(t))
	for name, b := range map[string][]byte{result: demo.Correlations(), filepath.Join(dir, "line.json"): problem, filepath.Join(dir, "notes.txt"): []byte("mine")} {
		if err == nil {
			err = os.WriteFile(name, b, 0o644)
		}
	}
	if err == nil {
		err = os.Mkdir(filepath.Join(dir, "runs"), 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, "sample", "expr", "--problem", "line.json", "--out", run, "--warmup", "60", "--draws", "60", "--retries", "0", "--quiet"); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	return dir, result, run
}

// shown is what the page is sent of a picture.
type shown struct {
	SVG, Line, None string
	Frames          []struct {
		Window [4]float64
		LogX   bool
	}
}

// Pictures and texts are those of the commands, zoomed and saved as people ask for; the list has what there is.
func TestPicturesAreThoseOfCommands(t *testing.T) {
	dir, result, run := folder(t)
	v := serve(t, dir)
	var list struct {
		Items []struct{ ID, Name, Kind string }
	}
	v.get("shelf", nil, &list)
	kinds := map[string]string{}
	for _, i := range list.Items {
		kinds[i.Name] = i.Kind
	}
	if len(kinds) != 4 || kinds["Assemblies of neurons"] != "Experiments" || kinds["a b.hdf"] != "Correlations" || kinds["line.json"] != "Problems" || kinds["runs/line"] != "Runs" {
		t.Errorf("%v", kinds)
	}
	var item struct {
		Pictures []struct{ Line []string }
		Texts    []struct{ Line []string }
		Works    []string
		Report   bool
	}
	v.get("item", url.Values{"id": {run}}, &item)
	if len(item.Pictures) < 8 || item.Pictures[0].Line[1] != "trace" || len(item.Texts) != 2 || !item.Report {
		t.Errorf("%+v", item)
	}
	for _, p := range item.Pictures {
		var s shown
		if code, text := v.get("picture", line(p.Line...), &s); code != http.StatusOK || s.SVG == "" || len(s.Frames) == 0 {
			t.Errorf("%v: %d, %.200s", p.Line, code, text)
		}
	}
	if code, out, _ := apptest.Do(t, "plot", "g2", result, "g2.svg", "--bins", "1,2"); code != exit.OK {
		t.Fatal(out)
	}
	want, err := os.ReadFile("g2.svg")
	if err != nil {
		t.Fatal(err)
	}
	g2 := func() url.Values { return line("plot", "g2", result, "--bins=1,2") }
	var whole, zoomed shown
	v.get("picture", g2(), &whole)
	if whole.SVG != string(want) || !strings.Contains(whole.Line, "plot g2 '"+result+"' --bins=1,2") {
		t.Errorf("the picture is not that of %s", whole.Line)
	}
	v.get("picture", with(g2(), "panel", "1", "x0", "0.01", "x1", "0.1", "y0", "1", "y1", "1.1"), &zoomed)
	if zoomed.Frames[1].Window != [4]float64{0.01, 0.1, 1, 1.1} || zoomed.Frames[0].Window != whole.Frames[0].Window {
		t.Errorf("%+v", zoomed.Frames)
	}
	v.get("picture", with(g2(), "panel", "0", "logx", "false"), &zoomed)
	if zoomed.Frames[0].LogX || !whole.Frames[0].LogX {
		t.Error("the axis x is logarithmic still")
	}
	if _, text := v.get("save", with(g2(), "format", "csv"), nil); !strings.HasPrefix(text, "panel,name,kind,x,y,error,low,high,value\n") || strings.Count(text, "points") < 20 {
		t.Errorf("%.300s", text)
	}
	for format, begins := range map[string]string{"png": "\x89PNG", "pdf": "%PDF", "svg": "<?xml"} {
		if code, text := v.get("save", with(g2(), "format", format), nil); code != http.StatusOK || !strings.HasPrefix(text, begins) {
			t.Errorf("%s: %d, %.20q", format, code, text)
		}
	}
	var live shown
	if v.get("picture", line("plot", "experiment", "project", "--n=300", "--k=15"), &live); live.SVG == "" || !strings.HasSuffix(live.Line, "plot experiment project --n=300 --k=15") {
		t.Errorf("%.200s", live.Line+live.None)
	}
	var text struct{ Text string }
	v.get("text", line("summary", run), &text)
	if _, out, _ := apptest.Do(t, "summary", run); text.Text != out {
		t.Errorf("%s\nwant %s", text.Text, out)
	}
	again := filepath.Join(dir, "runs", "again")
	if code, _, stderr := apptest.Do(t, "sample", "expr", "--problem", "line.json", "--out", again, "--seed", "2", "--warmup", "60", "--draws", "60", "--retries", "0", "--no-report", "--quiet"); code != exit.OK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for range 300 { // until the shelf has it
		if code, _ := v.get("item", url.Values{"id": {again}}, nil); code == http.StatusOK {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	if v.get("text", line("compare", run, again), &text); !strings.Contains(text.Text, "elpd") {
		t.Errorf("%s", text.Text)
	}
	var none shown
	if code, _ := v.get("picture", line("plot", "stability", result), &none); code != http.StatusOK || none.None == "" {
		t.Errorf("%d, %+v", code, none)
	}
	if r, err := http.Get(v.url + "report?" + url.Values{"id": {run}}.Encode()); err != nil {
		t.Error(err)
	} else {
		text, _ := io.ReadAll(r.Body)
		_, script, _ := strings.Cut(string(text), "<script>")
		script, _, _ = strings.Cut(script, "</script>")
		sum := sha256.Sum256([]byte(script))
		if policy := r.Header.Get("Content-Security-Policy"); script == "" || !strings.Contains(policy, base64.StdEncoding.EncodeToString(sum[:])) {
			t.Errorf("the policy %s does not let the script of the page run", policy)
		}
	}
	if code, text := v.get("report", url.Values{"id": {run}}, nil); code != http.StatusOK || !strings.Contains(text, "<html") {
		t.Errorf("%d", code)
	}
}

// Rows of a table are found and sorted.
func TestRowsOfTables(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	file := filepath.Join(dir, "stars.csv")
	if err := os.WriteFile(file, []byte("star,vel (km/s)\nb,10\na,\nc,-3\nd,9\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	v := serve(t, dir)
	for _, c := range []struct {
		query string
		want  string
	}{{"", "b10 a c-3 d9"}, {"sort=1", "c-3 d9 b10 a"}, {"sort=1&down=true", "b10 d9 c-3 a"}, {"sort=0", "a b10 c-3 d9"}, {"find=10", "b10"}, {"from=2&sort=0", "c-3 d9"}, {"find=zz", ""}} {
		q, err := url.ParseQuery(c.query)
		if err != nil {
			t.Fatal(err)
		}
		var d struct {
			Columns []string
			Rows    [][]string
			Total   int
		}
		v.get("rows", with(q, "id", file), &d)
		var got []string
		for _, r := range d.Rows {
			got = append(got, strings.Join(r, ""))
		}
		if strings.Join(got, " ") != c.want || d.Total != 4 || d.Columns[1] != "vel (km/s)" {
			t.Errorf("%s: %v", c.query, d)
		}
	}
	if code, text := v.get("rows", url.Values{"id": {file}, "sort": {"7"}}, nil); code != http.StatusBadRequest || !strings.Contains(text, "from 0 to 1") {
		t.Errorf("%d: %s", code, text)
	}
}

// A file whose name begins like a flag is drawn as others are.
func TestNamesLikeFlags(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("-x.csv", []byte("a,b\n1,2\n2,3\n3,5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	v := serve(t)
	var shelf struct{ Items []struct{ ID, Name string } }
	v.get("shelf", nil, &shelf)
	at := slices.IndexFunc(shelf.Items, func(i struct{ ID, Name string }) bool { return i.Name == "-x.csv" })
	if at < 0 {
		t.Fatalf("%+v", shelf)
	}
	var drawn struct{ None, SVG string }
	line, _ := json.Marshal([]string{"plot", "table", shelf.Items[at].ID})
	if code, text := v.get("picture", url.Values{"line": {string(line)}}, &drawn); code != http.StatusOK || drawn.None != "" || drawn.SVG == "" {
		t.Errorf("%d: %.300s", code, text)
	}
	line, _ = json.Marshal([]string{"plot", "table", shelf.Items[at].ID, "--threads=-5"})
	var shown struct{ Line string }
	if v.get("picture", url.Values{"line": {string(line)}}, &shown); !strings.HasSuffix(shown.Line, " --threads=-5") {
		t.Errorf("the line shown is %s", shown.Line)
	}
}

// A folder that is opened by a link shows what it holds.
func TestLinkToFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := errors.Join(os.Mkdir("data", 0o755), os.WriteFile("data/a.csv", []byte("a,b\n1,2\n2,3\n"), 0o644)); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("data", "link"); err != nil {
		t.Skip(err) // not everyone may make links
	}
	v := serve(t, "link")
	var shelf struct{ Items []struct{ ID string } }
	if v.get("shelf", nil, &shelf); len(shelf.Items) == 0 || shelf.Items[0].ID != filepath.Join("link", "a.csv") {
		t.Fatalf("%+v", shelf)
	}
	line, _ := json.Marshal([]string{"plot", "table", shelf.Items[0].ID})
	var drawn struct{ None, SVG string }
	if code, text := v.get("picture", url.Values{"line": {string(line)}}, &drawn); code != http.StatusOK || drawn.SVG == "" {
		t.Errorf("%d: %.300s", code, text)
	}
}

// Tables of g2 offer their fits and samplers, and files that no request can name are told of.
func TestTablesOfG2(t *testing.T) {
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{"a.csv": "tau,g2,g2_err\n1e-3,1.2,0.01\n1e-2,1.1,0.01\n1e-1,1.0,0.01\n", "delays.txt": "tau (ms) g2\n1 1.2\n2 1.1\n", "notes.txt": "tau and g2 are here\n", "two\nlines.csv": "a,b\n1,2\n", "none\xff.csv": "a,b\n1,2\n", "\u202egnp.csv": "a,b\n1,2\n"} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Skip(err) // some file systems refuse such names
		}
	}
	v := serve(t)
	var shelf struct {
		Items []struct{ ID, Name, Kind string }
		Note  string
	}
	v.get("shelf", nil, &shelf)
	kinds := map[string]string{}
	for _, i := range shelf.Items {
		kinds[i.ID] = i.Kind
		if strings.ContainsRune(i.Name, '\u202e') {
			t.Errorf("%q is listed as what it is not", i.Name)
		}
	}
	if kinds["a.csv"] != "Tables of g2" || kinds["delays.txt"] != "Tables of g2" || kinds["notes.txt"] != "" || len(kinds) != 4 || !strings.Contains(shelf.Note, "here 2") {
		t.Errorf("%v, note %q", kinds, shelf.Note)
	}
	var item struct {
		Works    []string
		Pictures []struct{ Line []string }
	}
	if v.get("item", url.Values{"id": {"a.csv"}}, &item); !slices.Equal(item.Works, []string{"fit g2", "sample g2"}) || !slices.Equal(item.Pictures[0].Line, []string{"plot", "table", "a.csv", "--log-x"}) {
		t.Errorf("%+v", item)
	}
}

// The page shows nothing but what was opened, runs nothing but commands that it offers, and says why it refuses.
func TestPageKeepsToWhatWasOpened(t *testing.T) {
	dir, result, run := folder(t)
	other := t.TempDir()
	secret := filepath.Join(other, "secret.hdf")
	if err := os.WriteFile(secret, demo.Correlations(), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(secret, filepath.Join(run, "plots", "link.svg")); err != nil {
		t.Skipf("lacks links on this file system: %v", err)
	}
	t.Chdir(other)
	if err := os.Rename(secret, "beside.hdf"); err != nil {
		t.Fatal(err)
	}
	if err := os.Link("beside.hdf", secret); err != nil {
		t.Skipf("lacks links on this file system: %v", err)
	}
	v := serve(t, dir)
	for what, ask := range map[string]struct {
		path  string
		query url.Values
	}{
		"another file":             {"picture", line("plot", "g2", secret)},
		"a file by a flag":         {"picture", line("plot", "pattern", result, "--morphology="+secret)},
		"a file beside the folder": {"picture", line("plot", "g2", result, "beside.hdf")},
		"a command that writes":    {"picture", line("convert", result, "x.csv")},
		"a verb that runs":         {"text", line("sample", "expr", "line.json")},
		"no line":                  {"picture", url.Values{"line": {"{"}}},
		"no such item":             {"item", url.Values{"id": {secret}}},
		"a path upwards":           {"kept", url.Values{"id": {run}, "name": {"../../a b.hdf"}}},
		"a link out":               {"kept", url.Values{"id": {run}, "name": {"link.svg"}}},
		"an empty window":          {"picture", with(line("plot", "g2", result), "panel", "0", "x0", "1", "x1", "1", "y0", "0", "y1", "1")},
		"no number":                {"picture", with(line("plot", "g2", result), "panel", "0", "x0", "NaN")},
		"no panel":                 {"picture", with(line("plot", "g2", result), "panel", "99", "x0", "1", "x1", "2", "y0", "0", "y1", "1")},
		"a form of demo":           {"form", url.Values{"command": {"demo g2"}}},
	} {
		if code, text := v.get(ask.path, ask.query, nil); code < 400 || !strings.Contains(text, "error") {
			t.Errorf("%s: %d, %.200s", what, code, text)
		}
	}
	for what, body := range map[string]map[string]any{
		"a verb":     {"command": "plot g2", "item": result},
		"no setting": {"command": "fit g2", "item": result, "flags": [][2]string{{"shell", "x"}}, "out": "fit"},
		"a folder":   {"command": "fit g2", "item": result, "out": "../fit"},
		"a file":     {"command": "fit g2", "item": secret, "out": "fit"},
		"a word":     {"command": "fit g2", "item": result, "out": "fit", "more": 1},
	} {
		if code, text := v.post("work", body); code != http.StatusBadRequest || !strings.Contains(text, "error") {
			t.Errorf("%s: %d, %s", what, code, text)
		}
	}
	if r, err := http.Get(strings.Replace(v.url, v.url[len(v.url)-5:], "0000/", 1) + "shelf"); err != nil || r.StatusCode != http.StatusForbidden {
		t.Errorf("without the token: %v, %v", r, err)
	}
	if code, _, stderr := apptest.Do(t, "view", filepath.Join(dir, "nowhere"), "--no-browser"); code != exit.NoInput || !strings.Contains(stderr, "nowhere") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// Commands run beside the page, are watched and stopped, and their results are on the shelf.
func TestWorksOfThePage(t *testing.T) {
	dir, result, _ := folder(t)
	v := serve(t, dir)
	type work struct {
		ID               int
		State, Said, Out string
	}
	until := func(what string, done func(w work) bool) work {
		t.Helper()
		var all []work
		for range 3000 {
			v.get("works", nil, &all)
			if len(all) > 0 && done(all[0]) {
				return all[0]
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Fatalf("%s: %+v", what, all)
		return work{}
	}
	if code, text := v.post("work", map[string]any{"command": "fit g2", "item": result, "flags": [][2]string{{"model", "single"}}, "out": "fit"}); code != http.StatusOK {
		t.Fatal(text)
	}
	if w := until("a fit ends", func(w work) bool { return w.State != "running" }); w.State != "done" || w.Out != filepath.Join(dir, "fit") {
		t.Errorf("%+v", w)
	}
	if _, err := os.Stat(filepath.Join(dir, "fit", "fits.csv")); err != nil {
		t.Error(err)
	}
	if code, text := v.post("work", map[string]any{"command": "sample expr", "item": filepath.Join(dir, "line.json"), "flags": [][2]string{{"draws", "1000000"}, {"checkpoint", "10ms"}}, "out": "long"}); code != http.StatusOK {
		t.Fatal(text)
	}
	w := until("a run begins", func(w work) bool {
		return strings.HasSuffix(w.Out, "long") && exists(filepath.Join(w.Out, "checkpoint"))
	})
	if code, text := v.post("stop", map[string]int{"ID": w.ID}); code != http.StatusOK {
		t.Fatal(text)
	}
	until("a run stops", func(w work) bool { return w.State == "stopped" })
	for range 1000 { // until the shelf has seen that the run ended
		var item struct {
			Resume string
			Busy   bool
		}
		if v.get("item", url.Values{"id": {w.Out}}, &item); item.Resume == "sample expr" {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Error("the run cannot be resumed")
}

func exists(name string) bool { _, err := os.Stat(name); return err == nil }

// A person zooms with the mouse and the keyboard, chooses settings, searches, and sees everything on a phone too.
func TestPageInBrowser(t *testing.T) {
	dir, result, run := folder(t)
	v := serve(t, dir)
	p := browser.Open(t, v.url)
	p.Wait("document.querySelectorAll('#list li button').length === 4")
	p.Eval(fmt.Sprintf("[...document.querySelectorAll('#list li button')].find(b => b.dataset.id === %q).click()", result), nil)
	const drawn = "document.querySelector('.card')?.picture?.frames?.length > 0 && !document.querySelector('.card .stage').classList.contains('waiting')"
	p.Wait(drawn)
	var r struct{ Left, Top, Width, Height float64 }
	place := func() {
		p.Eval("(() => { document.querySelector('.card').scrollIntoView(); const i = document.querySelector('.card img').getBoundingClientRect(), f = document.querySelector('.card').picture.frames[0].frame; return {Left: i.left + f[0] * i.width, Top: i.top + f[1] * i.height, Width: (f[2] - f[0]) * i.width, Height: (f[3] - f[1]) * i.height} })()", &r)
	}
	window := func() (w [4]float64) {
		p.Eval("document.querySelector('.card').picture.frames[0].window", &w)
		return w
	}
	place()
	whole := window()
	p.Move(r.Left+r.Width/2, r.Top+r.Height/2)
	p.Wait("document.querySelector('.card .cursor').textContent.includes('delay')")
	p.Drag(r.Left+0.2*r.Width, r.Top+0.2*r.Height, r.Left+0.6*r.Width, r.Top+0.8*r.Height)
	p.Wait("document.querySelector('.card').picture.view !== null && " + drawn)
	p.Wait(fmt.Sprintf("document.querySelector('.card').picture.frames[0].window[0] > %g", whole[0]))
	if w := window(); !(w[0] > whole[0] && w[1] < whole[1] && w[2] > whole[2] && w[3] < whole[3]) {
		t.Errorf("%v of %v", w, whole)
	}
	p.Eval("document.querySelector('.card .stage').focus()", nil)
	p.Key("0", "Digit0", 48, 0)
	p.Wait(fmt.Sprintf("document.querySelector('.card').picture.frames[0].window[0] === %g", whole[0]))
	p.ClickOn(`.card [aria-label="Settings of the picture"]`)
	p.Type(".card .settings input", "2")
	p.Wait("document.querySelector('.card code').textContent.includes('--bins=2') && document.querySelector('.card').picture.frames.length === 1")
	p.Type("#search", "line.json")
	p.Wait("document.querySelectorAll('#list li button').length === 1")
	p.Type("#search", "")
	p.Wait("document.querySelectorAll('#list li button').length === 4")
	p.Eval(fmt.Sprintf("[...document.querySelectorAll('#list li button')].find(b => b.dataset.id === %q).click()", run), nil)
	p.Wait("document.querySelectorAll('#texts pre').length === 2")
	p.Wait(drawn)
	p.Wait("[...document.querySelectorAll('.actions button')].some(b => b.textContent === 'Extend') && document.querySelector('#extend-draws').value === '120'")
	p.Type("#extend-draws", "80")
	p.Eval("[...document.querySelectorAll('.actions button')].find(b => b.textContent === 'Extend').click()", nil)
	p.Wait("document.querySelector('#extend-draws')?.value === '160'")
	p.Wait(drawn)
	p.Eval("document.querySelector('.card').picture.choose.click()", nil)
	place()
	p.Drag(r.Left+0.2*r.Width, r.Top+0.4*r.Height, r.Left+0.6*r.Width, r.Top+0.6*r.Height)
	p.Wait("[...document.querySelectorAll('.card')].filter(c => c.picture.choose).every(c => c.picture.fields.value('highlight').includes('='))")
	p.Wait("document.querySelector('.card code').textContent.includes('--highlight=') && " + drawn)
	p.Eval("[...document.querySelectorAll('#list li button')].find(b => b.dataset.id.startsWith('explore:')).click()", nil)
	p.Wait("document.querySelectorAll('.card input[type=range]').length > 4 && document.querySelector('.card').picture?.frames?.length > 0")
	p.Eval("(() => { const s = document.querySelector('.card input[type=range][aria-label=n]'); s.value = 500; s.dispatchEvent(new Event('input', {bubbles: true})); })()", nil)
	p.Wait("document.querySelector('.card code').textContent.includes('--n=500')")
	other := filepath.Join(dir, "c.hdf")
	if err := os.WriteFile(other, demo.Correlations(), 0o644); err != nil {
		t.Fatal(err)
	}
	p.Wait("document.querySelectorAll('#list li button').length === 5")
	p.Eval(fmt.Sprintf("[...document.querySelectorAll('#list li button')].find(b => b.dataset.id === %q).click()", result), nil)
	p.Wait(fmt.Sprintf("document.querySelector('.actions select')?.querySelector('option[value=%q]')", other))
	p.Eval(fmt.Sprintf("(() => { const s = document.querySelector('.actions select'); s.value = %q; s.dispatchEvent(new Event('change')) })()", other), nil)
	p.Wait("document.querySelectorAll('#comparison .card').length >= 4 && document.querySelector('#comparison .card').picture.shown")
	p.Dark(true)
	p.Wait("!document.querySelector('.card').picture.svg.includes('#262B33')")
	for _, width := range []int{400, 800, 2560} {
		p.Resize(width, 800)
		var wide, tall float64
		p.Eval("document.documentElement.scrollWidth", &wide)
		p.Eval("document.documentElement.scrollHeight", &tall)
		if wide > float64(width) {
			t.Errorf("at %d pixels the page is %g wide", width, wide)
		}
	}
	for _, f := range p.Failures {
		t.Error(f)
	}
}

// Spectra are listed as what they are and drawn, and tables of FITS files are sorted like others.
func TestSpectraAndFITSTables(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	w, err := fits.Create("rvtab_a.fits")
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	w.Primary(nil)
	w.Table("RVTAB", nil, []fits.Data{{Name: "TARGETID", Values: []int64{39627652591521181, 39627652591521182}}, {Name: "VRAD", Unit: "km s-1", Values: []float64{20, -3.25}}, {Name: "TEFF", Unit: "K", Values: []float64{5000, 6000}}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("star.csv", []byte("wave,flux,err\n5000,1,.1\n5001,2,.1\n5002,nan,.1\n5003,2,.1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	v := serve(t, dir)
	kinds := v.kinds()
	if kinds["rvtab_a.fits"] != "Tables" || kinds["star.csv"] != "Spectra" {
		t.Errorf("%v", kinds)
	}
	v.draws("star.csv", "fit spectra")
	v.draws("rvtab_a.fits", "")
	var d struct{ Rows [][]string }
	if v.get("rows", url.Values{"id": {filepath.Join(dir, "rvtab_a.fits")}, "sort": {"1"}}, &d); len(d.Rows) != 2 || strings.Join(d.Rows[0], " ") != "39627652591521182 -3.25 6000" || d.Rows[1][1] != "20" {
		t.Errorf("%v", d)
	}
}

// kinds returns the kinds of what is listed, by name.
func (v *view) kinds() map[string]string {
	v.t.Helper()
	var list struct {
		Items []struct{ Name, Kind string }
	}
	v.get("shelf", nil, &list)
	kinds := map[string]string{}
	for _, i := range list.Items {
		kinds[i.Name] = i.Kind
	}
	return kinds
}

// draws checks that every picture of a file or folder of the opened folder is drawn, and that it offers a command; "" for any.
func (v *view) draws(name, work string) {
	v.t.Helper()
	id, err := filepath.Abs(name)
	if err != nil {
		v.t.Fatal(err)
	}
	var item struct {
		Pictures []struct{ Line []string }
		Works    []string
	}
	v.get("item", url.Values{"id": {id}}, &item)
	if len(item.Pictures) == 0 || work != "" && !slices.Contains(item.Works, work) {
		v.t.Errorf("%s: %+v", name, item)
	}
	for _, p := range item.Pictures {
		var s shown
		if v.get("picture", line(p.Line...), &s); s.SVG == "" {
			v.t.Errorf("%v: %s", p.Line, s.None)
		}
	}
}

// Scripts of assemblies are run on the spot, and morphologies are seen in three dimensions.
func TestScriptsAndVolumes(t *testing.T) {
	scan, err := filepath.Abs("../../data/scatter/testdata/classic.nc")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	film := apptest.VolumeFile(t, apptest.SampleVolume(), cyrsoxs.WriteSettings{})
	b, err := os.ReadFile(film)
	if err == nil {
		err = os.WriteFile("film.h5", b, 0o644)
	}
	if err == nil {
		err = os.WriteFile("small.yaml", []byte("p: 0.1\nstimuli: {S: 30}\nareas: {A: {n: 300, k: 15}}\nrun:\n  - {form: A, stimulus: S, steps: 5}\n  - {remember: f, area: A}\n  - {measure: kept, overlap: [A, f]}\n"), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if b, err = os.ReadFile(scan); err == nil {
		err = os.WriteFile("scan.nc", b, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	v := serve(t, dir)
	if kinds := v.kinds(); kinds["film.h5"] != "Morphologies" || kinds["small.yaml"] != "Assembly scripts" || kinds["scan.nc"] != "Measured patterns" {
		t.Errorf("%v", kinds)
	}
	v.draws("scan.nc", "")
	v.draws("film.h5", "sim rsoxs")
	v.draws("small.yaml", "sim assembly")
}
