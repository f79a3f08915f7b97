// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

package remote_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/euryale-dev/euryale/cluster/remote"
)

// Results go to an object store and come back. The store of this example is a folder; with the URL s3://bucket/run/results
// it would be one of S3.
func Example() {
	dir, err := os.MkdirTemp("", "remote")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	results, store := filepath.Join(dir, "results"), filepath.Join(dir, "store")
	for _, d := range []string{results, store} {
		if err := os.Mkdir(d, 0o755); err != nil {
			log.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(results, "part-000001"), []byte("the first results"), 0o644); err != nil {
		log.Fatal(err)
	}

	ctx := context.Background()
	bucket, err := remote.Open(ctx, "file://"+filepath.ToSlash(store))
	if err != nil {
		log.Fatal(err)
	}
	defer bucket.Close()
	for range 2 {
		moved, err := bucket.Push(ctx, results)
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d file copied, %d bytes; %d there already\n", moved.Files, moved.Bytes, moved.Same)
	}
	if _, err := bucket.Pull(ctx, filepath.Join(dir, "copy")); err != nil {
		log.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "copy", "part-000001"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(string(text))
	// Output:
	// 1 file copied, 17 bytes; 0 there already
	// 0 file copied, 0 bytes; 1 there already
	// the first results
}
