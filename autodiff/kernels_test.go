// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package autodiff

import (
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/kernels"
)

// Every form in package kernels belongs to one operation, which names it.
func TestEveryKernelIsUsed(t *testing.T) {
	used := map[string]string{"sumsq": "sum", "fma": "sum", "fma_s": "sum"} // see summand
	for _, op := range Ops() {
		for _, k := range []string{op.prim.Kernel, op.prim.ByNumber} {
			if k == "" {
				continue
			}
			if used[k] != "" {
				t.Errorf("%s and %s have the kernel %s", used[k], op.Name, k)
			}
			used[k] = op.Name
		}
		if k := op.prim.NumberBy; k != "" && k != op.prim.ByNumber {
			used[k] = op.Name
		}
	}
	known := map[string]bool{}
	for operands := range 4 {
		for _, k := range kernels.Names(operands) {
			if known[k] = true; used[k] == "" {
				t.Errorf("no operation has the kernel %s", k)
			}
		}
	}
	for k, op := range used {
		if !known[k] {
			t.Errorf("%s has a kernel %s, which there is not: %s", op, k, strings.Join(kernels.Names(1), " "))
		}
	}
}
