//go:build !race

package tui

const monkeySteps = 100_000
