// Package docs holds the documents, and what the program and they must say alike.
// Everything in them that a program can make is made by it: go test ./docs -update
// makes it anew, and a test fails when it is stale.
package docs
