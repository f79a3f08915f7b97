// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

//go:build gs

package remote

import _ "gocloud.dev/blob/gcsblob" // gs://
