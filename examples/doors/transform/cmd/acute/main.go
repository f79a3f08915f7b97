// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command acute is euryale with what package acute adds.
package main

import (
	"os"

	"github.com/euryale-dev/euryale/cli"

	_ "example.org/transform"
)

func main() { os.Exit(cli.Main()) }
