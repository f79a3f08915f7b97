// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package clitest runs the command line in tests, for packages that add something to it: a model, a
// distribution, a picture.
//
//	s := clitest.New(t)
//	s.Write("problem.json", problem)
//	s.Run("sample", "expr", "--problem", "problem.json", "--out", "run")
//	s.Run("plot", "pair", "run", "pair.svg")
//	s.Picture("pair.svg")
package clitest

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/cli"
)

// Session is a temporary folder in which commands run. A test has at most one and cannot run in parallel
// with others, because the folder becomes the working directory of the process.
type Session struct {
	Dir string // path of the folder
	t   testing.TB
}

// New makes an empty folder and moves there until the end of the test.
func New(t testing.TB) *Session {
	t.Helper()
	s := &Session{Dir: t.TempDir(), t: t}
	t.Chdir(s.Dir)
	return s
}

// Write writes a file of the folder.
func (s *Session) Write(name, text string) {
	s.t.Helper()
	if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(text), 0o644); err != nil {
		s.t.Fatal(err)
	}
}

// Run runs a command and returns what it writes to standard output. The test fails at once if the exit
// code is not 0.
func (s *Session) Run(args ...string) string {
	s.t.Helper()
	code, out, errs := s.Exit(args...)
	if code != 0 {
		s.t.Fatalf("%s exits with %d: %s", strings.Join(args, " "), code, errs)
	}
	return out
}

// Exit runs a command and returns its exit code, its standard output and its standard error.
func (s *Session) Exit(args ...string) (code int, stdout, stderr string) {
	s.t.Helper()
	var out, errs bytes.Buffer
	code = cli.Run(s.t.Context(), args, &out, &errs)
	return code, out.String(), errs.String()
}

// JSON runs a command with --json and reads its document into v, as json.Unmarshal does.
func (s *Session) JSON(v any, args ...string) {
	s.t.Helper()
	out := s.Run(append(args, "--json")...)
	if err := json.Unmarshal([]byte(out), v); err != nil {
		s.t.Fatalf("%s --json: %v: %.200s", strings.Join(args, " "), err, out)
	}
}

// Picture checks that a file of the folder is a picture: SVG, PNG or PDF.
func (s *Session) Picture(name string) {
	s.t.Helper()
	b, err := os.ReadFile(filepath.Join(s.Dir, name))
	if err != nil {
		s.t.Error(err)
		return
	}
	for _, begin := range []string{"<svg", "<?xml", "\x89PNG", "%PDF"} {
		if bytes.HasPrefix(b, []byte(begin)) {
			return
		}
	}
	s.t.Errorf("%s is not a picture: it begins with %.20q", name, b)
}
