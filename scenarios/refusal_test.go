package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
)

// in puts steps into a scenario that is right otherwise; the first is on line 3.
func in(steps string) string { return "title: x\nscript:\n" + steps }

// with puts a setup into a scenario that is right otherwise; it begins on line 3.
func with(setup string) string { return "title: x\nsetup:\n" + setup + "script: [say: x]\n" }

// and appends to a scenario that is right otherwise; it begins on line 3.
func and(more string) string { return "title: x\nscript: [say: x]\n" + more }

var allSteps = strings.Join(sortedKeys(stepKeys), ", ")

// refusals are what somebody may write, and what the loader says to it, after
// the file's name. Each message is for the one who has to mend the file: where,
// what, and what would be right.
var refusals = []struct{ name, yaml, want string }{
	{"empty file", "", "1: the file is empty; a scenario has a title, a script and expectations"},
	{"only comments", "# nothing\n# at all\n", "1: the file is empty; a scenario has a title, a script and expectations"},
	{"only a document marker", "---\n", "1: the file is empty; a scenario has a title, a script and expectations"},
	{"null", "~\n", "1: a scenario consists of keys and values (title: ..., script: ...), and this is nothing"},
	{"a list", "- title: x\n- script: []\n", "1: a scenario consists of keys and values (title: ..., script: ...), and this is a list"},
	{"a word", "hello\n", `1: a scenario consists of keys and values (title: ..., script: ...), and this is "hello"`},
	{"a number", "42\n", `1: a scenario consists of keys and values (title: ..., script: ...), and this is "42"`},
	{"a second document", and("---\ntitle: y\n"), "3: a second document begins here, and a scenario is one"},
	{"an empty second document", and("---\n"), "3: a second document begins here, and a scenario is one"},
	{"no title", "script: [say: x]\n", "1: the scenario has no title"},
	{"no script", "title: x\n", "1: the scenario has no script"},
	{"unknown key", "titel: x\nscript: [say: x]\n", `1: unknown key "titel"; did you mean "title"?`},
	{"unknown key, nothing near", "title: x\nfoo: 1\nscript: [say: x]\n", `2: unknown key "foo": it is one of expect, script, setup, shows, source, title, variants`},
	{"a key that is a number", "1: x\n", `1: unknown key "1": it is one of expect, script, setup, shows, source, title, variants`},
	{"a key that is a list", "? [a, b]\n: x\n", "2: this is not YAML: found an invalid key for this map"},
	{"a question mark", "? title\n", `1: a key is a plain word, and this is "? title"`},
	{"empty title", "title:\nscript: [say: x]\n", `1: "title" is empty: it needs a text`},
	{"blank title", "title: '  '\nscript: [say: x]\n", `1: "title" is empty: it needs a text`},
	{"title is a list", "title: [x]\nscript: [say: x]\n", `1: "title" needs a text, and got a list`},
	{"title is a mapping", "title: {x: y}\nscript: [say: x]\n", `1: "title" needs a text, and got a mapping`},
	{"a key twice", "title: x\nshows: a\nshows: b\nscript: [say: x]\n", `3: "shows" is here twice: it is on line 2 already`},
	{"a key twice in a step", in("  - say: a\n    say: b\n"), `4: "say" is here twice: it is on line 3 already`},
	{"a key twice in one line", with("  retry: {tries: 1, tries: 2}\n"), `3: "tries" is here twice: it is on line 3 already`},
	{"a client twice", with("  clients: {A: , A: }\n"), `3: "A" is here twice: it is on line 3 already`},
	{"anchor", "title: &a x\nscript: [say: x]\n", `1: the anchor "&a" can't be used: these files have no anchors, aliases, tags and merge keys`},
	{"alias", "title: x\nshows: *a\nscript: [say: x]\n", `2: the alias "*a" can't be used: these files have no anchors, aliases, tags and merge keys`},
	{"alias of a step", in("  - *step\n"), `3: the alias "*step" can't be used: these files have no anchors, aliases, tags and merge keys`},
	{"anchor of a mapping", "title: x\nsetup: &a\n  ttl: 1s\nscript: [say: x]\n", `2: the anchor "&a" can't be used: these files have no anchors, aliases, tags and merge keys`},
	{"tag", "title: !!str x\nscript: [say: x]\n", `1: the tag "!!str" can't be used: these files have no anchors, aliases, tags and merge keys`},
	{"tag of a list", in("  - run: !seq [A]\n"), `3: the tag "!seq" can't be used: these files have no anchors, aliases, tags and merge keys`},
	{"merge key", with("  <<: {ttl: 1s}\n"), `3: the merge key "<<" can't be used: these files have no anchors, aliases, tags and merge keys`},
	{"tab", "title: x\n\tscript: y\n", "2: this is not YAML: a tab stands where only spaces can"},
	{"unclosed quote", "title: \"x\nscript: [say: x]\n", "1: this is not YAML: a quote is not closed"},
	{"unclosed single quote", in("  - say: 'a\n"), "3: this is not YAML: a quote is not closed"},
	{"unclosed bracket", in("  - run: [A, B\n"), "3: this is not YAML: a bracket is not closed"},
	{"unclosed brace", with("  clients: {A: 1\n"), "4: this is not YAML: a comma or a closing brace is missing"},
	{"a colon without quotes", in("  - say: Now: watch\n"), "3: this is not YAML: does a text with a colon lack its quotes, or is the next line indented too far?"},
	{"indented too far", "title: x\n  script: y\n", "1: this is not YAML: does a text with a colon lack its quotes, or is the next line indented too far?"},
	{"a step that is not in line", in("  - say: a\n - say: b\n"), "4: this is not YAML: is this line indented like those that it belongs to?"},
	{"a key without its colon", "title: x\nsetup\n  ttl: 3s\nscript: [say: x]\n", "2: this is not YAML: is a colon missing after a key, or the space after the colon?"},
	{"a key without its colon, in a step", in("  - run: A\n    to acquire\n  - say: x\n"), "4: this is not YAML: is this line, or the next one, indented like those that it belongs to, and has each key its colon and a space after that?"},
	{"a reserved character", "title: @x\n", "1: this is not YAML: '@' is a reserved character"},
	{"nothing but a percent sign", "%\n", "1: this is not YAML: undefined directive value"},
	{"binary", "\x7fELF\x02\x01\x01\x00\x00", "1: this is not text: it has the control character U+007F"},
	{"not UTF-8", "title: x\nshows: \xff\xfe\n", "2: this is not text: the byte 0xff is not UTF-8"},
	{"UTF-16", "\xff\xfet\x00i\x00", "1: this is not text: the byte 0xff is not UTF-8"},
	{"escape sequence", "title: x\nshows: \x1b[31mred\n", "2: this is not text: it has the control character U+001B"},
	{"escape sequence in quotes", "title: \"\\e[31mred\"\nscript: [say: x]\n", `1: "title" has the control character U+001B`},
	{"text that runs backwards", "title: \"a \\u202e b\"\nscript: [say: x]\n", `1: "title" has the control character U+202E`},
	{"script is empty", "title: x\nscript:\n", `2: "script" is empty: it needs a list of steps`},
	{"script is an empty list", "title: x\nscript: []\n", "2: the script has no steps"},
	{"script is a mapping", "title: x\nscript: {say: x}\n", `2: "script" needs a list of steps, and got a mapping`},
	{"script is a word", "title: x\nscript: hello\n", `2: "script" needs a list of steps, and got "hello"`},
	{"an empty step", in("  -\n  - say: b\n"), `3: a step consists of keys and values, as in "run: A", and this is nothing`},
	{"an empty mapping for a step", in("  - {}\n"), "3: the step is empty; it is one of " + allSteps},
	{"a word for a step", in("  - resume\n"), `3: a step consists of keys and values, as in "run: A", and this is "resume"`},
	{"a list for a step", in("  - [say: x]\n"), `3: a step consists of keys and values, as in "run: A", and this is a list`},
	{"unknown step", in("  - rum: A\n"), `3: unknown step "rum"; did you mean "run"?`},
	{"a name of two steps", in("  - restart: n1\n"), `3: "restart" is no step: it is two, "down" and "up"`},
	{"a part of a step", in("  - answer: verdict\n"), `3: "answer" is no step: it belongs to "ask"`},
	{"unknown step, nothing near", in("  - explode: A\n"), `3: unknown step "explode": it is one of ` + allSteps},
	{"two steps in one", in("  - say: a\n    run: A\n"), `4: "say" and "run" are two steps: each begins with a dash of its own`},
	{"unknown key of a step", in("  - run: A\n    too: work\n"), `4: unknown key "too"; did you mean "to"?`},
	{"a step without further keys", in("  - wait: 1s\n    by: 2s\n"), `4: unknown key "by": this step has no further keys`},
	{"a step under a lock", in("  - wait: 1s\n    under: [setnx]\n"), `4: a step is made under every lock, and has no effect where a lock has no use for it: "under" belongs to "say" and "ask"`},
	{"a pause with a duration", in("  - pause: A\n    for: 20s\n"), `4: "pause" has no "for": it lasts until the client is resumed, or run by name; as a step of its own, "wait: 20s" lets time pass`},
	{"a cut with half a duration", in("  - cut: {client: A}\n    for: a while\n"), `4: "cut" has no "for": it lasts until a "heal"; as a step of its own, "wait: 10s" lets time pass`},
	{"pause nobody", in("  - pause:\n  - say: b\n"), `3: "pause" is empty: it needs a client's name`},
	{"crash a mapping", in("  - crash: {A: B}\n"), `3: "crash" needs a client's name, and got a mapping`},
	{"say nothing", in("  - say:\n"), `3: "say" is empty: it needs a text`},
	{"say blanks", in("  - say: \"  \"\n"), `3: "say" is empty: it needs a text`},
	{"say a list", in("  - say: [a]\n"), `3: "say" needs a text, and got a list`},
	{"narration under an unknown lock", in("  - say: Well.\n    under: [setpx-lau]\n"), `4: unknown lock "setpx-lau"; did you mean "setpx-lua"?`},
	{"ask before anything has happened", in("  - say: x\n  - wait: 1s\n  - ask: Who?\n    answer: holders\n"), "5: nothing has happened yet, so there is nothing to predict: put the question behind a step that does something, such as \"run\""},
	{"ask without an answer", in("  - ask: Well?\n"), "3: a question needs an answer: one of holders, record, verdict"},
	{"unknown answer", in("  - ask: Well?\n    answer: verdikt\n"), `4: unknown answer "verdikt"; did you mean "verdict"?`},
	{"unknown client", in("  - run: D\n"), `3: unknown client "D": it is one of A, B`},
	{"choices of a question", in("  - ask: x\n    answer: record\n    options: [a, b]\n"), `5: unknown key "options": the choices of a question can't be written; they are computed, the wrong ones as the right one, so that it is right under every lock`},
	{"a part of a question that there isn't", in("  - ask: x\n    answer: record\n    zzzz: a\n"), `5: unknown key "zzzz": it is one of answer, servers, under`},
	{"unknown client of words", in("  - say: x\n    having: {D: y, A: \"\"}\n"), `4: unknown client "D": it is one of A, B
test.yaml:4: "A" is empty: it needs a text`},
	{"unknown clients beside a misspelt position", in("  - run: [D, E]\n    to: befor work\n"), `3: unknown client "D": it is one of A, B
test.yaml:3: unknown client "E": it is one of A, B
test.yaml:4: a position is one word (acquire, done, granted, read, release, work), or three, as in "before acquire first"; got "befor work"`},
	{"unknown client, something near", "title: x\nsetup:\n  clients: [alice, bob]\nscript:\n  - run: alise\n", `5: unknown client "alise"; did you mean "alice"?`},
	{"client in lower case", in("  - run: a\n"), `3: unknown client "a"; did you mean "A"?`},
	{"a list in a list", in("  - run: [A, [B]]\n"), `3: "run" needs a client's name, and got a list`},
	{"run nobody", in("  - run: []\n"), "3: no client is named"},
	{"run to nowhere", in("  - run: A\n    to:\n  - say: a\n"), `4: "to" is empty: it needs a position`},
	{"unknown position", in("  - run: A\n    to: wrk\n"), `4: unknown position "wrk"; did you mean "work"?`},
	{"unknown position, nothing near", in("  - run: A\n    to: somewhere\n"), `4: unknown position "somewhere": it is one of acquire, done, granted, read, release, work, before acquire first, after release last`},
	{"a position of two words", in("  - run: A\n    to: nearly acquire\n"), `4: a position is one word (acquire, done, granted, read, release, work), or three, as in "before acquire first"; got "nearly acquire"`},
	{"a position without its count", in("  - run: A\n    to: before acquire\n"), `4: unknown position "before acquire"; did you mean "before acquire first"?`},
	{"an access as a position", in("  - run: A\n    to: write\n"), `4: unknown position "write"; did you mean "before work last"?`},
	{"an access as a phase", in("  - run: A\n    to: after  read\n"), `4: unknown position "after read"; did you mean "read"?`},
	{"a position beside the client", in("  - run: A to work\n"), `3: unknown client "A to work"; did you mean "A"? The rest, "to work", stands below it as a key of its own, such as "to: work", or as another step`},
	{"codes in one word", in("  - run: A\nexpect:\n  - {verdict: 'FR, DG', under: setnx}\n"), `5: "FR, DG" is no code: several are a list, as in [FR, DG]`},
	{"all locks at once", in("  - run: A\nexpect:\n  - {verdict: FR, under: all}\n"), `5: "all" is no lock: they are named one by one, as a list`},
	{"a position of no side", in("  - run: A\n    to: befor acquire 1\n"), `4: a position of three words begins with before or after, not "befor"; did you mean "before"?`},
	{"unknown phase", in("  - run: A\n    to: before acquir 1\n"), `4: unknown phase "acquir"; did you mean "acquire"?`},
	{"unknown count", in("  - run: A\n    to: before acquire frist\n"), `4: "frist" is neither first nor last nor change nor a number from 1 (or -1, from the end); did you mean "first"?`},
	{"mistyped count", in("  - run: A\n    to: before acquire chang\n"), `4: "chang" is neither first nor last nor change nor a number from 1 (or -1, from the end); did you mean "change"?`},
	{"change of work", in("  - run: A\n    to: before work change\n"), `4: "change" is a command that changes the lock's record, and in work there are none: work is accesses to the resource`},
	{"count of zero", in("  - run: A\n    to: before acquire 0\n"), `4: "0" is neither first nor last nor change nor a number from 1 (or -1, from the end)`},
	{"to and for", in("  - run: A\n    to: work\n    for: 1s\n"), "5: a run has a to or a for, not both"},
	{"otherwise without to", in("  - run: A\n    otherwise: stop\n"), `3: "otherwise" goes with "to"`},
	{"otherwise something else", in("  - run: A\n    to: work\n    otherwise: halt\n"), `5: unknown alternative "halt": there is only stop`},
	{"two clients to a position", in("  - run: [A, B]\n    to: work\n"), "4: only one client can be run to a position, not 2"},
	{"wait for nothing", in("  - wait:\n"), `3: "wait" is empty: it needs a duration, such as 10s`},
	{"wait for a number", in("  - wait: 10\n"), `3: "10" is not a duration; write 10s, 1.5s, 200ms or 2m`},
	{"wait for a word", in("  - wait: soon\n"), `3: "soon" is not a duration; write 10s, 1.5s, 200ms or 2m`},
	{"wait until", in("  - wait: until 12s\n"), `3: "until 12s" is not a duration; a step of its own waits for an instant: until: 12s`},
	{"wait for until", in("  - wait: \"until: 12s\"\n"), `3: "until: 12s" is not a duration; a step of its own waits for an instant: until: 12s`},
	{"wait backwards", in("  - wait: -1s\n"), `3: "wait" is -1s, and must be more than 0`},
	{"wait no time", in("  - wait: 0s\n"), `3: "wait" is 0s, and must be more than 0`},
	{"until an instant that is past", in("  - wait: 10s\n  - until: 12s\n  - wait: 1s\n  - until: 12500ms\n"), "6: 12.5s is past when this step begins: the waits before it come to 13s"},
	{"until no time", in("  - until: 0s\n"), `3: "until" is 0s, and must be more than 0`},
	{"wait two years", in("  - wait: 17520h\n"), `3: "17520h" is more than a year (8760h), and nothing in a scenario can last so long`},
	{"wait for ever", in("  - wait: 99999999999999h\n"), `3: "99999999999999h" is more than a year (8760h), and nothing in a scenario can last so long`},
	{"run within no time", in("  - run: A\n    within: 0s\n"), `4: "within" is 0s, and must be more than 0`},
	{"clock without by", in("  - clock: {client: A}\n"), `3: something is missing: write clock: {client: A, by: 12s}`},
	{"clock of nobody", in("  - clock: {by: 1s}\n"), "3: something is missing: write clock: {client: A, by: 12s}, or clock: {node: n1, by: 12s}"},
	{"clock by nothing", in("  - clock: {client: A, by: 0s}\n"), `3: "by" is 0: a clock jumps forward, as by 12s, or back, as by -3s`},
	{"to and steps", in("  - {run: A, to: work, steps: 3}\n"), "3: a run has a to, a for, or steps: one of them"},
	{"for and steps", in("  - {run: A, for: 1s, steps: 3}\n"), "3: a run has a to, a for, or steps: one of them"},
	{"no steps", in("  - {run: A, steps: 0}\n"), "3: a run can have 1 to 10000 steps, not 0"},
	{"too many steps", in("  - {run: A, steps: 10001}\n"), "3: a run can have 1 to 10000 steps, not 10001"},
	{"steps of a word", in("  - {run: A, steps: few}\n"), `3: "few" is not a whole number`},
	{"steps of two", in("  - {run: [A, B], steps: 3}\n"), "3: steps are counted of one client, not of 2"},
	{"lose a request", in("  - lose: {request: A}\n"), `3: unknown key "request": there is only reply`},
	{"lose nobody's", in("  - lose: {reply: C}\n"), `3: unknown client "C": it is one of A, B`},
	{"lose nothing", in("  - lose: {}\n"), `3: something is missing: write lose: {reply: A}`},
	{"hold nobody's", in("  - hold: C\n"), `3: unknown client "C": it is one of A, B`},
	{"free two", in("  - free: [A, B]\n"), `3: "free" needs a client's name, and got a list`},
	{"free the zeroth", in("  - {free: A, nth: 0}\n"), `3: "nth" is 0, and counts from 1`},
	{"free with a stranger", in("  - {free: A, nht: 2}\n"), `3: unknown key "nht"; did you mean "nth"?`},
	{"no server at all", with("  nodes: 0\n"), "3: a lock on several servers can have 1 to 9 of them, not 0"},
	{"ten nodes", with("  nodes: 10\n"), "3: a lock on several servers can have 1 to 9 of them, not 10"},
	{"a negative lag", with("  lag: -1s\n"), `3: "lag" is -1s, and can't be less than 0`},
	{"clock of both", in("  - clock: {client: A, node: n1, by: 1s}\n"), "3: these keys don't go together: write clock: {client: A, by: 12s}, or clock: {node: n1, by: 12s}"},
	{"lose of a word", in("  - lose: reply\n"), `3: "lose" needs keys and values (reply), as in "lose: {reply: A}", and got "reply"`},
	{"clock of a word", in("  - clock: A\n"), `3: "clock" needs keys and values (by, client, node), as in "clock: {client: A, by: 12s}" or "clock: {node: n1, by: 12s}", and got "A"`},
	{"an empty clock", in("  - clock:\n      client:\n"), `4: "client" is empty: it needs a client's name`},
	{"drop nothing", in("  - drop: {}\n"), "3: something is missing: write drop: {request: A}, or drop: {reply: A}"},
	{"drop both halves", in("  - drop: {reply: A, request: A}\n"), "3: these keys don't go together: write drop: {request: A}, or drop: {reply: A}"},
	{"drop of an unknown half", in("  - drop: {replay: A}\n"), `3: unknown key "replay"; did you mean "reply"?`},
	{"delay without by", in("  - delay: {reply: A}\n"), "3: something is missing: write delay: {reply: A, by: 5s}"},
	{"delay backwards", in("  - delay: {reply: A, by: -1s}\n"), `3: "by" is -1s, and can't be less than 0`},
	{"duplicate a reply", in("  - duplicate: {reply: A}\n"), `3: unknown key "reply": it is one of after, nth, request`},
	{"cut nobody", in("  - cut: {nodes: n1}\n"), "3: something is missing: write cut: {client: A}"},
	{"cut in an unknown direction", in("  - cut: {client: A, direction: reply}\n"), `3: unknown direction "reply": it is one of both, requests, replies`},
	{"heal in a direction", in("  - heal: {client: A, direction: both}\n"), `3: unknown key "direction": it is one of client, nodes`},
	{"slow by nothing", in("  - slow: {client: A, request: 1s}\n"), "3: something is missing: write slow: {client: A, request: 5s, reply: 5s}"},
	{"unknown node", in("  - down: pivto\n"), `3: unknown node "pivto"; did you mean "pivot"?`},
	{"the record for the server", in("  - evict: lock\n"), `3: unknown node "lock": the step names a server, n1 to n9, all, or pivot (the one that completes a majority: n1 of one, n3 of five); the record there is the lock's`},
	{"node zero", in("  - down: n0\n"), `3: unknown node "n0": the step names a server, n1 to n9, all, or pivot (the one that completes a majority: n1 of one, n3 of five); the record there is the lock's`},
	{"node ten", in("  - down: n10\n"), `3: unknown node "n10": the step names a server, n1 to n9, all, or pivot (the one that completes a majority: n1 of one, n3 of five); the record there is the lock's`},
	{"node with zeros", in("  - down: n01\n"), `3: unknown node "n01": the step names a server, n1 to n9, all, or pivot (the one that completes a majority: n1 of one, n3 of five); the record there is the lock's`},
	{"node with a sign", in("  - down: n+1\n"), `3: unknown node "n+1": the step names a server, n1 to n9, all, or pivot (the one that completes a majority: n1 of one, n3 of five); the record there is the lock's`},
	{"no node", in("  - down: []\n"), "3: no node is named"},
	{"unknown replica", in("  - failover: {to: n1}\n"), `3: unknown replica "n1": they are n1r1 to n9r3, the first replica of n1 being n1r1`},
	{"setup is empty", "title: x\nsetup:\nscript: [say: x]\n", `2: "setup" is empty: it needs keys and values (clients, lag, latency, nodes, persistence, replicas, resource, retry, scripts, timeout, tokens, ttl, workload), as in "setup: {ttl: 5s}"`},
	{"setup is a list", "title: x\nsetup: [ttl]\nscript: [say: x]\n", `2: "setup" needs keys and values (clients, lag, latency, nodes, persistence, replicas, resource, retry, scripts, timeout, tokens, ttl, workload), as in "setup: {ttl: 5s}", and got a list`},
	{"unknown setting", with("  tll: 1s\n"), `3: unknown key "tll"; did you mean "ttl"?`},
	{"TTL without a unit", with("  ttl: 10\n"), `3: "10" is not a duration; write 10s, 1.5s, 200ms or 2m`},
	{"TTL of less than a millisecond", with("  ttl: 10us\n"), "3: Redis counts in milliseconds, and 10µs is less than one"},
	{"negative latency", with("  latency: -1ms\n"), `3: "latency" is -1ms, and can't be less than 0`},
	{"timeout of none", with("  timeout: 0s\n"), `3: "timeout" is 0s, and must be more than 0`},
	{"retry is a number", with("  retry: 3\n"), `3: "retry" needs keys and values (delay, jitter, tries), as in "retry: {tries: 3, delay: 200ms}", and got "3"`},
	{"fewer than no tries", with("  retry: {tries: -1}\n"), `3: "tries" is -1, and can't be less than 0; 0 means for ever`},
	{"tries is a duration", with("  retry: {tries: 1s}\n"), `3: "1s" is not a whole number`},
	{"unknown part of retry", with("  retry: {tries: 3, dely: 1s}\n"), `3: unknown key "dely"; did you mean "delay"?`},
	{"unknown persistence", with("  persistence: evrysec\n"), `3: unknown persistence "evrysec"; did you mean "everysec"?`},
	{"unknown resource", with("  resource: fence\n"), `3: unknown resource "fence"; did you mean "fenced" or "fenced-writes"?`},
	{"unknown tokens", with("  tokens: equal\n"), `3: unknown kind of tokens "equal": it is one of unique, same, mangled`},
	{"unknown workload", with("  workload: cash\n"), `3: unknown workload "cash"; did you mean "cache"?`},
	{"two workloads", with("  workload: [cache, counter]\n"), `3: "workload" needs a workload, and got a list`},
	{"a second look without a cache", with("  clients: {A: {recheck: true}}\n"), `3: "recheck" looks into the cache again: it goes with "workload: cache"`},
	{"a second look at a counter", with("  clients: {A: , B: {recheck: true}}\n  workload: counter\n"), `3: "recheck" looks into the cache again: it goes with "workload: cache"`},
	{"a second look, perhaps", with("  clients: {A: {recheck: maybe}}\n"), `3: "maybe" is neither true nor false`},
	{"a fall, perhaps", with("  clients: {A: {fallthrough: maybe}}\n"), `3: "maybe" is neither true nor false`},
	{"a fall in two words", with("  clients: {A: {fall-through: true}}\n"), `3: unknown key "fall-through"; did you mean "fallthrough"?`},
	{"unknown scripts", with("  scripts: hot\n"), `3: unknown state of the script cache "hot": it is one of warm, cold`},
	{"no clients", with("  clients: []\n"), "3: no client is named"},
	{"empty clients", with("  clients:\n"), `3: "clients" is empty: it needs the names of clients`},
	{"a client named like a node", with("  clients: [n1]\n"), `3: a client cannot be named "n1": that name is taken`},
	{"a client named like the probe", with("  clients: {probe: }\n"), `3: a client cannot be named "probe": that name is taken`},
	{"a client with a long name", with("  clients: [Methuselah_the_Elder]\n"), `3: a client cannot be named "Methuselah_the_Elder": use up to 12 letters, digits and underscores`},
	{"the same client twice", with("  clients: [A, A]\n"), "3: there are two clients named A"},
	{"nine clients", with("  clients: [a, b, c, d, e, f, g, h, i]\n"), "3: more than 8 clients"},
	{"a word for a client", with("  clients: {A: 1s}\n"), `3: "A" needs keys and values (checks, commitlast, cycles, extend, failopen, fallthrough, insist, offset, rate, recheck, work), and got "1s"`},
	{"words for no number of servers", in("  - say: x\n    servers: sevral\n"), `4: unknown number of servers "sevral"; did you mean "several"?`},
	{"an update without a database", in("  - update: database\n"), `3: there is no database: it goes with "workload: cache"`},
	{"an update of the cache", "title: x\nsetup: {workload: cache}\nscript: [update: cache]\n", `3: unknown thing to update "cache": there is only database`},
	{"an update with a typo", "title: x\nsetup: {workload: cache}\nscript: [update: databse]\n", `3: unknown thing to update "databse"; did you mean "database"?`},
	{"an update of nothing", in("  - update:\n  - say: b\n"), `3: "update" is empty: it needs the word database`},
	{"an update with more", "title: x\nsetup: {workload: cache}\nscript:\n  - update: database\n    by: 2\n", `5: unknown key "by": this step has no further keys`},
	{"unknown setting of a client", with("  clients:\n    A:\n      wrok: 1s\n"), `5: unknown key "wrok"; did you mean "work"?`},
	{"rate of nothing", with("  clients: {A: {rate: 0}}\n"), "3: a clock can run at a rate of 0.1 to 10, not 0"},
	{"rate of no number", with("  clients: {A: {rate: fast}}\n"), `3: "fast" is not a number`},
	{"rate NaN", with("  clients: {A: {rate: .nan}}\n"), `3: ".nan" is not a number`},
	{"no cycles", with("  clients: {A: {cycles: 0}}\n"), "3: a client can have 1 to 1000 cycles, not 0"},
	{"half a cycle", with("  clients: {A: {cycles: 1.5}}\n"), `3: "1.5" is not a whole number`},
	{"offset of years", with("  clients: {A: {offset: -90000h}}\n"), `3: "-90000h" is more than a year (8760h), and nothing in a scenario can last so long`},
	{"neither true nor false", with("  clients: {A: {extend: yes}}\n"), `3: "yes" is neither true nor false`},
	{"expect a mapping", and("expect: {setnx: ok}\n"), `3: "expect" needs a list of verdicts, each with the strategies under which it is expected, and got a mapping`},
	{"unknown key of an expectation", and("expect:\n  - verdict: ok\n    unter: setnx\n"), `5: unknown key "unter"; did you mean "under"?`},
	{"unknown lock", and("expect:\n  - verdict: ok\n    under: setnxx\n"), `5: unknown lock "setnxx"; did you mean "setnx"?`},
	{"the beginning of a lock's name", and("expect:\n  - verdict: ok\n    under: [naive]\n"), `5: unknown lock "naive"; did you mean "naive-del"?`},
	{"unknown lock in a list", and("expect:\n  - verdict: ok\n    under:\n      - setnx\n      - setpx-lau\n"), `7: unknown lock "setpx-lau"; did you mean "setpx-lua"?`},
	{"a strategy twice", and("expect:\n  - {verdict: ok, under: setnx}\n  - {verdict: DG, under: setnx}\n"), `5: the verdict of setnx is here twice`},
	{"no strategies", and("expect:\n  - verdict: ok\n"), `4: this entry does not say under which strategies`},
	{"strategies without a verdict", and("expect:\n  - under: setnx\n"), `4: this entry has no verdict: ok, or a list of codes`},
	{"unknown code", and("expect:\n  - verdict: [DG, OVV]\n"), `4: unknown code "OVV"; did you mean "OV"?`},
	{"unknown code, nothing near", and("expect:\n  - verdict: wrong\n"), `4: unknown code "wrong": it is one of ` + strings.Join(trace.Verdict(trace.Codes).Strings(), ", ") + ", ok"},
	{"ok in capitals", and("expect:\n  - verdict: OK\n"), `4: unknown code "OK"; did you mean "ok"?`},
	{"no verdict", and("expect:\n  - verdict:\n"), `4: "verdict" is empty: it needs ok, or a list of codes`},
	{"verdict and includes", and("expect:\n  - verdict: [DG]\n    includes: [OV]\n    under: setnx\n"), `4: this entry has both: "verdict" lists all codes that occur, "includes" some of them`},
	{"includes ok", and("expect:\n  - includes: ok\n    under: setnx\n"), `4: "includes" has codes that occur, perhaps beside others; that none does is "verdict: ok"`},
	{"empty includes", and("expect:\n  - includes: []\n    under: setnx\n"), `4: "includes" is empty: it needs a code, or a list of codes`},
	{"includes misspelt", and("expect:\n  - include: [OV]\n    under: setnx\n"), `4: unknown key "include"; did you mean "includes"?`},
	{"an empty verdict", and("expect:\n  - verdict: []\n"), `4: "verdict" is empty: it needs ok, or a list of codes`},
	{"ok and a code", and("expect:\n  - verdict: [ok, DG]\n"), `4: "ok" is no code: it stands alone`},
	{"a code twice", and("expect:\n  - verdict: [DG, OV, dg]\n"), "4: DG is here twice"},
	{"a mapping for a verdict", and("expect:\n  - verdict: {DG: 1}\n"), `4: "verdict" needs ok, or a list of codes, and got a mapping`},
	{"no reason", and("expect:\n  - verdict: ok\n    because:\n"), `5: "because" is empty: it needs a text`},
	{"a list of reasons", and("expect:\n  - verdict: ok\n    because: [a, b]\n"), `5: "because" needs a text, and got a list`},
	{"a list of variants", and("variants: [x]\n"), `3: "variants" needs keys and values, and got a list`},
	{"a variant without a title", and("variants:\n  fast: {setup: {latency: 0s}}\n"), `4: the variant fast has no title of its own`},
	{"a variant with a script", and("variants:\n  fast: {title: y, script: [say: y]}\n"), `4: unknown key "script": it is one of expect, setup, shows, source, title`},
	{"a variant with a dot", and("variants:\n  a.b: {title: y}\n"), `4: a variant cannot be named "a.b": use letters, digits, '_' and '-'`},
	{"a variant without a cache to look into", "title: x\nsetup:\n  workload: cache\n  clients: {A: {recheck: true}}\nscript: [say: x]\nvariants:\n  count: {title: y, setup: {workload: counter}}\n",
		`4: "recheck" looks into the cache again: it goes with "workload: cache" (in the variant count)`},
	{"a variant without a database", "title: x\nsetup: {workload: cache}\nscript: [update: database]\nvariants:\n  count: {title: y, setup: {workload: counter}}\n",
		`3: there is no database: it goes with "workload: cache" (in the variant count)`},
	{"a variant without the script's clients", in("  - run: B\n") + "variants:\n  alone: {title: y, setup: {clients: [A]}}\n", `3: unknown client "B": there is only A (in the variant alone)`},
}

