// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package netcdf_test

import (
	"slices"
	"testing"

	"github.com/euryale-dev/euryale/data/hdf5"
	"github.com/euryale-dev/euryale/data/netcdf"
)

// Attributes of the file, of groups and of variables come back, and compressed numbers
// are shuffled: that is what compresses them.
func TestAttributesComeBack(t *testing.T) {
	name := write(t, sample(t), netcdf.Settings{Gzip: 1})
	tree, err := netcdf.Open(name)
	must(t, err)
	post, err := tree.Group("posterior")
	must(t, err)
	theta := post.Var("theta")
	must(t, err)
	for what, pair := range map[string][2]string{
		"title of the file": {tree.Attrs["title"], "two groups"}, "library of the group": {post.Attrs["inference_library"], "euryale"},
		"units of the variable": {theta.Attrs["units"], "points"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s is %q, was %q", what, pair[0], pair[1])
		}
	}
	f, err := hdf5.Open(name)
	must(t, err)
	defer f.Close()
	d, err := f.Dataset("/posterior/theta")
	must(t, err)
	if got := d.Filters(); !slices.Equal(got, []string{"shuffle", "gzip", "fletcher32"}) {
		t.Errorf("filters %v, want shuffle, gzip and fletcher32", got)
	}
}
