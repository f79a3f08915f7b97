// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build !cu || !cgo

package drv

// Find opens the driver; see Open.
func Find() (Provider, error) {
	d, err := Open()
	if err != nil {
		return nil, err
	}
	return d, nil
}
