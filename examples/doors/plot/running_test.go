// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package running

import (
	"bytes"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/viz"
)

func TestRunning(t *testing.T) {
	d := viz.Draws{Names: []string{"a", "b"}, X: [][][]float64{{{1, 2, 3}, {2, 2, 2}}, {{0, 1, 0}, {1, 0, 1}}}}
	f, err := Draw(d, "a")
	if err != nil {
		t.Fatal(err)
	}
	if svg := string(f.SVG()); !strings.Contains(svg, "Running means") || !strings.Contains(svg, "path") {
		t.Error(svg)
	}
	if !bytes.HasPrefix(f.PNG(), []byte("\x89PNG")) {
		t.Error("no PNG")
	}
	if _, err := Draw(d, "c"); err == nil {
		t.Error("a quantity that is not there is drawn")
	}
	found := false
	for _, k := range viz.Kinds() {
		found = found || k.Name == "running"
	}
	if !found {
		t.Error("the command line does not know the picture")
	}
}
