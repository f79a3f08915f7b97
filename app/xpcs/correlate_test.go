// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs_test

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/apptest"
	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/internal/tune"
	"github.com/euryale-dev/euryale/app/xpcs"
	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/internal/tier"
	"github.com/euryale-dev/euryale/sim/xpcs/speckle"
)

// From frames to relaxation times that are right, by commands alone.
func TestFromFramesToFits(t *testing.T) {
	t.Chdir(t.TempDir())
	apptest.WriteMovie(t, "a.h5", apptest.Speckles(t, 600, 1))
	for _, line := range []string{apptest.QmapLine, "correlate a.h5 --qmap q.hdf --correlation both --parts 2 --save-pixels --report --out res", "plot g2 res/a_results.hdf g2.svg --bins 1-2 --overlay", "plot stability res/a_results.hdf", "plot saxs res/a_results.hdf",
		"plot image res/a_results.hdf", "plot intensity res/a_results.hdf", "plot twotime res/a_results.hdf --bins 2", "plot twotime res/a_results.hdf d.svg --diagonals", "plot qmap q.hdf", "plot mask res/a_results.hdf"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != 0 {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
	}
	for name, want := range map[string]string{"res/a_report/report.html": "Two-time correlation of bin 3", "g2.svg": "bin 2", "stability.svg": "600 frames", "saxs.svg": "Intensity", "image.svg": "qx", "intensity.svg": "time (s)",
		"twotime.svg": "t1 (s)", "d.svg": "age ", "qmap.svg": "static bins", "mask.svg": "Mask"} {
		if b, err := os.ReadFile(name); err != nil || !strings.Contains(string(b), want) {
			t.Errorf("%s: %v: %q is not there", name, err, want)
		}
	}
	r, err := nexus.Open("res/a_results.hdf")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if r.Multitau == nil || r.Twotime == nil || len(r.Multitau.Cov) != 4 || len(r.Multitau.Partial) != 2 || len(r.Twotime.Bins) != 4 {
		t.Errorf("%+v", r)
	}
	if g, _, _, err := r.ReadUnnormalized(3); err != nil || g.Rows != apptest.MovieSide {
		t.Error(err)
	}
	code, stdout, stderr := apptest.Do(t, "fit", "g2", "res/a_results.hdf", "--json")
	if code != 0 {
		t.Fatal(stderr)
	}
	var doc struct {
		Bins []struct {
			Q, Phi float64
			X, SD  map[string]float64
			Check  struct{ OK bool } `json:"model_check"`
		}
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || len(doc.Bins) != 4 {
		t.Fatal(err, stdout)
	}
	for i, b := range doc.Bins[1:] { // within the first bin the relaxation time changes too much for one exponential
		pixels := b.Q / (2 * math.Pi / 1.239841984) * 5 / 75e-6 // q is k theta
		want := 30 / (pixels*pixels + 10)
		if got := b.X["tau"]; math.Abs(got/want-1) > 0.15 {
			t.Errorf("bin %d at %g pixels: tau is %g +- %g s, want about %g", i+2, pixels, got, b.SD["tau"], want)
		}
	}
	var misfit []string
	for i, b := range doc.Bins {
		if !b.Check.OK {
			misfit = append(misfit, fmt.Sprint(i+1))
		}
	}
	code, _, stderr = apptest.Do(t, "fit", "g2", "res/a_results.hdf", "--model", "power")
	if want := strings.Join(misfit, ", ") + "), and may be wrong"; code != 0 || len(misfit) == 0 || !strings.Contains(stderr, want) {
		t.Errorf("exit %d: %s: want %q", code, stderr, want)
	}
}

// A detector that is blind in the frame after a count is named by the correlation and by the fits of its results.
func TestBlindFramesAreNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	all := apptest.SpecklesOf(t, 150, speckle.Sample{Modes: 2, Seed: 1}, 0.3)
	for i := apptest.MovieSide * apptest.MovieSide; i < len(all); i++ {
		if all[i-apptest.MovieSide*apptest.MovieSide] > 0 {
			all[i] = 0
		}
	}
	apptest.WriteMovie(t, "a.h5", all)
	if code, _, stderr := apptest.Do(t, strings.Fields(apptest.QmapLine)...); code != 0 {
		t.Fatal(stderr)
	}
	for _, c := range [][2]string{{"correlate a.h5 --qmap q.hdf --correlation both --out res", "are 100 % below those of independent frames"},
		{"fit g2 res/a_results.hdf --json", "in the next frame by 100 %"}, {"fit twotime res/a_results.hdf --q 0.0008 --fixed D_offset=0 --fixed alpha=0 --json", "in the next frame by 100 %"}} {
		if code, stdout, stderr := apptest.Do(t, strings.Fields(c[0])...); code != 0 || !strings.Contains(stdout+stderr, c[1]) {
			t.Errorf("%s: exit %d, without %q: %s%s", c[0], code, c[1], stdout, stderr)
		}
	}
}

// Pixels of the q map that are NaN in most frames are left out with a note; g2 of the others is the same as with a map without them. One that is
// NaN in few frames is left in, and these frames are replaced.
func TestPixelsWithoutCountAreLeftOut(t *testing.T) {
	t.Chdir(t.TempDir())
	const n = apptest.MovieSide * apptest.MovieSide
	for name, every := range map[string]int{"always": 1, "mostly": 3, "seldom": 40} {
		all := apptest.Speckles(t, 120, 2)
		for f := range 120 {
			if every == 1 || every == 3 && f%3 > 0 || f%every == every-1 {
				all[f*n+7] = float32(math.NaN())
			}
		}
		apptest.WriteMovie(t, name+".h5", all)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields(apptest.QmapLine)...); code != 0 {
		t.Fatal(stderr)
	}
	const note = "1 pixel in bins of the q map has no count in most of the frames that were looked at, but NaN or the mark of the detector, and was left out (row 0, column 7)"
	for name, told := range map[string]bool{"always": true, "mostly": true, "seldom": false} {
		code, stdout, stderr := apptest.Do(t, "correlate", name+".h5", "--qmap", "q.hdf", "--out", "res")
		if code != 0 || strings.Contains(stdout+stderr, note) != told || strings.Contains(stdout+stderr, "replaced") == told {
			t.Errorf("%s: exit %d: %s%s", name, code, stdout, stderr)
		}
	}
	q, err := nexus.OpenQMap("res/always_results.hdf")
	if err != nil || q.Maps.Mask[7] || q.Maps.Dynamic[7] != 0 || !q.Maps.Mask[8] {
		t.Errorf("the q map of the result keeps the pixel: %v", err)
	}
}

// A detector that misses photons is named by the correlation and by the fits of its results.
func TestDeadTimeIsNamed(t *testing.T) {
	t.Chdir(t.TempDir())
	apptest.WriteMovie(t, "a.h5", apptest.SpecklesOf(t, 150, speckle.Sample{Modes: 2, DeadTime: 0.05, Seed: 1}, 10))
	for _, line := range []string{apptest.QmapLine, "correlate a.h5 --qmap q.hdf --correlation both --out res", "fit g2 res/a_results.hdf --json", "fit twotime res/a_results.hdf --q 0.0008 --fixed D_offset=0 --fixed alpha=0 --json"} {
		code, stdout, stderr := apptest.Do(t, strings.Fields(line)...)
		if code != 0 || line != apptest.QmapLine && !strings.Contains(stdout+stderr, "(dead time)") {
			t.Errorf("%s: exit %d, and no dead time: %s%s", line, code, stdout, stderr)
		}
	}
}

func TestCorrelateFiles(t *testing.T) {
	t.Chdir(t.TempDir())
	all := apptest.Speckles(t, 120, 2)
	apptest.WriteMovie(t, "a.h5", all)
	all[50*apptest.MovieSide*apptest.MovieSide+7] = float32(math.NaN())
	apptest.WriteMovie(t, "nan.h5", all)
	os.WriteFile("bad.h5", []byte("nothing"), 0o644)
	if code, _, stderr := apptest.Do(t, strings.Fields(apptest.QmapLine)...); code != 0 {
		t.Fatal(stderr)
	}
	var doc xpcs.CorrelateDoc
	code, stdout, stderr := apptest.Do(t, strings.Fields("correlate bad.h5 a.h5 nan.h5 --qmap q.hdf --out res --json")...)
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != exit.Data {
		t.Fatal(code, err, stderr)
	}
	if len(doc.Files) != 3 || doc.Files[0].Status != "failed" || doc.Files[1].Status != "written" || doc.Files[2].Replaced != 1 || !strings.Contains(doc.Files[2].Notes[0], "frame 50") || !strings.Contains(doc.Files[2].Notes[0], "too small by about 1.7 %") {
		t.Errorf("%+v", doc)
	}
	before, _ := os.ReadFile("res/a_results.hdf")
	if code, stdout, _ = apptest.Do(t, strings.Fields("correlate a.h5 --qmap q.hdf --out res --begin 10")...); code != 0 || !strings.Contains(stdout, "exists") {
		t.Errorf("exit %d: %s", code, stdout)
	}
	if again, _ := os.ReadFile("res/a_results.hdf"); string(again) != string(before) {
		t.Error("an existing result has changed")
	}
	for line, want := range map[string]string{
		"correlate a.h5": "needs a q map", "correlate --qmap q.hdf": "name files of frames", "correlate a.h5 --qmap q.hdf --correlation three": "multitau, twotime or both",
		"correlate a.h5 --qmap q.hdf --overwrite --begin 200": "frames 200", "correlate a.h5 --qmap q.hdf --correlation both --bins 0": "from 1 on", "correlate a.h5 --qmap none.hdf": "none.hdf",
		"correlate a.h5 --qmap q.hdf --low 9 --out new": "frame 0 is not good", "correlate a.h5 --qmap a.h5": "a.h5", "correlate a.h5 --qmap q.hdf --prefix ../x": "without a folder",
		"qmap new.hdf --shape 4x4": "--beam-x, --beam-y, --pixel-size, --distance, --energy", "qmap x.hdf --from q.hdf --pixel-size 75ft": "75ft", "qmap x.hdf --from q.hdf --axes q,chi": `"chi"`,
		"qmap x.hdf --from q.hdf --distance 5000": "5000mm, from 0.1mm to 200m", "mask x.h5 --from q.hdf --distance 5000 --circle 1,1,1": "5000mm, from 0.1mm to 200m",
		"qmap x.hdf --from q.hdf --energy 1.24A":                                                      "the photon energy at a wavelength of 1.24A is 9.99873keV",
		"qmap x.hdf --shape 4x4 --beam-x 1e300 --beam-y 2 --pixel-size 75um --distance 5 --energy 10": "no pixel has a finite q",
		"qmap q.hdf --from q.hdf":                                                                     "--overwrite", "qmap x.hdf --from q.hdf --dynamic 0x3": "--dynamic",
		"plot g2 q.hdf": "q.hdf", "plot twotime res/a_results.hdf": "--correlation twotime", "plot stability res/a_results.hdf": "--parts", "plot g2 res/a_results.hdf --bins 5": "want bins from 1 to 4", "plot qmap a.h5": "a.h5",
	} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s, want %q", line, code, stderr, want)
		}
	}
	if left, _ := filepath.Glob("*/.*"); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

