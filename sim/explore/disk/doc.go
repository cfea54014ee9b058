// Package disk keeps the visited set of a search on disk, where it doesn't fit into memory, and
// lets another process go on with the search when its own has been killed.
//
// # Levels
//
// A search goes level by level. The states of a level are read from disk, and their successors
// are added to a hash table in memory, which drops those that it has. When its memory is full,
// it is sorted and written to disk as a run, and emptied. At the end of the level all these runs are
// merged with each other and with the table in memory, and against the runs of all earlier
// levels (delayed duplicate detection: Stern and Dill 1998, Korf 2003). The remaining states are the
// next level. So a state counts once, as in memory, and is followed once, and nothing is
// taken for visited because of a digest: states are compared whole. While the table has all
// states of the search, nothing is merged. Runs of earlier levels are merged into greater ones
// from time to time, so that there are few of them.
//
// # A state on disk
//
// A state is written as the ids that it has in memory, 4 to 6 bytes of them on average: in
// ascending order, a state has most ids in common with the one before it. The meaning of an id
// differs from process to process. Therefore the tables that give them are written, too: they
// are append-only, so each level adds its new entries to one file (Tables). A process that goes on
// reads them in the order in which they were made, and each entry gets the id that it had. The
// alternative was a digest of each state that is the same in every process. It would save these
// files, a few megabytes, and cost 20 bytes a state, a collision that nobody notices, and a
// second representation of the states that are still to be followed. To have client code run
// again for each id, instead of reading tables, would take longer, and show nothing that the check
// below doesn't.
//
// # Files are read as they were written
//
// Blocks of runs and of tables have checksums. A level ends when its run and its tables are
// synced, and a manifest that names them has taken the place of the last by a rename. A process
// that is killed, or whose disk is full, leaves the manifest of its last level, and files that
// no manifest names, which the next removes. Files of an earlier level go when the
// manifest of the next is on disk.
//
// The manifest says what the search depends on: lock, bounds, format, and the digest of the
// program. A directory with another search is refused by the name of the claim that differs. The same program
// needn't mean the same lock: one that runs in a process of its own may have changed. So the
// entries that a new process makes for itself, first operations and commands, must equal
// those that it reads; and then the search has a thousand histories run again
// ([behaviour.Clients.Recheck]).
package disk
