// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// recorder notes how a test ended.
type recorder struct {
	testing.TB
	end string
}

func (r *recorder) Helper() {}

func (r *recorder) Skipf(format string, a ...any) {
	r.end = "skip"
	runtime.Goexit()
}

func (r *recorder) Fatalf(format string, a ...any) {
	r.end = "fail: " + fmt.Sprintf(format, a...)
	runtime.Goexit()
}

// ending returns how a test that calls f ends.
func ending(t *testing.T, f func(testing.TB)) string {
	r := &recorder{TB: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(r)
	}()
	<-done
	return r.end
}

func write(t *testing.T, name, text string) {
	t.Helper()
	err := os.MkdirAll(filepath.Dir(name), 0o755)
	if err == nil {
		err = os.WriteFile(name, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// inClone makes an empty repository the place where the test runs.
func inClone(t *testing.T) string {
	top := filepath.Join(t.TempDir(), "clone")
	write(t, filepath.Join(top, "go.mod"), "module m\n")
	old := start
	start = top
	t.Cleanup(func() { start = old })
	t.Setenv("EURYALE_REFERENCE", "")
	t.Setenv("EURYALE_REQUIRE_REFERENCE", "")
	return top
}

// A topic comes from the first place that has it.
func TestPlaces(t *testing.T) {
	top := inClone(t)
	write(t, filepath.Join(top, "../shared/reference/a/x.json"), `"beside"`)
	write(t, filepath.Join(top, "../shared/reference/b/x.json"), `"beside"`)
	mine := t.TempDir()
	write(t, filepath.Join(mine, "a/x.json"), `"mine"`)
	t.Setenv("EURYALE_REFERENCE", mine)
	for topic, want := range map[string]string{"a": "mine", "b": "beside"} {
		var got string
		if JSON(t, &got, topic, "x.json"); got != want {
			t.Errorf("topic %s is from %s, want %s", topic, got, want)
		}
	}
	t.Setenv("EURYALE_REFERENCE", filepath.Join(mine, "none"))
	if end := ending(t, func(t testing.TB) { Path(t, "a", "x.json") }); len(end) < 5 || end[:4] != "fail" {
		t.Errorf("a folder that does not exist: %q", end)
	}
}

func TestMissing(t *testing.T) {
	top := inClone(t)
	write(t, filepath.Join(top, "../shared/reference/a/x.json"), "7")
	for required, want := range map[string]string{"": "skip", "0": "skip", "1": "fail"} {
		t.Setenv("EURYALE_REQUIRE_REFERENCE", required)
		for what, f := range map[string]func(testing.TB){
			"no topic": func(t testing.TB) { Path(t, "b") },
			"no path":  func(t testing.TB) { Path(t, "a", "y") },
			"no JSON":  func(t testing.TB) { JSON(t, nil, "a", "y.json") },
			"no match": func(t testing.TB) { Glob(t, "a/*.npz") },
		} {
			if end := ending(t, f); len(end) < 4 || end[:4] != want {
				t.Errorf("required %q, %s: %q, want %s", required, what, end, want)
			}
		}
	}
}

// What a set lacks of a kind is no missing reference.
func TestHaving(t *testing.T) {
	top := inClone(t)
	write(t, filepath.Join(top, "../shared/reference/a/1.json"), `{"x": 1, "y": 2}`)
	write(t, filepath.Join(top, "../shared/reference/a/2.json"), `{"x": 1}`)
	t.Setenv("EURYALE_REQUIRE_REFERENCE", "1")
	if got := Having(t, "a/*.json", "x", "y"); len(got) != 1 || got[0] != "a/1.json" {
		t.Errorf("%q have x and y", got)
	}
	if end := ending(t, func(t testing.TB) { Having(t, "a/*.json", "z") }); end != "skip" {
		t.Errorf("none has z: %q", end)
	}
	if !Has(t, "a", "1.json") || Has(t, "a", "3.json") {
		t.Error("Has does not tell what is there")
	}
}

// Members are what the star of a pattern stands for, in the order of the names.
func TestMembers(t *testing.T) {
	top := inClone(t)
	for _, name := range []string{"in_b.json", "in_a-1.json", "out_c.json", "in_d.npy"} {
		write(t, filepath.Join(top, "../shared/reference/a/", name), "{}")
	}
	if got := Members(t, "a/in_*.json"); !slices.Equal(got, []string{"a-1", "b"}) {
		t.Errorf("the members are %q", got)
	}
	for pattern, want := range map[string]string{"a/in_b.json": "fail", "a/*_*.json": "fail", "a/none_*.json": "skip"} {
		if end := ending(t, func(t testing.TB) { Members(t, pattern) }); !strings.HasPrefix(end, want) {
			t.Errorf("%s: %q, want %s", pattern, end, want)
		}
	}
}

// A change of names reaches files, folders, keys and texts, and a member that is left out is in none of them.
func TestRenamed(t *testing.T) {
	c := another{"a", part(`m([1-5])(multi|)`), "${1}star${3}${4}${5}", "m4", false}
	re := regexp.MustCompile(c.from)
	for name, want := range map[string]string{"ccf_m1_proc.npy": "ccf_star1_proc.npy", "m1multi": "star1multi", "m10.npy": "m10.npy", "gram1": "gram1"} {
		if got := re.ReplaceAllString(name, c.to); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
	got := string(renamed(t, []byte(`{"m1": [{"mock": "m4"}, {"mock": "m2", "x": 1.5e-300}], "m4": 3}`), re, c))
	if want := `{"star1":[{"mock":"star2","x":1.5e-300}]}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if !of("m4_b.npy", "m4") || of("m4x", "m4") || of("yfit_m4", "m4") {
		t.Error("the files of a member are not told from others")
	}
}

// Packed files read like those of a folder.
func TestPacked(t *testing.T) {
	archive := filepath.Join(moduleRoot(t), "internal", "golden", "testdata", "scatter.zip")
	b, err := os.ReadFile(archive)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(inClone(t), "internal/golden/testdata/scatter.zip"), string(b))
	Each(t, "scatter/cases/*", func(t *testing.T, name string) {
		var c struct{ ID string }
		if JSON(t, &c, name, "case.json"); c.ID != Base(name) {
			t.Errorf("case %s is in %s", c.ID, name)
		}
		dir := Path(t, name)
		if filepath.Base(dir) != Base(name) {
			t.Errorf("%s is unpacked as %s", name, dir)
		}
		alone := Path(t, name, "config.txt")
		for _, f := range []string{filepath.Join(dir, "config.txt"), alone, filepath.Join(filepath.Dir(alone), "case.json")} {
			if st, err := os.Stat(f); err != nil || st.Size() == 0 {
				t.Errorf("%s: %v", f, err)
			}
		}
	})
}
