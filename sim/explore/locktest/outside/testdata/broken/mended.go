//go:build mended

package broken

func age() int { return 1 }
