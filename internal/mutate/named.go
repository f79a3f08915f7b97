// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// readNamed reads the faults that tests must notice, whose reason is a package and a pattern of tests.
func readNamed(root string) ([]known, error) {
	text, err := os.Open(filepath.Join(root, "internal/mutate/planted.txt"))
	if err != nil {
		return nil, err
	}
	defer text.Close()
	return readKnown(text)
}

// planted returns the fault in its file.
func (k known) planted(root string) (fault, []byte, error) {
	source, err := os.ReadFile(filepath.Join(root, k.path))
	if err != nil {
		return fault{}, nil, err
	}
	if n := strings.Count(string(source), k.before); n != 1 {
		return fault{}, nil, fmt.Errorf("mutate: %s has the line %q %d times: mend planted.txt", k.path, k.before, n)
	}
	at := strings.Index(string(source), k.before)
	return fault{path: k.path, start: at, end: at + len(k.before), text: k.after, before: k.before, after: k.after}, source, nil
}

// tests returns the package and the pattern of the tests that must notice the fault.
func (k known) tests() (pkg, pattern string) {
	pkg, pattern, _ = strings.Cut(k.why, " ")
	return pkg, pattern
}

// plantNamed plants each of the faults whose path matches a pattern and runs the tests that must notice it.
func plantNamed(out io.Writer, root, only string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	all, err := readNamed(root)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "planted")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	var sum score
	for _, k := range all {
		if !chosen.MatchString(k.path) {
			continue
		}
		sum.tried++
		noticed, err := k.noticed(&trial{root: root, work: work, limit: 10 * time.Minute})
		if err != nil {
			return err
		}
		if noticed {
			sum.killed++
			continue
		}
		fmt.Fprintf(out, "survived: %s\n  - %s\n  + %s\n", k.path, k.before, k.after)
	}
	fmt.Fprintf(out, "%v\n", sum)
	if sum.killed < sum.tried {
		return errors.New("mutate: faults survived: write the tests that notice them")
	}
	return nil
}

// noticed reports whether the tests fail with the fault.
func (k known) noticed(t *trial) (bool, error) {
	f, source, err := k.planted(t.root)
	if err != nil {
		return false, err
	}
	overlay, err := t.overlay(f, source)
	if err != nil {
		return false, err
	}
	pkg, pattern := k.tests()
	binary := filepath.Join(t.work, "planted.test")
	if err := t.compile(pkg, binary, "-overlay", overlay); err != nil {
		return false, err
	}
	cmd := exec.Command(binary, "-test.failfast", "-test.run", pattern, "-test.timeout", t.limit.String())
	cmd.Dir = filepath.Join(t.root, pkg)
	return cmd.Run() != nil, nil
}
