// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/xpcs"
	"github.com/euryale-dev/euryale/data/maskfile"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/browser"
	"github.com/euryale-dev/euryale/sim/xpcs/mask"
	"github.com/euryale-dev/euryale/tensor"
)

const (
	scatterRows, scatterCols = 240, 320
	scatterRow, scatterCol   = 121.4, 150.7
)

// writeScatter writes an image of rings about a beam behind a stop, with some pixels that are hot.
func writeScatter(t *testing.T, name string) {
	t.Helper()
	v := make([]float64, scatterRows*scatterCols)
	for i := range v {
		dr, dc := float64(i/scatterCols)-scatterRow, float64(i%scatterCols)-scatterCol
		r := math.Hypot(dr, dc)
		v[i] = math.Round(4000/(1+r*r/300) + 300*math.Exp(-math.Pow((r-62)/7, 2)) + 6 + 2*math.Sin(float64(i*i%97)))
		if r < 9 || dr > 0 && math.Abs(dc) < 3 || i/scatterCols >= 180 && i/scatterCols < 186 {
			v[i] = 0
		}
		if i%4099 == 7 {
			v[i] = 60000
		}
	}
	x, err := tensor.From(v, scatterRows, scatterCols)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := x.WriteNPY(&b); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

const scatterGeometry = "--beam-x 150 --beam-y 120 --pixel-size 75um --distance 5 --energy 10"

// editing is a running mask --edit.
type editing struct {
	url    string
	ended  chan int
	stdout bytes.Buffer
}

// editPage starts the command and waits for the address of its page.
func editPage(t *testing.T, ctx context.Context, line string) *editing {
	t.Helper()
	e := &editing{ended: make(chan int, 1)}
	r, w := io.Pipe()
	go func() {
		e.ended <- app.Run(ctx, strings.Fields(line), &e.stdout, w)
		w.Close()
	}()
	e.url = address(t, r)
	return e
}

var pageAddress = regexp.MustCompile(`http://127\.0\.0\.1:\d+/[0-9a-f]+/`)

// address reads messages until one has the address of the page, and goes on reading.
func address(t *testing.T, r io.Reader) (url string) {
	t.Helper()
	s, all := bufio.NewScanner(r), ""
	for url == "" && s.Scan() {
		all += s.Text() + "\n"
		url = pageAddress.FindString(s.Text())
	}
	if url == "" {
		t.Fatalf("no address: %s", all)
	}
	go io.Copy(io.Discard, r)
	return url
}

// post sends a request to a page and decodes the answer.
func post(t *testing.T, url, body string, answer any) (status int) {
	t.Helper()
	r, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	b, err := io.ReadAll(r.Body)
	if err == nil && answer != nil {
		err = json.Unmarshal(b, answer)
	}
	if err != nil {
		t.Fatalf("%s: %v: %s", url, err, b)
	}
	return r.StatusCode
}

// A person draws, undoes, moves the beam, reads q and saves; the command makes the same mask from the recipe.
func TestMaskPageInBrowser(t *testing.T) {
	t.Chdir(t.TempDir())
	writeScatter(t, "image.npy")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e := editPage(t, ctx, "mask mask.h5 --edit image.npy --dynamic 12x1 --static 36x1 "+scatterGeometry)
	p := browser.Open(t, e.url)
	p.Wait(`window.page && window.page.view.layers.image && window.page.view.layers.rings && document.body.dataset.rev === "0"`)
	at := func(row, col float64) (x, y float64) {
		var v [2]float64
		p.Eval(fmt.Sprintf("window.page.toScreen([%g, %g])", row, col), &v)
		return v[0], v[1]
	}
	drag := func(r0, c0, r1, c1 float64) {
		x0, y0 := at(r0, c0)
		x1, y1 := at(r1, c1)
		p.Drag(x0, y0, x1, y1)
	}
	revision := 0
	wait := func() {
		revision++
		p.Wait(fmt.Sprintf(`document.body.dataset.rev === "%d"`, revision))
	}
	p.ClickOn("[data-tool=circle]")
	drag(121, 151, 121, 163)
	wait()
	p.ClickOn("[data-tool=polygon]")
	for _, c := range [][2]float64{{20, 20}, {20, 80}, {70, 40}} {
		x, y := at(c[0], c[1])
		p.Click(x, y)
	}
	p.Key("Enter", "Enter", 13, 0)
	wait()
	var kept [3]string
	p.Eval("document.getElementById('kept').textContent", &kept[0])
	p.ClickOn("#undo")
	wait()
	p.Eval("document.getElementById('kept').textContent", &kept[1])
	p.Key("Z", "KeyZ", 90, 2+8)
	wait()
	p.Eval("document.getElementById('kept').textContent", &kept[2])
	if kept[0] != kept[2] || kept[0] == kept[1] {
		t.Errorf("before, undone, redone: %q", kept)
	}
	p.Type("#high", "50000")
	p.Wait(`/masks [1-9]/.test(document.getElementById("thresholdCount").textContent)`)
	p.ClickOn("#thresholdApply")
	wait()
	// The beam is dragged and then found; q is read under the cursor.
	p.ClickOn("[data-tool=beam]")
	drag(120, 150, 130, 160)
	wait()
	var beam [2]string
	p.Eval("[document.getElementById('beamX').value, document.getElementById('beamY').value]", &beam)
	var x, y float64
	if fmt.Sscan(beam[0], &x); math.Abs(x-160) > 1 {
		t.Errorf("the beam is at %q", beam)
	}
	if fmt.Sscan(beam[1], &y); math.Abs(y-130) > 1 {
		t.Errorf("the beam is at %q", beam)
	}
	p.ClickOn("#find")
	wait()
	p.Eval("[document.getElementById('beamX').value, document.getElementById('beamY').value]", &beam)
	fmt.Sscan(beam[0], &x)
	fmt.Sscan(beam[1], &y)
	if math.Abs(x-scatterCol) > 0.2 || math.Abs(y-scatterRow) > 0.2 {
		t.Errorf("the beam is found at %q, it is at %g, %g", beam, scatterCol, scatterRow)
	}
	mx, my := at(40, 250)
	p.Move(mx, my)
	p.Wait(`/x 250    y 40 .*q 0\.\d+ .*bin \d+/.test(document.getElementById("readout").textContent)`)
	var text string
	p.Eval("document.getElementById('readout').textContent", &text)
	var q float64
	fmt.Sscan(text[strings.Index(text, "q ")+2:], &q)
	want := 4 * math.Pi * 10 / 12.39841984 * math.Sin(math.Atan(math.Hypot(40-y, 250-x)*75e-6/5)/2)
	if math.Abs(q/want-1) > 1e-3 {
		t.Errorf("%s: want q %g", text, want)
	}
	if name := os.Getenv("EURYALE_SCREENSHOT"); name != "" {
		os.WriteFile(name, p.Screenshot(), 0o644)
	}
	p.ClickOn("#saveMask")
	p.Wait(`document.getElementById("message").textContent.includes("Saved mask.h5")`)
	p.ClickOn("#saveMask")
	p.Wait(`!document.getElementById("confirm").hidden`)
	p.ClickOn("#confirmNo")
	p.Type("#cutoff", "8")
	p.ClickOn("#outliersPreview")
	p.Wait(`/masks [0-9]/.test(document.getElementById("thresholdCount").textContent)`)
	p.Type("#begin", "0.002")
	p.ClickOn("#rangeApply")
	wait()
	p.ClickOn("#saveMask")
	p.Wait(`!document.getElementById("confirm").hidden`)
	p.ClickOn("#confirmYes")
	p.Wait(`document.getElementById("confirm").hidden && document.getElementById("message").textContent.includes("Saved mask.h5")`)
	p.ClickOn("#saveQMap")
	p.Wait(`document.getElementById("message").textContent.includes("Saved mask-qmap.hdf")`)
	p.ClickOn("#done")
	if code := <-e.ended; code != 0 || !strings.Contains(e.stdout.String(), "mask.h5: 240 x 320 pixels") {
		t.Errorf("exit %d: %s", code, e.stdout.String())
	}
	for _, f := range p.Failures {
		if !strings.Contains(f, "409") {
			t.Errorf("the page reported %s", f)
		}
	}
	sameMask(t, "mask.h5", "mask again.h5 --image image.npy --from mask.h5.geometry.json --recipe mask.h5.recipe.json", "again.h5")
	m, err := nexus.OpenQMap("mask-qmap.hdf")
	if err != nil || m.Dynamic.Bins() != 12 || math.Abs(m.BeamX-x) > 1e-6 {
		t.Errorf("%v %+v", err, m)
	}
}

// sameMask runs a command and compares its mask with another.
func sameMask(t *testing.T, name, line, other string) {
	t.Helper()
	if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != 0 {
		t.Fatalf("%s: exit %d: %s", line, code, stderr)
	}
	a, err := maskfile.Read(name, maskfile.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	b, err := maskfile.Read(other, maskfile.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(a.Keep, b.Keep) || !slices.Contains(a.Keep, false) {
		t.Errorf("%s and %s differ, or mask nothing", name, other)
	}
}

// What a page may not do is refused with words, and changes nothing.
func TestMaskPageRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	writeScatter(t, "image.npy")
	os.WriteFile("secret.csv", []byte("1,1\n"), 0o644)
	ctx, cancel := context.WithCancel(t.Context())
	e := editPage(t, ctx, "mask mask.npy --edit image.npy")
	var s struct {
		Error string
		Rev   int
		Kept  int
		Lacks []string
	}
	for _, c := range []struct{ path, body, want string }{
		{"step", `{"file": "secret.csv"}`, "was not allowed"}, {"step", `{"file": "../../etc/passwd"}`, "was not allowed"}, {"step", `{"file": "image.npy"}`, "was not allowed"},
		{"step", `{"shell": 1}`, "shell"}, {"step", `nonsense`, "cannot be parsed"}, {"step", `{}`, "exactly one"},
		{"step", `{"draw": [{"kind": "circle", "center": [1, 2], "radius": -1}]}`, "radius"}, {"step", `{"pixels": [[-1, 5]]}`, "-1"},
		{"step", `{"constraints": [{"map": "q", "begin": 0, "end": 1}]}`, "q"}, {"geometry", `{"energy": -3}`, "above 0"}, {"geometry", `{"bins": "1000000x3"}`, "such as 36x1"},
		{"geometry", `{"bins": "9999x9999"}`, "at most"}, {"rings", `{}`, "lacks"}, {"save", `{"what": "qmap"}`, "lacks"}, {"save", `{"what": "/etc/passwd"}`, "want mask or qmap"},
	} {
		s.Error = ""
		if status := post(t, e.url+c.path, c.body, &s); status != 400 || !strings.Contains(s.Error, c.want) {
			t.Errorf("%s %s: %d %s, want %q", c.path, c.body, status, s.Error, c.want)
		}
	}
	for _, path := range []string{"../mask.go", "%2e%2e/image.npy", "..%2f..%2fimage.npy", "page.go", "at?row=-1&col=2", "at?row=240&col=0", "image.png?low=3&high=1", "nothing"} {
		r, err := http.Get(e.url + path)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(r.Body)
		r.Body.Close()
		if r.StatusCode < 400 || r.StatusCode >= 500 || bytes.Contains(b, []byte("NUMPY")) {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
	r, err := http.Get(e.url + "state")
	if err != nil || json.NewDecoder(r.Body).Decode(&s) != nil || s.Rev != 0 || s.Kept != scatterRows*scatterCols || len(s.Lacks) != 4 {
		t.Errorf("%v %+v", err, s)
	}
	r.Body.Close()
	if code, _, stderr := apptest.Do(t, strings.Fields("mask mask.npy --edit image.npy")...); code != exit.CannotWrite || !strings.Contains(stderr, "is being written by process") {
		t.Errorf("two pages edit one mask: exit %d: %s", code, stderr)
	}
	cancel()
	if code := <-e.ended; code != exit.Interrupted || xpcs.There("mask.npy") || xpcs.There("mask.npy.lock") {
		t.Errorf("exit %d", code)
	}
}

// Done without a saved mask says where the steps are.
func TestMaskPageWithoutSaving(t *testing.T) {
	t.Chdir(t.TempDir())
	writeScatter(t, "image.npy")
	e := editPage(t, t.Context(), "mask mask.h5 --edit image.npy --json --circle 20,20,5.2")
	post(t, e.url+"done", `{}`, nil)
	code := <-e.ended
	var d xpcs.MaskDoc
	if err := json.Unmarshal(e.stdout.Bytes(), &d); err != nil || code != 0 || d.File != "" || d.Kept != scatterRows*scatterCols-89 || len(d.Steps) != 1 || !xpcs.There(d.Recipe) || d.Recipe != "mask.h5.recipe.json" {
		t.Errorf("exit %d, %v: %+v", code, err, d)
	}
}

// A process that is killed in the middle of an edit loses nothing.
func TestMaskPageIsKilled(t *testing.T) {
	t.Chdir(t.TempDir())
	writeScatter(t, "image.npy")
	line := strings.Fields("mask mask.tif --edit image.npy " + scatterGeometry)
	cmd := exec.Command(os.Args[0], line...)
	cmd.Env = append(os.Environ(), "EURYALE_TEST_COMMAND=1")
	messages, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	url := address(t, messages)
	var s struct {
		Rev, Kept, At, Len int
		Geometry           struct{ BeamX float64 }
		Bins               string
	}
	for path, body := range map[string]string{"step": `{"draw": [{"kind": "circle", "center": [121, 151], "radius": 12}]}`, "geometry": `{"beamX": 155.5, "beamY": 121.25, "pixelSize": 75e-6, "distance": 5, "energy": 10, "bins": "12x3"}`} {
		if status := post(t, url+path, body, &s); status != 200 {
			t.Fatal(path, status)
		}
	}
	post(t, url+"step", `{"constraints": [{"map": "q", "logic": "AND", "begin": 0.001, "end": 0.008}]}`, &s)
	post(t, url+"step", `{"threshold": {"noLow": true, "high": 50000}}`, &s)
	post(t, url+"undo", `{}`, &s)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	before := s
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e := editPage(t, ctx, "mask mask.tif --edit image.npy --from image.npy")
	r, err := http.Get(e.url + "state")
	if err != nil || json.NewDecoder(r.Body).Decode(&s) != nil || s.Kept != before.Kept || s.At != 3 || s.Len != 5 || s.Geometry.BeamX != 155.5 || s.Bins != "12x3" {
		t.Errorf("%v: %+v, before the kill %+v", err, s, before)
	}
	r.Body.Close()
	if status := post(t, e.url+"save", `{"what": "mask"}`, &s); status != 200 {
		t.Error(status)
	}
	if status := post(t, e.url+"save", `{"what": "mask"}`, nil); status != 409 {
		t.Errorf("an existing mask is replaced without being asked: %d", status)
	}
	if status := post(t, e.url+"save", `{"what": "mask", "replace": true}`, nil); status != 200 {
		t.Error(status)
	}
	post(t, e.url+"done", `{}`, nil)
	if code := <-e.ended; code != 0 {
		t.Errorf("exit %d", code)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("mask mask.tif --edit image.npy --circle 1,1,1")...); code != exit.WrongUsage || !strings.Contains(stderr, "earlier session") {
		t.Errorf("steps of the command line and of an earlier session are mixed: exit %d: %s", code, stderr)
	}
	sameMask(t, "mask.tif", "mask again.tif --image image.npy --circle 121,151,12 --parameter q>=0.001&q<=0.008 --from mask.tif.geometry.json", "again.tif")
	b, err := os.ReadFile("mask.tif.recipe.json")
	if err != nil {
		t.Fatal(err)
	}
	if recipe, err := mask.ReadRecipe(b); err != nil || len(recipe.Steps) != 3 || recipe.Undone != 1 {
		t.Errorf("%v: %s", err, b)
	}
}
