// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package disttest_test

import "testing"

func TestFamilyOfOnesOwn(t *testing.T) { checkFamily(t) }
