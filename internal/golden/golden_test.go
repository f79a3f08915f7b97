// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package golden

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
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
