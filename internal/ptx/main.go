// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command ptx writes the PTX of the kernels in packages basic and cuda: go run ./internal/ptx.
// It needs clang++ 19 and libclc 19 (Debian: clang-19, libclc-19).
package main

import (
	"crypto/sha256"
	_ "embed"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/euryale-dev/euryale/kernels/cuda"
	"github.com/euryale-dev/euryale/kernels/cuda/basic"
	"github.com/euryale-dev/euryale/kernels/cuda/rtc"
)

//go:embed cuda.h
var header string

// library holds libclc's functions for NVIDIA's processors.
const library = "/usr/lib/clc/nvptx64--.bc"

func main() {
	log.SetFlags(0)
	if err := write("kernels/cuda/ptx", cuda.PhiloxSource()); err != nil {
		log.Fatal(err)
	}
	for _, s := range basic.Sources() {
		if err := write("kernels/cuda/basic/ptx", s); err != nil {
			log.Fatal(err)
		}
	}
}

// write compiles a program for compute capability 7.5, which all later GPUs run.
func write(folder string, s rtc.Source) error {
	tmp, err := os.MkdirTemp("", "ptx")
	if err != nil {
		return err
	}
	defer os.RemoveAll(tmp)
	in, out := filepath.Join(tmp, s.Name), filepath.Join(tmp, "out.ptx")
	if err := os.WriteFile(filepath.Join(tmp, "cuda.h"), []byte(header), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(in, []byte(s.Text), 0o644); err != nil {
		return err
	}
	cmd := exec.Command("clang++-19", "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_75", "--cuda-feature=+ptx64", "-nocudainc", "-nocudalib", "-fms-extensions",
		"-std=c++17", "-O2", "-fno-builtin", "-fno-unroll-loops", "-ffp-contract=on", "-S", "-include", filepath.Join(tmp, "cuda.h"),
		"-Xclang", "-mlink-builtin-bitcode", "-Xclang", library, "-o", out, in)
	if b, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd.Args, err, b)
	}
	b, err := os.ReadFile(out)
	if err != nil {
		return err
	}
	if external := regexp.MustCompile(`(?m)^\.extern .*`).FindString(string(b)); external != "" {
		return fmt.Errorf("%s: something is missing: %s", s.Name, external)
	}
	text := fmt.Sprintf("// %s, sha256 %x, by clang 19 with libclc 19: see LICENSES.md in kernels/cuda/basic/ptx\n%s", s.Name, sha256.Sum256([]byte(header+s.Text)), comments.ReplaceAll(b, nil))
	return os.WriteFile(filepath.Join(folder, strings.TrimSuffix(s.Name, ".cu")+".ptx"), []byte(text), 0o644)
}

// comments are what clang notes beside instructions, and empty lines.
var comments = regexp.MustCompile(`(?m)^[ \t]*//.*\n|[ \t]*//.*$|^[ \t]*\n`)
