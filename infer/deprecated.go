// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package infer

// Config is the former name of Settings.
//
// Deprecated: use Settings.
type Config = Settings

// ADVIConfig is the former name of ADVISettings.
//
// Deprecated: use ADVISettings.
type ADVIConfig = ADVISettings

// LaplaceConfig is the former name of LaplaceSettings.
//
// Deprecated: use LaplaceSettings.
type LaplaceConfig = LaplaceSettings

// ChEESConfig is the former name of ChEESSettings.
//
// Deprecated: use ChEESSettings.
type ChEESConfig = ChEESSettings

// EnsembleConfig is the former name of EnsembleSettings.
//
// Deprecated: use EnsembleSettings.
type EnsembleConfig = EnsembleSettings

// PathfinderConfig is the former name of PathfinderSettings.
//
// Deprecated: use PathfinderSettings.
type PathfinderConfig = PathfinderSettings

// SBCConfig is the former name of SBCSettings.
//
// Deprecated: use SBCSettings.
type SBCConfig = SBCSettings

// StanConfig is the former name of StanSettings.
//
// Deprecated: use StanSettings.
func StanConfig() Settings { return StanSettings() }
