// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package given

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func mistaken() { var a []int; _ = a[3] }

// A caught panic says where it happened, also when it was carried on by another panic.
func TestCaught(t *testing.T) {
	call := func(f func()) (err error) {
		defer Caught(&err)
		f()
		return nil
	}
	again := func() {
		defer func() { panic(Recovered(recover())) }()
		mistaken()
	}
	for _, f := range []func(){mistaken, again} {
		err := call(f)
		var p *PanicError
		if !errors.As(err, &p) {
			t.Fatal(err)
		}
		want := "panicked: runtime error: index out of range [3] with length 0 (in github.com/euryale-dev/euryale/internal/given.mistaken, panic_test.go:"
		if !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s...", err, want)
		}
		if !p.Culprit().Own || !strings.HasPrefix(p.Report(), "This is a bug in Euryale.") {
			t.Errorf("%+v\n%s", p.Culprit(), p.Report())
		}
	}
}

// The innermost function that is neither Euryale's nor of a module it needs is to blame.
func TestCulprit(t *testing.T) {
	const head = "goroutine 1 [running]:\nruntime/debug.Stack()\n\t/go/src/runtime/debug/stack.go:26 +0x5e\ngithub.com/euryale-dev/euryale/internal/given.Recovered(...)\n\t/e/internal/given/panic.go:40\npanic({0x1, 0x2})\n\t/go/src/runtime/panic.go:783 +0x132\n"
	const tail = "github.com/euryale-dev/euryale/cli.Run({0x1})\n\t/e/cli/root.go:60 +0x1\nexample.com/lab/cmd.start(0x1)\n\t/lab/cmd/start.go:9 +0x1\nmain.main()\n\t/lab/cmd/lab/main.go:9 +0x1\n"
	of := func(frames ...string) string {
		var b strings.Builder
		for i, f := range frames {
			b.WriteString(f + "({0x1, 0x2}, ...)\n\t/some/where/file.go:" + string(rune('1'+i)) + " +0x1d\n")
		}
		return b.String()
	}
	for stack, want := range map[string]string{
		of("example.com/lab/relax.init.func1", "github.com/euryale-dev/euryale/models/g2.Model.at"):                                                    "example.com/lab/relax.init.func1 example.com/lab/relax file.go:1",
		of("slices.Min[...]", "gonum.org/v1/gonum/mat.(*Dense).Mul", "github.com/x/y%2ez.(*T).Draw", "github.com/euryale-dev/euryale/infer.(*run).go"): "github.com/x/y%2ez.(*T).Draw github.com/x/y.z file.go:3",
		of("github.com/euryale-dev/euryale/autodiff.Add", "main.mean", "github.com/euryale-dev/euryale/models/g2.Model.at"):                            "main.mean main file.go:2",
		of("runtime.goPanicIndex", "example.org/plot.Draw", "github.com/spf13/cobra.(*Command).execute"):                                               "example.org/plot.Draw example.org/plot file.go:2",
	} {
		e := &PanicError{"no", head + stack + tail}
		c := e.Culprit()
		if got := c.Func + " " + c.Package + " " + c.Place; got != want || c.Own {
			t.Errorf("%q is own: %t, want %q", got, c.Own, want)
		}
		if !strings.HasPrefix(e.Report(), "The package "+c.Package+" is not a part of Euryale.") {
			t.Error(e.Report())
		}
	}
	for _, stack := range []string{of("github.com/euryale-dev/euryale/cli.(*app).fitG2", "github.com/spf13/cobra.(*Command).execute"), of("gonum.org/v1/gonum/mat.(*Dense).Mul")} {
		if c := (&PanicError{"no", head + stack + tail}).Culprit(); !c.Own || c.Place != "file.go:1" {
			t.Errorf("%+v is not ours", c)
		}
	}
}

// The modules that Euryale needs are those of go.mod.
func TestDependencies(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	used := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		path, version, _ := strings.Cut(strings.TrimSpace(line), " ")
		if !strings.HasPrefix(version, "v") {
			continue
		}
		found := false
		for _, d := range dependencies {
			if path == d || strings.HasPrefix(path, d+"/") {
				found, used[d] = true, true
			}
		}
		if !found {
			t.Errorf("dependencies lacks %s", path)
		}
	}
	for _, d := range dependencies {
		if !used[d] {
			t.Errorf("%s is not in go.mod: take it from dependencies", d)
		}
	}
}
