// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package remote brings files from object stores, and results to them.
//
// A place is written as a URL: s3://bucket/prefix, azblob://container/prefix, file:///folder, and with
// the build tag gs also gs://bucket/prefix. What follows a question mark is for the store, such as
// s3://bucket/prefix?region=eu-central-1, or ?endpoint=http://host:9000&use_path_style=true&region=any for
// a server that speaks like S3. Credentials come from where the makers of each store look for them: the
// environment and their files.
package remote
