package trace

import "time"

// Epoch is what every wall clock reads at the start of a run, unless it is set
// wrong: early enough for the stamps that some strategies store to be short.
var Epoch = time.Unix(1000, 0).UTC()

// MaxTime is how long a run may last. No clock that a configuration allows overflows
// within it.
const MaxTime = 25 * 365 * 24 * time.Hour
