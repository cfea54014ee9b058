//go:build race

package tui

// monkeySteps is fewer where every access to memory is watched.
const monkeySteps = 5_000
