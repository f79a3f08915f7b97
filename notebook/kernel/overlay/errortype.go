// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package main

import "reflect"

var errorType = reflect.TypeFor[error]()
