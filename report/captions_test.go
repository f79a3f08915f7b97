// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/euryale-dev/euryale/data/nexus"
	"github.com/euryale-dev/euryale/demo"
	"github.com/euryale-dev/euryale/viz"
)

// Below each picture of a page stands what a reader can see in it.
func TestPicturesOfPagesSayWhatIsSeen(t *testing.T) {
	file := demo.Correlations()
	r, err := nexus.Read(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]*Page{"result": Correlation(r, nil, Settings{})}
	for page, p := range pages {
		check := func(name string, f *viz.Figure) {
			if said := strings.TrimSpace(f.Note + " " + f.Caption); len(strings.Fields(said)) < 8 {
				t.Errorf("%s: below the picture %s stands %q: add a line to captions", page, name, said)
			}
		}
		for _, one := range p.Album.pictures {
			check(one.name, one.figure)
		}
	}
	d := viz.Draws{Names: []string{"a", "b"}, Energy: [][]float64{{1, 2, 3, 4, 3, 2}}, X: [][][]float64{{{1, 2, 3, 1, 2, 3}}, {{3, 1, 4, 1, 5, 9}}}}
	for _, one := range posteriorAlbum(d, Settings{}).pictures {
		if said := one.figure.Note + one.figure.Caption; len(strings.Fields(said)) < 8 {
			t.Errorf("below %s stands %q", one.name, said)
		}
	}
	for name, text := range captions {
		if !strings.HasSuffix(text, ".") || strings.ToUpper(text[:1]) != text[:1] {
			t.Errorf("the caption of %s is no sentence: %s", name, text)
		}
	}
}