func TestRefusals(t *testing.T) {
	seen := map[string]bool{}
	for _, tt := range refusals {
		if seen[tt.name] {
			t.Errorf("there are two refusals named %q", tt.name)
		}
		seen[tt.name] = true
		t.Run(tt.name, func(t *testing.T) {
			_, err := read("test.yaml", "test.yaml", []byte(tt.yaml))
			if err == nil {
				t.Fatalf("accepted:\n%s", tt.yaml)
			}
			if want := "test.yaml:" + tt.want; err.Error() != want {
				t.Errorf("got  %s\nwant %s\nof\n%s", err, want, tt.yaml)
			}
		})
	}
}

// All mistakes of a file are named, by their lines; a misspelled key is not also missing, and a client
// without a valid name is not also unknown.
func TestAllMistakesAreNamed(t *testing.T) {
	codes := strings.Trim(strings.ReplaceAll(fmt.Sprint(trace.Codes), " ", ", "), "[]")
	many := ""
	for i := range mostProblems {
		many += fmt.Sprintf("test.yaml:%d: \"x\" is not a duration; write 10s, 1.5s, 200ms or 2m\n", i+3)
	}
	for _, tt := range []struct{ yaml, want string }{
		{`title: Mine
setup:
  ttl: tenseconds
script:
  - run: A
    to: in-work
  - puse: A
  - run: D
expect:
  - verdict: NOPE
    under: setpx-lau
`, `test.yaml:3: "tenseconds" is not a duration; write 10s, 1.5s, 200ms or 2m
test.yaml:6: unknown position "in-work"; did you mean "work"?
test.yaml:7: unknown step "puse"; did you mean "pause"?
test.yaml:8: unknown client "D": it is one of A, B
test.yaml:10: unknown code "NOPE": it is one of ` + codes + `, ok
test.yaml:11: unknown lock "setpx-lau"; did you mean "setpx-lua"?`},
		{"titel: x\nscript: [say: x]\n", `test.yaml:1: unknown key "titel"; did you mean "title"?`},
		{"title: x\nsetup: {clients: [A, 'B B'], ttl: x}\nscript: [run: B]\n",
			"test.yaml:2: a client cannot be named \"B B\": use up to 12 letters, digits and underscores\ntest.yaml:2: \"x\" is not a duration; write 10s, 1.5s, 200ms or 2m"},
		{in(strings.Repeat("  - wait: x\n", mostProblems+3)), many + "and 3 more"},
	} {
		_, err := read("test.yaml", "test.yaml", []byte(tt.yaml))
		if err == nil {
			t.Errorf("accepted:\n%s", tt.yaml)
			continue
		}
		if err.Error() != tt.want {
			t.Errorf("got\n%s\nwant\n%s", err, tt.want)
		}
	}
}

