// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func (a *app) train() *cobra.Command {
	return thing("train", "Train connections and networks", withDevice(withResume(withFolder(a.trainConnectome()))), onProcessor(a.trainSpectrum()))
}
