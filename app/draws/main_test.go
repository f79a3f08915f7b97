// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package draws_test

import (
	"testing"

	"github.com/euryale-dev/euryale/app/apptest"
)

func TestMain(m *testing.M) { apptest.Main(m) }
