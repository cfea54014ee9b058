// Package explore searches every schedule of a lock within bounds: it is an explicit-state
// model checker whose transitions are executed by the lock's real code and by real Redis commands.
//
// # Packages
//
//   - explore itself has the search, and the least schedules of the violations it finds.
//   - space has the states and the choices that are searched.
//   - bounds delimits that: so many clients, cycles and faults.
//   - flight has that part of a state which is under way: requests that are held up or could
//     arrive once more. naming renames clients and tokens, so that situations which differ in
//     names alone are one. orbit finds those within bounds. spent recognises requests that
//     nothing can come of any more.
//   - counts has a search's statistics besides the number of states.
//   - instants finds the instants at which a search lets time stop, by the thresholds in a
//     lock's code.
//   - behaviour learns how clients and servers behave. A client's next operation is a
//     function of its history, and a server's reply and next snapshot are a function of
//     its snapshot and the command, so each is executed once and memoised.
//   - alike compares values that code has made after two readings of a clock.
//   - places tells situations in which code reads something that are much like others.
//   - readings has the values of clocks, lives and draws that are tried, and those at which code changes its mind.
//   - unfit has the errors of locks that a search can't follow.
//   - driver runs one client's code outside of any world, on behalf of behaviour.
//   - intern has the tables that workers share: memos, ids of equal values, the visited
//     set.
//   - disk keeps a visited set that is greater than the memory.
//   - liveness reads livelocks and the longest wait off the graph of a search that has closed.
//   - agree plays random schedules in both the search and the engine, and compares them;
//     picture describes a situation as either of them shows it.
//   - certificate checks the result of a search without bounds by means of the engine alone.
//   - trials plays random schedules in the engine alone, with waits of any length, by which a
//     search doubts the claims it is about to make (doubt.go). offers has the faults as moves of the engine.
//   - fuzz plays such schedules as well, and expects the search to find their violations.
//   - madeup has locks that are made up from steps, for tests to compare verdicts on.
//   - report puts a result into words, and locktest is the search as a function for tests
//     of other modules.
//
// # The search
//
// The search is breadth-first, on all cores (search.go). Of states that differ in clients' names
// alone it follows one, unless names make a difference to the lock, and counts all (orbits.go). If it is cut off, its result covers
// all shorter schedules; with [Options.Disk] another goes on with it (visited.go). The least schedule of each violation is looked for afterwards in
// the order of cost, by Dijkstra's algorithm (shortest.go). The engine
// replays it, and then again without each of its faults in turn, to tell which of them the
// violation needs (essential.go).
//
// # Bounds
//
// A result holds within its [Bounds] and says nothing of schedules beyond: so many clients
// and cycles, so many faults of each kind, no latency (a message that takes long is a pause
// or a request that is held up), all clocks at the same rate. [Bounds.Outside] lists what is
// left out.
//
// A search without a bound on cycles closes where its situations are finitely many. Those that
// differ in the names of clients and tokens alone are one, and the lock is refused if names
// make a difference to it. With [Bounds.Others] an environment stands for any number of further
// clients. It may do more than they can, so a code that it alone violates is not decided. SOUNDNESS.md
// argues both.
//
// # Why to believe it
//
// Tests compare the search with the engine on random schedules of every lock, after every
// choice, within the search's own bounds and within random ones (TestFaithful,
// TestFaithfulWidely); and with a brute-force walk through all schedules that memoises
// nothing and reduces nothing (TestBruteForce). Every search repeats a part of that: it
// plays random schedules in both interpreters, replays histories to notice a lock that isn't
// deterministic, and has the engine confirm every counterexample. It fails when they
// disagree. With [Options.Trials] the engine also plays thousands of schedules that know nothing of the
// search, and a code that one of them violates doesn't hold.
package explore
