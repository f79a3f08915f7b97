// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package gradtest

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/autodiff"
)

// HostC compiles the CUDA expression of every elementwise operation with the C compiler of this
// machine and compares it with the Go function: a test of the GPU's arithmetic without a GPU. It
// skips the test if there is no C compiler.
func HostC(t *testing.T, all []*autodiff.Op) {
	t.Helper()
	cc, err := exec.LookPath("cc")
	if err != nil {
		t.Skip("lacks a C compiler, cc")
	}
	var ops []*autodiff.Op
	for _, op := range all {
		switch {
		case !op.IsElementwise():
		case op.CUDA == "":
			t.Errorf("%s has no CUDA expression: set CUDA, so that programs with it run on a GPU", op.Name)
		default:
			wantDomain(t, op)
			ops = append(ops, op)
		}
	}
	if len(ops) == 0 {
		return
	}
	// number of points, and tolerance; C's lgamma and pow are the least accurate
	const points, tol = 2000, 2e-13
	in := make([]float64, 3*points*len(ops))
	for k, op := range ops {
		name := fnv.New64()
		name.Write([]byte(op.Name)) // points that another operation does not move
		rng := rand.New(rand.NewPCG(3, name.Sum64()))
		for i := range 3 * points {
			in[3*points*k+i] = op.Domain.Lo + rng.Float64()*(op.Domain.Hi-op.Domain.Lo)
		}
	}
	dir := t.TempDir()
	bin, fault := compileC(t, dir, cc, program(ops, points))
	if fault != "" {
		found := false
		for _, op := range ops {
			if _, fault := compileC(t, dir, cc, program([]*autodiff.Op{op}, points)); fault != "" {
				found = true
				t.Errorf("%s: the C compiler refuses its CUDA expression %q: write it in C, with the arguments x, y and z:\n%s", op.Name, op.CUDA, fault)
			}
		}
		if !found {
			t.Errorf("the C compiler refuses the CUDA expressions together, though not one by one: do their helpers have the same name?\n%s", fault)
		}
		return
	}
	got := runC(t, bin, in, points*len(ops))
	for k, op := range ops {
		for i := range points {
			at := 3 * (points*k + i)
			want := op.Eval(in[at : at+op.Arity]...)
			if math.IsNaN(want) && math.IsNaN(got[points*k+i]) {
				continue
			}
			if d := math.Abs(got[points*k+i] - want); !(d <= tol*max(math.Abs(want), 1e-3)) {
				t.Errorf("%s%v: CUDA text gives %.17g, Go gives %.17g", op.Name, in[at:at+op.Arity], got[points*k+i], want)
				break
			}
		}
	}
}

// program returns a C program that reads triples x, y, z and writes the value of each operation.
func program(ops []*autodiff.Op, points int) string {
	var src strings.Builder
	src.WriteString("#define _GNU_SOURCE\n#include <math.h>\n#include <stdio.h>\n#define __device__ static\n")
	seen := map[string]bool{}
	for _, op := range ops {
		for _, f := range strings.SplitAfter(op.Helper, "\n}\n") { // one function each
			if !seen[f] {
				seen[f] = true
				src.WriteString(f)
			}
		}
	}
	src.WriteString("int main(void) {\n\tdouble v[3], out;\n")
	for _, op := range ops {
		fmt.Fprintf(&src, "\tfor (int i = 0; i < %d; i++) { if (fread(v, 8, 3, stdin) != 3) return 1;"+
			" double x = v[0], y = v[1], z = v[2]; (void)x; (void)y; (void)z; out = %s; fwrite(&out, 8, 1, stdout); }\n", points, op.CUDA)
	}
	src.WriteString("\treturn 0;\n}\n")
	return src.String()
}

// compileC compiles a C program in dir and returns the path of the result, or what the compiler said.
func compileC(t *testing.T, dir, cc, src string) (bin, fault string) {
	t.Helper()
	file, bin := filepath.Join(dir, "ops.c"), filepath.Join(dir, "ops")
	if err := os.WriteFile(file, []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	if msg, err := exec.Command(cc, "-O0", "-ffp-contract=off", "-o", bin, file, "-lm").CombinedOutput(); err != nil {
		return "", cmp.Or(string(msg), err.Error())
	}
	return bin, ""
}

func runC(t *testing.T, bin string, in []float64, n int) []float64 {
	t.Helper()
	cmd := exec.Command(bin)
	raw, err := binary.Append(nil, binary.NativeEndian, in)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin = bytes.NewReader(raw)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	values := make([]float64, n)
	if _, err := binary.Decode(out, binary.NativeEndian, values); err != nil {
		t.Fatal(err)
	}
	return values
}