// What arrives in a folder is correlated once it has stopped growing.
func TestCorrelateWatch(t *testing.T) {
	tier.SlowOnly(t)
	t.Chdir(t.TempDir())
	defer func(a, b time.Duration) { tune.WatchEvery, tune.Settled = a, b }(tune.WatchEvery, tune.Settled)
	tune.WatchEvery, tune.Settled = 10*time.Millisecond, 50*time.Millisecond
	if code, _, stderr := apptest.Do(t, strings.Fields(apptest.QmapLine)...); code != 0 {
		t.Fatal(stderr)
	}
	os.Mkdir("raw", 0o755)
	all := apptest.Speckles(t, 60, 3)
	apptest.WriteMovie(t, "raw/one.h5", all)
	go func() {
		for _, err := os.Stat("res/one_results.hdf"); err != nil; _, err = os.Stat("res/one_results.hdf") {
			time.Sleep(5 * time.Millisecond)
		}
		apptest.WriteMovie(t, "raw/two.h5", all)
	}()
	code, stdout, stderr := apptest.Do(t, strings.Fields("correlate --watch raw --qmap q.hdf --out res --idle 3s")...)
	if code != 0 || !strings.Contains(stdout, "one_results.hdf") || !strings.Contains(stdout, "two_results.hdf") {
		t.Errorf("exit %d: %s %s", code, stdout, stderr)
	}
	if b, err := os.ReadFile("res/correlations.html"); err != nil || !strings.Contains(string(b), "raw/two.h5") || !strings.Contains(string(b), "<svg") {
		t.Errorf("the page of results: %v", err)
	}
}

