// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package spectra

import (
	"encoding/json"
	"strings"
	"testing"
)

// The document of fits of DESI's files has no numbers of stars, and a table of it is refused with the file that has them.
func TestTableOfDESI(t *testing.T) {
	doc := json.RawMessage(`{"engine":"spectra","files":[{"file":"coadd-1.fits","table":"rvtab_coadd-1.fits"}]}`)
	if _, err := tableOfStars([]json.RawMessage{doc}); err == nil || !strings.Contains(err.Error(), "RVTAB of rvtab_coadd-1.fits") {
		t.Error(err)
	}
	if got, err := tableOfStars([]json.RawMessage{[]byte(`{"engine":"spectra","files":["star.csv"],"stars":[]}`)}); err != nil || len(got.Columns) == 0 {
		t.Error(got, err)
	}
}
