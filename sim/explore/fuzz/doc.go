// Package fuzz doubts the search. It plays random schedules in the engine, with waits of any
// length and faults of all kinds, and knows nothing of the instants that the search considers.
// What such a schedule violates, the search must find within bounds that contain it.
//
// player.go plays a schedule and adds up its cost. A wait costs a pause of each client that
// could act in the middle of a cycle; to come later, for the first time or again, is free.
// draw.go draws schedules, and shrink.go leaves out all that a violation doesn't need. [Play] has them
// play the schedules of a range of seeds. The tests ask the search, in search_test.go.
//
// Besides the catalogue they have a collection of locks as outsiders write them, most of them with
// one thing wrong: habits_test.go has them, and schedules_test.go, for each, a schedule that breaks
// it, and what the search makes of that today. A known miss is in that table. When it is mended
// the test fails, and the entry has to be changed; from then on the fuzzer insists on that lock.
package fuzz
