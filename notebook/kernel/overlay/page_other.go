// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !js

package main

import "log"

// runInPage is there for kernels compiled to WebAssembly.
func runInPage() { log.Fatal("page: this kernel is none for a page") }
