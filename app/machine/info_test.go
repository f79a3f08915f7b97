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
