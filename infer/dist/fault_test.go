// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package dist_test

import (
	"strings"
	"testing"

	ad "github.com/euryale-dev/euryale/autodiff"
	"github.com/euryale-dev/euryale/infer/dist"
)

// A node of a faulty distribution names the package once.
func TestFaultNamesThePackageOnce(t *testing.T) {
	err := dist.Mixture([]float64{1, 2}, dist.Normal(0, 1)).LogProb(ad.Scalar(1)).Err()
	if err == nil || strings.Count(err.Error(), "dist: ") != 1 || strings.Contains(err.Error(), "autodiff: ") {
		t.Error(err)
	}
}
