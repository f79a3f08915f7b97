// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package app

// What tests outside the package take from it.
var Fields = fields
