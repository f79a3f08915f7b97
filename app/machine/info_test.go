// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package machine_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/app"
	"github.com/euryale-dev/euryale/app/machine"
	"github.com/euryale-dev/euryale/internal/gpubench"
)

// Each of NVIDIA's libraries is listed, found or not, with what to set; the document lists every place.
func TestInfoListsLibraries(t *testing.T) {
	none := filepath.Join(t.TempDir(), "nothing.so")
	names := []string{"cuBLAS", "cuBLASLt", "cuFFT", "cuSOLVER", "cuDNN", "NCCL"}
	for _, name := range names {
		t.Setenv("EURYALE_LIB"+strings.ToUpper(name), none)
	}
	var out, errs bytes.Buffer
	if code := app.Run(t.Context(), []string{"info"}, &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	for _, name := range names {
		if !strings.Contains(out.String(), "\n"+name+" ") {
			t.Errorf("the text lacks %s:\n%s", name, out.String())
		}
	}
	out.Reset()
	if code := app.Run(t.Context(), []string{"info", "--json"}, &out, &errs); code != 0 {
		t.Fatalf("exit %d: %s", code, errs.String())
	}
	var d machine.InfoDoc
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Libraries) != len(names) {
		t.Fatalf("got %+v", d.Libraries)
	}
	for i, l := range d.Libraries {
		if l.Name != names[i] || l.Missing == "" || l.Path != "" {
			t.Errorf("got %+v", l)
		}
	}
}

// What the model expects needs no GPU; a card that it does not know, or one without --explain, is a mistake of usage.
func TestBenchExplainsWithoutAGPU(t *testing.T) {
	run := func(args ...string) (string, string, int) {
		var out, errs bytes.Buffer
		code := app.Run(t.Context(), append([]string{"bench", "gpu", "--only", "sort 8K"}, args...), &out, &errs)
		return out.String(), errs.String(), code
	}
	if text, errs, code := run("--explain", "--card", "h200"); code != 0 || !strings.Contains(text, "expects of one H200; nothing was measured") || !strings.Contains(text, "eu_sort_2") {
		t.Errorf("exit %d: %s\n%s", code, errs, text)
	}
	if text, errs, code := run("--explain", "--card", "L4", "--csv"); code != 0 || strings.Count(text, "\n") != 4 {
		t.Errorf("exit %d: %s\n%s", code, errs, text)
	}
	text, errs, code := run("--explain", "--card", "L4", "--json")
	var d gpubench.Explanation
	if err := json.Unmarshal([]byte(text), &d); code != 0 || err != nil || d.Card != "L4" || len(d.Rows) != 1 || len(d.Rows[0].Launches) != 3 || d.Rows[0].Measured != 0 {
		t.Errorf("exit %d: %s\n%s %v", code, errs, text, err)
	}
	for _, args := range [][]string{{"--explain", "--card", "H20"}, {"--card", "H100"}, {"--explain", "--card", "H100", "--only", "nothing"}} {
		if _, errs, code := run(args...); code != 64 || errs == "" {
			t.Errorf("%v: exit %d: %s", args, code, errs)
		}
	}
}
