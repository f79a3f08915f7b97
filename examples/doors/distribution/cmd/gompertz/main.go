// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Command gompertz is euryale with what package gompertz adds.
package main

import (
	"os"

	"github.com/euryale-dev/euryale/cli"

	_ "example.org/distribution"
)

func main() { os.Exit(cli.Main()) }