// Inputs that the parser could choke on: each is refused, with a line, and soon.
func TestExcesses(t *testing.T) {
	testenv.LongRaced(t)
	for _, tt := range []struct{ name, yaml, want string }{
		{"ten megabytes", strings.Repeat("x", 10<<20), "1: the file has more than 65536 bytes, the most that a scenario can have"},
		{"ten megabytes of steps", in(strings.Repeat("  - wait: 1s\n", 800_000)), "1: the file has more than 65536 bytes, the most that a scenario can have"},
		{"a thousand steps and one", in(strings.Repeat("  - wait: 1s\n", 1001)), "3: the script has 1001 steps, more than 1000"},
		{"brackets in brackets", strings.Repeat("[\n", 30_000), "201: more than 200 brackets are open"},
		{"braces in braces", strings.Repeat("{a: ", 300), "1: more than 200 brackets are open"},
		{"lists in lists", strings.Repeat("- ", 10_000) + "x", "1: a scenario consists of keys and values (title: ..., script: ...), and this is a list"},
		{"questions in questions", strings.Repeat("? ", 10_000) + "x", "1: this is not YAML: unexpected scalar value type"},
		{"mappings in mappings", indented(300), `1: unknown key "a": it is one of expect, script, setup, shows, source, title, variants`},
		{"a long word", in("  - " + strings.Repeat("rum", 1000) + ": A\n"), `3: unknown step "` + strings.Repeat("rum", 20) + `...": it is one of ` + allSteps},
		{"a long client's name", in("  - run: " + strings.Repeat("A", 1000) + "\n"), `3: unknown client "` + strings.Repeat("A", 60) + `...": it is one of A, B`},
		{"a long duration", in("  - wait: " + strings.Repeat("9", 1000) + "\n"), `3: "` + strings.Repeat("9", 60) + `..." is not a duration; write 10s, 1.5s, 200ms or 2m`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			began := time.Now()
			_, err := read("test.yaml", "test.yaml", []byte(tt.yaml))
			if want := "test.yaml:" + tt.want; fmt.Sprint(err) != want {
				t.Errorf("got  %.300s\nwant %s", fmt.Sprint(err), want)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("that took %s", took)
			}
		})
	}
}

