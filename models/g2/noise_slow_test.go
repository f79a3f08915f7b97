// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build slow

package g2_test

import "testing"

// All models, with three times as many curves.
func TestNoiseAgreesWithNoModelAtLength(t *testing.T) {
	noiseAgreesWith(t, 120, "single", "stretched", "double", "aps_single", "aps_double")
}
