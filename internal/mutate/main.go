// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command mutate plants faults in the code, one at a time, and checks whether the tests notice them:
// another operator, a constant that is slightly off, a dropped error, an omitted call, the end of a
// slice off by one. It prints the score of each package and the faults that survived.
//
//	go run ./internal/mutate -n 10 -only data/
package main

import (
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
)

func main() {
	n := flag.Int("n", 10, "faults per package, of those that compile")
	seed := flag.Uint64("seed", 1, "of the sample")
	only := flag.String("only", "", "packages to try, a regular expression (default all)")
	lines := flag.String("lines", "", "try all faults of lines that match this regular expression, PATH:LINE: TEXT")
	root := flag.String("root", ".", "of the repository")
	named := flag.Bool("planted", false, "plant the faults of internal/mutate/planted.txt, each for the tests that must notice it")
	flag.Parse()
	if *named {
		if err := plantNamed(os.Stdout, *root, *only); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if err := mutate(os.Stdout, *root, *n, *seed, *only, *lines); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func mutate(out io.Writer, root string, n int, seed uint64, only, lines string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	work, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.Mkdir(filepath.Join(work, "reference"), 0o755); err != nil {
		return err
	}
	chosen, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	text, err := os.Open(filepath.Join(root, "internal/mutate/harmless.txt"))
	if err != nil {
		return err
	}
	defer text.Close()
	harmless, err := readKnown(text)
	if err != nil {
		return err
	}
	var sum score
	for _, t := range targets {
		if !chosen.MatchString(t.pkg) {
			continue
		}
		s, err := tryPackage(out, &trial{root: root, work: work, short: t.short}, t, harmless, n, seed, lines)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%-20s %v\n", t.pkg, s)
		sum.killed += s.killed
		sum.tried += s.tried
	}
	fmt.Fprintf(out, "%-20s %v\n", "all", sum)
	return nil
}

type score struct{ killed, tried int }

func (s score) String() string {
	return fmt.Sprintf("%d of %d noticed, %.0f %%", s.killed, s.tried, 100*float64(s.killed)/float64(max(1, s.tried)))
}

// tryPackage tries faults of a package in random order until n of them have compiled.
func tryPackage(out io.Writer, t *trial, of target, harmless []known, n int, seed uint64, lines string) (s score, err error) {
	paths, err := of.sources(t.root)
	if err != nil {
		return s, err
	}
	all, err := faultsOf(t.root, paths)
	if err != nil {
		return s, err
	}
	all = without(all, harmless)
	if lines != "" {
		match, err := regexp.Compile(lines)
		if err != nil {
			return s, err
		}
		var some []fault
		for _, f := range all {
			if match.MatchString(fmt.Sprintf("%s:%d: %s", f.path, f.line, f.before)) {
				some = append(some, f)
			}
		}
		if all, n = some, len(some); n == 0 {
			return s, nil
		}
	}
	pkgs := append([]string{of.pkg}, of.also...)
	if err := t.begin(pkgs); err != nil {
		return s, err
	}
	random := rand.New(rand.NewPCG(seed, 0))
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, f := range all {
		if s.tried == n {
			break
		}
		result, err := t.on(f, pkgs)
		if err != nil {
			return s, err
		}
		switch result {
		case killed:
			s.killed++
			s.tried++
		case survived:
			s.tried++
			fmt.Fprintf(out, "survived: %s:%d (%s)\n  - %s\n  + %s\n", f.path, f.line, f.kind, f.before, f.after)
		}
	}
	return s, nil
}
