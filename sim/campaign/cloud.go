//go:build !nocloud

package main

// The drivers by whose URLs results can be kept elsewhere than in a folder.
import (
	_ "gocloud.dev/blob/azureblob"
	_ "gocloud.dev/blob/gcsblob"
	_ "gocloud.dev/blob/s3blob"
)