// indented is mappings in mappings, a line each.
func indented(depth int) string {
	var b strings.Builder
	for i := range depth {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}

// A file's errors begin with its path, as it was given, and the line.
func TestLoadNamesThePath(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	if err := os.WriteFile(file, []byte(in("  - rum: A\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Find(file)
	if want := file + `:3: unknown step "rum"; did you mean "run"?`; fmt.Sprint(err) != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	if err := os.WriteFile(file, []byte(in("  - run: all\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Find(file)
	if err != nil || s.Name != file {
		t.Errorf("%+v, %v", s, err)
	}
}

func TestFindsBuiltin(t *testing.T) {
	for _, name := range Names() {
		if s, err := Find(name); err != nil || s.Name != name {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := Find("crash-holdin")
	if want := `unknown scenario "crash-holdin"; did you mean "crash-holding"?`; fmt.Sprint(err) != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// What looks odd and is right: it must not be refused.
func TestAccepted(t *testing.T) {
	for _, yaml := range []string{
		"\ufefftitle: x\nscript: [say: x]\n",                  // the mark that some editors put first
		"title: x\r\nscript:\r\n  - say: x\r\n",               // lines as on Windows
		"# a comment\n---\ntitle: x\nscript: [say: x]\n...\n", // the marks of a document
		"{title: x, script: [{say: x}]}\n",
		"title: 12\nscript: [say: 3.5]\n", // a text that looks like a number
		"title: |\n  x\nscript:\n  - say: >\n      folded\n      text\n",
		"title: \"\\u00fcber\"\nscript: [say: '👩‍🏫 شرح']\n",
		in("  - to: work\n    run: A\n"), // the order of keys means nothing
		in("  - run: all\n  - run: [all, A]\n"),
		in("  - down: [n1, all, pivot, n9]\n"),
		in("  - clock: {client: A, by: -1.5s}\n"),
		with("  clients: {A: , B: {work: 0s}}\n"),
		with("  clients: A\n") + "# one\n",
		with("  latency: 0s\n  retry: {jitter: 0s}\n"),
		and("expect:\n  - {verdict: dg, under: setnx}\n  - {verdict: [ov, DG], under: [redlock]}\n"),
	} {
		if _, err := read("test.yaml", "test.yaml", []byte(yaml)); err != nil {
			t.Errorf("%v\nof\n%s", err, yaml)
		}
	}
	s := script(t, and("expect:\n  - {verdict: [ov, DG], under: redlock}\n  - {verdict: ok, under: setnx}\n"))
	if v, _ := s.Expect("redlock"); v.String() != "DG OV" {
		t.Errorf("the verdict is %s: worst first", v)
	}
	if v, stated := s.Expect("setnx"); !stated || v.String() != "ok" {
		t.Errorf("the verdict is %s, stated: %v", v, stated)
	}
	if _, stated := s.Expect("setpx-lua"); stated {
		t.Error("a verdict where the file has none")
	}
}
