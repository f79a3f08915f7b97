// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package rtc

// Options is the former name of Settings.
//
// Deprecated: use Settings.
type Options = Settings
