// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package xpcs

import (
	"context"

	"github.com/euryale-dev/euryale/app/exit"
	"github.com/euryale-dev/euryale/app/frame"
)

// runMaskPage refuses: a page serves no other.
func runMaskPage(context.Context, *frame.App, string, maskFlags) error {
	return exit.Usage("--edit opens a page of its own, which a page cannot: give the shapes as flags")
}
