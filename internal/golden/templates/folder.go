// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package templates has the reference's library of stellar template spectra for tests.
package templates

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/internal/golden"
)

// Folder brings the files of the reference's library together, as rvspecfit keeps them: with the interpolator
// nn or grid.
func Folder(t testing.TB, kind string) string {
	dir := t.TempDir()
	link := func(name, as string) {
		b, err := os.ReadFile(golden.Path(t, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, as), b, 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	each := func(pattern string, rename func(base string) string) {
		for _, name := range golden.Glob(t, pattern) {
			base := name[strings.LastIndex(name, "/")+1:]
			link(name, rename(base))
		}
	}
	same := func(base string) string { return base }
	if kind == "nn" {
		each("spectra/nn/interp_nn_*.h5", func(base string) string { return strings.Replace(base, "interp_nn_", "interp_", 1) })
		each("spectra/nn/NNstate_*.sav", same)
	} else {
		each("spectra/library/interp_*.h5", same)
		each("spectra/library/interpdat_*.npy", same)
	}
	each("spectra/ccf/ccf_*.h5", same)
	each("spectra/ccf/ccfmod_*.npy", same)
	return dir
}
