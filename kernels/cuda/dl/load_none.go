// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build nocuda || !(linux || windows) || !(amd64 || arm64)

package dl

import "errors"

// unavailable says why no library can be opened.
const unavailable = "this binary was built without CUDA, by the tag nocuda or for a system that has none: build it for Linux or Windows on amd64 or arm64 without that tag"

func open(string) (uintptr, error) { return 0, errors.New(unavailable) }

func symbol(uintptr, string) uintptr { return 0 }

// Call calls the function at an address. In this build no library can be opened, so it panics.
func Call(uintptr, ...uintptr) uintptr { panic("dl: " + unavailable) }
