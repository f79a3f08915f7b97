// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !js

package term

import "github.com/vbauerster/mpb/v8/cwriter"

// terminal writes frames over each other.
type terminal = cwriter.Writer

var newTerminal = cwriter.New
