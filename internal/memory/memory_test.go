// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package memory

import "testing"

func TestLimit(t *testing.T) {
	if n := Limit(); n < 1<<26 {
		t.Errorf("%s in all", Text(n))
	}
	for n, want := range map[int64]string{0: "0 bytes", 1023: "1023 bytes", 1024: "1 KiB", 3 << 29: "1.5 GiB", 1 << 62: "4 EiB"} {
		if got := Text(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
