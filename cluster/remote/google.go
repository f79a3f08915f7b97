//go:build gs

package remote

import _ "gocloud.dev/blob/gcsblob" // gs://
