//go:build race

package testenv

// Raced: the program looks for data races, which makes everything about ten times as slow.
const Raced = true