// A file that changes after it was correlated, as one that is written with pauses, is correlated again; so is one of which modules
// arrive later. A clock that is ahead delays nothing, and two files with one result are not taken for one.
func TestCorrelateWatchChanges(t *testing.T) {
	t.Chdir(t.TempDir())
	defer func(a, b time.Duration) { tune.WatchEvery, tune.Settled = a, b }(tune.WatchEvery, tune.Settled)
	tune.WatchEvery, tune.Settled = 10*time.Millisecond, 50*time.Millisecond
	if code, _, stderr := apptest.Do(t, strings.Fields(apptest.QmapLine)...); code != 0 {
		t.Fatal(stderr)
	}
	os.Mkdir("raw", 0o755)
	all := apptest.Speckles(t, 60, 3)
	const size = apptest.MovieSide * apptest.MovieSide
	apptest.WriteMovie(t, "raw/grows.h5", all[:20*size])
	apptest.WriteMovie(t, "raw/ahead.h5", all)
	if err := os.Chtimes("raw/ahead.h5", time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	events := func(k int) { // of frame 0 to 9
		var b []byte
		for f := range 10 {
			b = binary.LittleEndian.AppendUint64(b, uint64(f)<<40|uint64(f)<<16|1)
		}
		os.WriteFile(fmt.Sprintf("raw/six.bin.%03d", k), b, 0o644)
	}
	events(0)
	go func() {
		there := func(name string) {
			for _, err := os.Stat(name); err != nil; _, err = os.Stat(name) {
				time.Sleep(5 * time.Millisecond)
			}
		}
		there("res/grows_results.hdf")
		apptest.WriteMovie(t, "raw/grows.h5", all)
		there("res/ahead_results.hdf")
		for k := 1; k < 6; k++ {
			events(k)
		}
		for text := ""; !strings.Contains(text, "ahead"); {
			b, _ := os.ReadFile("res/correlations.html")
			text = string(b)
		}
		os.WriteFile("raw/ahead.npy", []byte("nothing"), 0o644)
	}()
	var doc xpcs.CorrelateDoc
	code, stdout, stderr := apptest.Do(t, strings.Fields("correlate --watch raw --qmap q.hdf --out res --idle 1s --frame-time 1ms --shape 10x10 --json")...)
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code == 0 {
		t.Fatal(code, err, stderr)
	}
	got := map[string]xpcs.CorrelatedDoc{}
	for _, d := range doc.Files {
		if got[d.File].File != "" {
			t.Errorf("%s is listed twice", d.File)
		}
		got[d.File] = d
	}
	if d := got["raw/grows.h5"]; d.Status != "written" || d.Frames != 60 || !strings.Contains(stderr, "raw/grows.h5 has changed") {
		t.Errorf("%+v: %s", d, stderr)
	}
	if d := got["raw/ahead.h5"]; d.Status != "written" || d.Frames != 60 {
		t.Errorf("%+v", d)
	}
	if d := got["raw/ahead.npy"]; !strings.Contains(d.Message, "would both be written to") {
		t.Errorf("%+v", d)
	}
	if d := got["raw/six.bin.000"]; !strings.Contains(d.Message, "the frames 170 x 72") { // of six modules, which the q map is not for
		t.Errorf("%+v", d)
	}
}

// Two files with one result are told before anything is computed, and a result that is older than its frames is told.
func TestCorrelateResultsOfWhat(t *testing.T) {
	t.Chdir(t.TempDir())
	if code, _, stderr := apptest.Do(t, strings.Fields(apptest.QmapLine)...); code != 0 {
		t.Fatal(stderr)
	}
	os.Mkdir("one", 0o755)
	os.Mkdir("two", 0o755)
	all := apptest.Speckles(t, 20, 3)
	apptest.WriteMovie(t, "one/a.h5", all)
	apptest.WriteMovie(t, "two/a.h5", all)
	if code, _, stderr := apptest.Do(t, strings.Fields("correlate one/a.h5 two/a.h5 --qmap q.hdf --out res")...); code != exit.WrongUsage || !strings.Contains(stderr, "one/a.h5 and two/a.h5 would both be written to") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if _, err := os.Stat("res"); err == nil {
		t.Error("something was written")
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("correlate one/a.h5 --qmap q.hdf --out paged")...); code != 0 {
		t.Fatal(stderr)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("correlate one/a.h5 --qmap q.hdf --out paged --report")...); code != 0 || !xpcs.There("paged/a_report/report.html") {
		t.Errorf("the page of a result that exists is not made: exit %d: %s", code, stderr)
	}
	if code, stdout, stderr := apptest.Do(t, strings.Fields("correlate one/a.h5 ./one/a.h5 --qmap q.hdf --out res")...); code != 0 || strings.Contains(stderr, "were changed") || !strings.Contains(stdout, "was kept") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if err := os.Chtimes("one/a.h5", time.Time{}, time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := apptest.Do(t, strings.Fields("correlate one/a.h5 --qmap q.hdf --out res")...); code != 0 || !strings.Contains(stderr, "were changed") {
		t.Errorf("exit %d: %s", code, stderr)
	}
}

// An interrupt leaves nothing half done.
func TestCorrelateInterrupted(t *testing.T) {
	t.Chdir(t.TempDir())
	apptest.WriteMovie(t, "a.h5", apptest.Speckles(t, 60, 4))
	if code, _, stderr := apptest.Do(t, strings.Fields(apptest.QmapLine)...); code != 0 {
		t.Fatal(stderr)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs strings.Builder
	if code := app.Run(ctx, strings.Fields("correlate a.h5 --qmap q.hdf --quiet"), &out, &errs); code != exit.Interrupted || !strings.Contains(errs.String(), "the same command") {
		t.Errorf("exit %d: %s", code, errs.String())
	}
	if _, err := os.Stat("a_results.hdf"); err == nil {
		t.Error("there is a result")
	}
}

// Repeats are averaged, those that are no good are told, and pixels are grouped anew as if the frames had been correlated
// with the other map.
func TestAverageAndRegroup(t *testing.T) {
	t.Chdir(t.TempDir())
	for i, name := range []string{"a", "b"} {
		apptest.WriteMovie(t, name+".h5", apptest.Speckles(t, 300, uint64(10+i)))
	}
	os.WriteFile("bad_results.hdf", []byte("nothing"), 0o644)
	for _, line := range []string{apptest.QmapLine, strings.Replace(apptest.QmapLine, "q.hdf", "two.hdf", 1) + " --dynamic 2x1",
		"mask m.h5 --shape 40x40 --rectangle 30,20,12,30", strings.Replace(apptest.QmapLine, "q.hdf", "left.hdf", 1) + " --mask m.h5", strings.Replace(apptest.QmapLine, "q.hdf", "two-left.hdf", 1) + " --dynamic 2x1 --mask m.h5",
		"correlate a.h5 --qmap left.hdf --suffix _left --save-pixels", "correlate a.h5 --qmap two-left.hdf --suffix _two-left", "average a_left_results.hdf left-regrouped.hdf --all --pixels --qmap two-left.hdf", "average a_left_results.hdf whole-regrouped.hdf --all --pixels --qmap two.hdf",
		"correlate a.h5 b.h5 --qmap q.hdf --save-pixels", "correlate a.h5 --qmap two.hdf --suffix _two",
		"average a_results.hdf b_results.hdf bad_results.hdf mean.hdf --bin 3", "average a_results.hdf regrouped.hdf --all --pixels --qmap two.hdf"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code != map[bool]int{true: exit.Data}[strings.Contains(line, "bad_results")] {
			t.Fatalf("%s: exit %d: %s", line, code, stderr)
		}
	}
	open := func(name string) *nexus.Result {
		r, err := nexus.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { r.Close() })
		return r
	}
	a, b, mean := open("a_results.hdf").Multitau, open("b_results.hdf").Multitau, open("mean.hdf").Multitau
	for i, v := range mean.G2.Data {
		if want := (a.G2.Data[i] + b.G2.Data[i]) / 2; math.Abs(v-want) > 1e-6 {
			t.Fatalf("g2 %d is %g, want %g", i, v, want)
		}
	}
	if len(mean.Cov) != 4 || mean.Pixels[2] != a.Pixels[2]+b.Pixels[2] {
		t.Errorf("%d covariances, %v pixels", len(mean.Cov), mean.Pixels)
	}
	again, whole := open("regrouped.hdf"), open("a_two_results.hdf")
	if again.QMap.Hash != whole.QMap.Hash || again.Bins() != 2 {
		t.Errorf("%d bins", again.Bins())
	}
	for i, v := range again.Multitau.G2.Data {
		if want := whole.Multitau.G2.Data[i]; math.Abs(v-want) > 1e-5 {
			t.Fatalf("g2 %d of pixels is %g, want %g", i, v, want)
		}
	}
	// Grouped anew, a bin has the covariance and the intensities that it would have had.
	again, whole = open("left-regrouped.hdf"), open("a_two-left_results.hdf")
	for b, cov := range again.Multitau.Cov {
		for i, v := range cov {
			if want := whole.Multitau.Cov[b][i]; math.Abs(v-want) > 1e-4*math.Abs(want)+1e-9 {
				t.Fatalf("bin %d: covariance %d of pixels is %g, want %g", b+1, i, v, want)
			}
		}
	}
	if len(again.Multitau.Cov) != 2 || len(again.SAXS) != len(whole.SAXS) || math.Abs(again.SAXS[3]-whole.SAXS[3]) > 1e-5 {
		t.Errorf("%d covariances, %d intensities", len(again.Multitau.Cov), len(again.SAXS))
	}
	// Pixels whose correlations were not kept, because they were in no bin, do not count as 0 in another map.
	if again = open("whole-regrouped.hdf"); math.Abs(again.Multitau.G2.Data[0]-whole.Multitau.G2.Data[0]) > 1e-5 || again.QMap.Hash != whole.QMap.Hash {
		t.Errorf("g2 is %g, want %g", again.Multitau.G2.Data[0], whole.Multitau.G2.Data[0])
	}
	for line, want := range map[string]string{"average a_results.hdf mean.hdf": "exists", "average a_results.hdf a_results.hdf --overwrite": "both an input and the output", "average a_results.hdf x.hdf --low 3 --high 4": "none of 1 files",
		"average bad_results.hdf x.hdf": "none of 1 files", "average a_results.hdf x.hdf --qmap two.hdf": "set Pixels", "average a_two_results.hdf x.hdf --all --pixels": "--save-pixels"} {
		if code, _, stderr := apptest.Do(t, strings.Fields(line)...); code == 0 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit %d: %s", line, code, stderr)
		}
	}
}
