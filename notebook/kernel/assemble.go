package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// gophernotes is the kernel that ours is made of.
const gophernotes = "github.com/gopherdata/gophernotes@v0.7.5"

// gophernotesSum is its checksum.
const gophernotesSum = "h1:hhQiBOwv4KR02mlYdHiHfLGybtC1QxatCnJqt75apVw="

// change is a text of a file of gophernotes and what replaces it.
type change struct{ file, old, new string }

// changes make the kernel run on today's Go and leave the evaluation of cells to our
// files.
var changes = []change{
	// The type must satisfy an interface of today's gomacro, which is checked at start.
	{"x_package.go", "JSON_  func(interface{}) string", "JSON_  func(interface{}) map[string]interface{}"},
	{"x_package.go", "proxy_JSONer) JSON() string", "proxy_JSONer) JSON() map[string]interface{}"},
	{"kernel.go", "vals, types, executionErr := doEval(ir, outerr, code)", "vals, types, executionErr := evaluate(ir, outerr, code, receipt.Publish)"},
	{"kernel.go", "	kernel.initRenderers()\n", "	kernel.initRenderers()\n	prepare(ir)\n"},
	{"kernel.go", "data := kernel.autoRenderResults(vals, types)", "data := kernel.rendered(vals, types)"},
	{"main.go", "	flag.Parse()\n", "	flag.Parse()\n	if flag.Arg(0) == \"run\" {\n		runFiles(flag.Args()[1:])\n		return\n	}\n"},
}

// assemble fills the folder with gophernotes as changed and with our overlay.
func assemble(dir, root string) error {
	overlay := filepath.Join(root, "notebook", "kernel", "overlay")
	if err := copyFiles(dir, overlay, "*"); err != nil {
		return err
	}
	if err := addSums(filepath.Join(dir, "go.sum"), filepath.Join(root, "go.sum")); err != nil {
		return err
	}
	if err := goCommand(dir, "mod", "edit", "-replace=github.com/euryale-dev/euryale="+root); err != nil {
		return err
	}
	source, err := download()
	if err != nil {
		return err
	}
	if err := copyFiles(dir, source, "*.go"); err != nil {
		return err
	}
	if err := copyFiles(filepath.Join(dir, "imports"), filepath.Join(source, "imports"), "*.go"); err != nil {
		return err
	}
	for _, c := range changes {
		if err := c.apply(dir); err != nil {
			return err
		}
	}
	return nil
}

// apply makes the change, which must find its text once.
func (c change) apply(dir string) error {
	name := filepath.Join(dir, c.file)
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if n := strings.Count(string(text), c.old); n != 1 {
		return fmt.Errorf("%s of %s has %q %d times: want once; is it another version?", c.file, gophernotes, c.old, n)
	}
	return os.WriteFile(name, []byte(strings.Replace(string(text), c.old, c.new, 1)), 0o644)
}

// download returns the folder of gophernotes in the module cache.
func download() (string, error) {
	cmd := exec.Command("go", "mod", "download", "-json", gophernotes)
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GONOSUMDB=github.com/gopherdata/gophernotes")
	cmd.Dir = os.TempDir()
	out, err := cmd.Output()
	var m struct{ Dir, Sum, Error string }
	if jsonErr := json.Unmarshal(out, &m); jsonErr != nil || m.Error != "" || err != nil {
		return "", fmt.Errorf("cannot download %s: %w", gophernotes, errors.Join(err, jsonErr, errors.New(m.Error)))
	}
	if m.Sum != gophernotesSum {
		return "", fmt.Errorf("%s has the checksum %s: want %s", gophernotes, m.Sum, gophernotesSum)
	}
	return m.Dir, nil
}

// copyFiles copies the regular files of a folder that match a pattern, but tests.
func copyFiles(to, from, pattern string) error {
	names, err := filepath.Glob(filepath.Join(from, pattern))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, name := range names {
		info, err := os.Stat(name)
		if err != nil {
			return err
		}
		if info.IsDir() || strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(name)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// addSums appends the checksums of another go.sum.
func addSums(name, other string) error {
	ours, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	theirs, err := os.ReadFile(other)
	if err != nil {
		return err
	}
	return os.WriteFile(name, append(ours, theirs...), 0o644)
}

// goCommand runs the go command in a folder, which may add requirements to its go.mod.
func goCommand(dir string, args ...string) error {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, os.Stderr, os.Stderr
	cmd.Env = buildEnvironment()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
	}
	return nil
}

// buildEnvironment lets the go command complete the go.mod of the build's folder.
func buildEnvironment() []string { return append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off") }

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
			return "", errors.New("run it within the checkout: no notebook/kernel/overlay above the folder")
		}
		dir = up
	}
}
