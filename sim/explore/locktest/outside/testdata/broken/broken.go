//go:build !mended

// Package broken doesn't compile unless it is mended by a tag.
package broken

func age() int { return "old" }
