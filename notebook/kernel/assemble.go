// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/euryale-dev/euryale/viz/term"
)

// source is a module of others that the kernel is made of, and its checksum.
type source struct{ module, version, sum string }

var (
	gophernotes = source{"github.com/gopherdata/gophernotes", "v0.7.5", "h1:hhQiBOwv4KR02mlYdHiHfLGybtC1QxatCnJqt75apVw="}
	gomacro     = source{"github.com/cosmos72/gomacro", "v0.0.0-20231101204900-3dc08f5f8fea", "h1:UaXbB+Mv9i2roIj0Ka1ATyHrC8JFnycDdj9dZ9RK/sg="}
)

// change is a text of a file of theirs and what replaces it.
type change struct{ file, old, new string }

// changes make the kernel run on today's Go, leave the evaluation of cells to our files, and mend
// the interpreter.
var changes = []change{
	// The type must satisfy an interface of today's gomacro, which is checked at start.
	{"x_package.go", "JSON_  func(interface{}) string", "JSON_  func(interface{}) map[string]interface{}"},
	{"x_package.go", "proxy_JSONer) JSON() string", "proxy_JSONer) JSON() map[string]interface{}"},
	{"kernel.go", "vals, types, executionErr := doEval(ir, outerr, code)", "vals, types, executionErr := evaluate(ir, outerr, code, receipt.Publish)"},
	{"kernel.go", "	ir := interp.New()\n", "	ir := newInterpreter()\n"},
	{"kernel.go", "data := kernel.autoRenderResults(vals, types)", "data := kernel.rendered(vals, types)"},
	// A guard of ours reads the sockets first, and answers on the socket that asked.
	{"kernel.go", "address := fmt.Sprintf(\"%v://%v:%%v\", connInfo.Transport, connInfo.IP)", "address := guarded(connInfo)"},
	{"kernel.go", "func (kernel *Kernel) handleShellMsg(", "func (kernel *Kernel) answer("},
	{"kernel.go", "		case v := <-ctl:\n", "		case v := <-ctl:\n			sockets := sockets\n			sockets.ShellSocket = sockets.ControlSocket\n"},
	{"kernel.go", "	log.Println(\"Shutting down in response to shutdown_request\")\n", "	flush()\n"},
	{"messages.go", "func WireMsgToComposedMsg(", "func unguarded("},
	{"main.go", "	flag.Parse()\n", "	flag.Parse()\n	switch flag.Arg(0) {\n	case \"run\":\n		runFiles(flag.Args()[1:])\n		return\n	case \"page\":\n		runInPage()\n		return\n	}\n"},
	// While a compiled type is taken in that mentions itself, such as a Node with inputs []*Node, it
	// is known what it is; slices and functions of it are lost for cells otherwise.
	{"gomacro/xreflect/fromreflect.go", "		t = v.reflectNamedOf(name, rtype.PkgPath(), rtype)\n", "		t = v.reflectNamedOf(name, rtype.PkgPath(), rtype)\n		if !v.rebuild() {\n			unwrap(t).option = OptDefault\n		}\n"},
	// What is called is an expression or else a type. If it is neither, the first error says why.
	{"gomacro/fast/expr.go", "			recover()\n			t = c.Type(expr)\n", "			first := recover()\n			defer func() {\n				if recover() != nil {\n					panic(first)\n				}\n			}()\n			t = c.Type(expr)\n"},
}

// assemble returns the files of the kernel's module but for the bindings: gophernotes as changed,
// and our overlay.
func assemble(root string) (files, error) {
	kernel, err := gophernotes.download()
	if err != nil {
		return nil, err
	}
	interpreter, err := gomacro.download()
	if err != nil {
		return nil, err
	}
	all := files{}
	for _, from := range []struct{ to, dir, pattern string }{
		{"", kernel, "*.go"},
		{"imports", filepath.Join(kernel, "imports"), "*.go"},
		{"", filepath.Join(root, "notebook", "kernel", "overlay"), "*"},
	} {
		if err := all.add(from.to, from.dir, from.pattern); err != nil {
			return nil, err
		}
	}
	for name := range all {
		if strings.HasSuffix(name, "_test.go") && name != "evaluate_test.go" && name != "guard_test.go" && name != "main_test.go" { // tests of others
			delete(all, name)
		}
	}
	if err := all.addModule("gomacro", interpreter); err != nil {
		return nil, err
	}
	sums, err := os.ReadFile(filepath.Join(root, "go.sum"))
	if err != nil {
		return nil, err
	}
	all["go.sum"] = append(all["go.sum"], sums...)
	all["go.mod"] = fmt.Appendf(all["go.mod"], "\nreplace github.com/euryale-dev/euryale => %q\n\nreplace %s => ./gomacro\n", root, gomacro.module)
	for _, c := range changes {
		if err := c.apply(all); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// apply makes the change, which must find its text once.
func (c change) apply(all files) error {
	text := string(all[c.file])
	if n := strings.Count(text, c.old); n != 1 {
		return fmt.Errorf("%s contains %q %d times: want once, so use the version that go.mod names", c.file, c.old, n)
	}
	all[c.file] = []byte(strings.Replace(text, c.old, c.new, 1))
	return nil
}

// download returns the folder of a module in the module cache.
func (s source) download() (string, error) {
	name := s.module + "@" + s.version
	cmd := exec.Command("go", "mod", "download", "-json", name)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GONOSUMDB="+s.module)
	cmd.Dir = os.TempDir()
	out, err := cmd.Output()
	var m struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &m); jsonErr != nil || m.Error != "" || err != nil {
		return "", fmt.Errorf("cannot download %s: %w", name, errors.Join(err, jsonErr, errors.New(m.Error)))
	}
	if m.Sum != s.sum {
		return "", fmt.Errorf("%s has the checksum %s: want %s", name, m.Sum, s.sum)
	}
	return m.Dir, nil
}

// goCommand runs the go command in a folder, which may add requirements to its go.mod. The error has
// what the command printed.
func goCommand(dir string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), buildEnvironment...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, out)
	}
	return nil
}

// compile runs a build of the go command with -v, which writes a line for each package that it compiles, and shows how many are done.
func compile(dir string, screen io.Writer, args []string) error {
	bar := term.NewBar(screen, term.BarSettings{Name: "packages compiled"})
	defer bar.Close()
	told, packages := bytes.Buffer{}, &lineWriter{each: func() { bar.Add(1, 0) }}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), buildEnvironment...)
	cmd.Stdout, cmd.Stderr = &told, io.MultiWriter(&told, packages)
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w\n%s", strings.Join(args, " "), err, &told)
	}
	return nil
}

// lineWriter calls a function for each line that is written to it.
type lineWriter struct{ each func() }

func (w *lineWriter) Write(b []byte) (int, error) {
	for range bytes.Count(b, []byte("\n")) {
		w.each()
	}
	return len(b), nil
}

// buildEnvironment lets the go command complete the go.mod of the build's folder.
var buildEnvironment = []string{"GOFLAGS=-mod=mod -buildvcs=false", "GOWORK=off"}

// moduleRoot returns the folder of this module.
func moduleRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		_, err := os.Stat(filepath.Join(dir, "notebook", "kernel", "overlay", "go.mod"))
		switch {
		case err == nil:
			return dir, nil
		case !errors.Is(err, fs.ErrNotExist):
			return "", err
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", errors.New("there is no notebook/kernel/overlay above this folder: run the command within the checkout")
		}
		dir = up
	}
}
