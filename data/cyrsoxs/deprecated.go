// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cyrsoxs

// ReadOptions is the former name of ReadSettings.
//
// Deprecated: use ReadSettings.
type ReadOptions = ReadSettings

// WriteOptions is the former name of WriteSettings.
//
// Deprecated: use WriteSettings.
type WriteOptions = WriteSettings
