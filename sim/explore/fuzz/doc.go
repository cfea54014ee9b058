// Package fuzz doubts the search. It plays random schedules in the engine, with waits of any
// length and faults of all kinds, and knows nothing of the instants that the search considers.
// The search must find the violations of such a schedule within bounds that contain it.
//
// Package trials plays and shrinks the schedules; searches doubt their claims by it as well (explore.Options.Trials). Here
// they don't, so that a search's misses show. player_test.go draws the configurations of a lock's schedules,
// and search_test.go asks the search.
//
// Besides the catalogue they have a collection of locks as outsiders write them, most of them with
// one thing wrong: habits_test.go has them, and schedules_test.go, for each, a schedule that breaks
// it, and the search's result today. A known miss is in that table. When it is mended
// the test fails, and the entry has to be changed; from then on the fuzzer insists on that lock.
package fuzz
