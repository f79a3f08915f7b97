// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package kernels

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Go's assembler lacks instructions of NEON, which the generator writes as numbers with their meaning in a comment. LLVM's
// assembler makes the same numbers of the comments.
func TestEncodingOfNEON(t *testing.T) {
	assembler, err := exec.LookPath("llvm-mc")
	if err != nil {
		t.Skip("lacks llvm-mc (Debian: llvm)")
	}
	words := wordsOfNEON(t)
	var texts []string
	for text := range words {
		texts = append(texts, text)
	}
	cmd := exec.Command(assembler, "-triple=aarch64", "-show-encoding")
	cmd.Stdin = strings.NewReader(strings.Join(texts, "\n") + "\n")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	encodings := regexp.MustCompile(`encoding: \[0x(..),0x(..),0x(..),0x(..)\]`).FindAllSubmatch(out, -1)
	if len(encodings) != len(texts) {
		t.Fatalf("%d encodings of %d instructions: %s", len(encodings), len(texts), stderr.Bytes())
	}
	for i, e := range encodings {
		want, _ := strconv.ParseUint(string(e[4])+string(e[3])+string(e[2])+string(e[1]), 16, 32)
		if got := words[texts[i]]; got != want {
			t.Errorf("%s is written as %#08x, want %#08x", texts[i], got, want)
		}
	}
}

// wordsOfNEON returns the numbers in the assembly of arm64 by their comments.
func wordsOfNEON(t *testing.T) map[string]uint64 {
	t.Helper()
	files, err := filepath.Glob("*_arm64.s")
	if err != nil || len(files) < 7 {
		t.Fatalf("assembly of arm64: %v, %v", files, err)
	}
	words := map[string]uint64{}
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(b)) {
			number, text, ok := strings.Cut(strings.TrimSpace(line), " // ")
			if number, ok2 := strings.CutPrefix(number, "WORD $"); ok && ok2 {
				w, err := strconv.ParseUint(number, 0, 32)
				if old, known := words[text]; err != nil || known && old != w {
					t.Fatalf("%s: %s is also %#08x (%v)", f, strings.TrimSpace(line), old, err)
				}
				words[text] = w
			}
		}
	}
	return words
}

// Whoever changes the kernels of AVX2 generates those of NEON again: they have the same names and signatures.
func TestNEONHasTheKernelsOfAVX2(t *testing.T) {
	files, err := filepath.Glob("*_arm64.s")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		kind := strings.TrimSuffix(f, "_arm64.s")
		want, got := stubs(t, kind+"_amd64.go", "AVX2"), stubs(t, kind+"_arm64.go", "NEON")
		if len(want) == 0 || !slices.Equal(got, want) {
			t.Errorf("%s: %d kernels of NEON and %d of AVX2 differ: run make kernels", kind, len(got), len(want))
		}
	}
}

// stubs returns the functions of a level in a file, without the name of the level.
func stubs(t *testing.T, file, level string) (list []string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if before, after, ok := strings.Cut(line, level+"("); ok && strings.HasPrefix(line, "func ") {
			list = append(list, before+after)
		}
	}
	return list
}
