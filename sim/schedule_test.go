package sim

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/fault"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// catalogue finds strategies for schedules, as the command line does.
func catalogue(name string) (strategies.Strategy, error) {
	s, found := strategies.Get(name)
	if !found {
		return s, fmt.Errorf("unknown strategy %q", name)
	}
	return s, nil
}

func mustParse(t testing.TB, text string) Schedule {
	t.Helper()
	s, err := ParseSchedule(text, catalogue)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

// settings is a schedule up to its moves.
const settings = "lockstep1,setpx-lua,test,seed=7,key=lock,ttl=10s,timeout=3s,latency=1ms,retry=0/200ms/0s,workload=cache,resource=fenced,cold=true,replicas=1,lag=5ms," +
	"A=2/1s/500ms/-2s/1.5/true/false/true/true/false,B=1/0s/0s/0s/1/false/true/false/false/true,n1=everysec/-1m0s,--"

// allMoves has a move of every kind.
const allMoves = ",A:7,B:1,A+B:12,probe:1,A+probe:3,@1,:10s,crash/A,pause/A,resume/A,hang/A,end-thread/A,wall/A/-1h0m0s,clock/n1/2s,drop/A/request," +
	"drop/B/reply,delay/A/request/5s,delay/A/reply/0s,duplicate/B/1ms,cut/A/n1/both,cut/A/n1/requests,cut/B/n1/replies," +
	"heal/A/n1,slow/A/n1/1s/0s,down/n1,unplug/n1,up/n1,evict/n1,forget-scripts/n1,lag/n1r1/1s,failover/n1r1/-,failover/n1r1/A,failover/n1r1/A+B,rejoin/n1,update,aftermath"

// What the tokens are worth is in the text only if it isn't what it should be.
func TestScheduleOfTokens(t *testing.T) {
	for _, kind := range []process.Tokens{process.SameTokens, process.MangledTokens} {
		text := strings.Replace(settings, "lag=5ms,", "lag=5ms,tokens="+kind.String()+",", 1) + allMoves
		s := mustParse(t, text)
		if s.Config.Tokens != kind || s.String() != text {
			t.Errorf("it prints\n%s\nexpected\n%s", s.String(), text)
		}
	}
	if kind := mustParse(t, settings+allMoves).Config.Tokens; kind != process.UniqueTokens {
		t.Errorf("tokens are %s although the schedule doesn't say so", kind)
	}
}

// TestScheduleOfDraws: a schedule chooses random numbers, and plays as it is printed.
func TestScheduleOfDraws(t *testing.T) {
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		if err := l.Clock.Sleep(ctx, l.Random(time.Second)); err != nil {
			return nil, err
		}
		return toyTake(ctx, l)
	}, toyDrop)
	settings := strings.NewReplacer("workload=cache", "workload=counter", "false/false/true,n1", "false/false/false,n1").Replace(settings)
	text := strings.Replace(strings.Replace(settings, "lag=5ms,", "lag=5ms,draws=true,", 1), "setpx-lua", "toy", 1) + ","
	for _, tt := range []struct{ moves, slept, err string }{
		{"A:2,A~5ms,A:9", "5ms", ""},
		{"A:2,A~2s,A:9", "999.999999ms", ""},
		{"A:12", "1s", ""}, // the number is 0, and the first sleep is that of its work
		{"A:1,A~5ms", "", "the schedule's A~5ms doesn't fit: no random number is drawn there"},
	} {
		plan, err := ParseSchedule(text+tt.moves, func(string) (strategies.Strategy, error) { return s, nil })
		if err != nil {
			t.Fatal(err)
		}
		w, err := New(plan.Config)
		if err != nil {
			t.Fatal(err)
		}
		if err := w.Reset(plan.Config, true); err != nil {
			t.Fatal(err)
		}
		err = w.Play(plan.Moves, nil)
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Error(err)
			}
		} else if got, err := w.Trace(); err != nil || got.Schedule != text+tt.moves {
			t.Errorf("%v\n%s\nexpected\n%s", err, got.Schedule, text+tt.moves)
		} else if i := slices.IndexFunc(got.Events, func(e trace.Event) bool { return e.Kind == trace.KindSleep }); got.Events[i].By.String() != tt.slept {
			t.Errorf("%s: slept for %s", tt.moves, got.Events[i].By)
		}
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}
	for _, word := range []string{"A~", "A~-1s", "A~x"} {
		if _, err := ParseSchedule(settings+","+word, catalogue); err == nil || !strings.Contains(err.Error(), "a draw is a client, ~ and a duration from 0") {
			t.Errorf("%s: %v", word, err)
		}
	}
}

// TestScheduleOfRecord: the record's key is in the text only if it isn't the lock's, and may
// have any characters.
func TestScheduleOfRecord(t *testing.T) {
	for key, word := range map[string]string{"lock:job": "lock%3Ajob", "{job}:lock, 1/2=50%": "%7Bjob%7D%3Alock%2C+1%2F2%3D50%25", "": ""} {
		text := settings + allMoves
		if key != "" {
			text = strings.Replace(text, "lag=5ms,", "lag=5ms,record="+word+",", 1)
		}
		if s := mustParse(t, text); s.Config.Record != key || s.String() != text {
			t.Errorf("%q: it prints\n%s\nexpected\n%s", s.Config.Record, s.String(), text)
		}
	}
	for word, want := range map[string]string{
		"record=":                            `"" is not a key, escaped as in a URL`,
		"record=%zz":                         `"%zz" is not a key, escaped as in a URL`,
		"record=" + strings.Repeat("x", 129): "the record's key is",
	} {
		text := strings.Replace(settings+allMoves, "lag=5ms,", "lag=5ms,"+word+",", 1)
		if _, err := ParseSchedule(text, catalogue); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20s: %v", word, err)
		}
	}
}

func TestScheduleOfEverything(t *testing.T) {
	s := mustParse(t, settings+allMoves)
	if got := s.String(); got != settings+allMoves {
		t.Errorf("it prints\n%s\nexpected\n%s", got, settings+allMoves)
	}
	c := s.Config
	want := []process.Config{
		{Name: "A", Cycles: 2, Work: time.Second, Insist: 500 * time.Millisecond, Offset: -2 * time.Second, Rate: 1.5,
			Extend: true, FailOpen: true, FallThrough: true},
		{Name: "B", Cycles: 1, Rate: 1, Checks: true, Recheck: true},
	}
	if !reflect.DeepEqual(c.Clients, want) {
		t.Errorf("clients: %+v", c.Clients)
	}
	if !reflect.DeepEqual(c.Nodes, []redis.Config{{Offset: -time.Minute, Persistence: redis.PersistEverysec}}) {
		t.Errorf("nodes: %+v", c.Nodes)
	}
	if c.Strategy.Name != "setpx-lua" || c.Scenario != "test" || c.Seed != 7 || c.Key != "lock" || c.TTL != 10*time.Second ||
		c.Timeout != 3*time.Second || c.Latency != time.Millisecond || c.Retry.Delay != 200*time.Millisecond || c.Workload != trace.Cache || c.Resource != Fenced || !c.Cold || c.Replicas != 1 || c.Lag != 5*time.Millisecond {
		t.Errorf("settings: %+v", c)
	}
	moves := []Move{{Who: SetOf(0), Count: 7}, {Who: SetOf(1), Count: 1}, {Who: SetOf(0, 1), Count: 12}, {Who: SetOf(2), Count: 1},
		{Who: SetOf(0, 2), Count: 3}, {Note: 1}, {Wait: 10 * time.Second}}
	faults := []fault.Fault{fault.Crash{Client: "A"}, fault.Pause{Client: "A"}, fault.Resume{Client: "A"}, fault.Hang{Client: "A"}, fault.EndThread{Client: "A"}, fault.WallStep{Client: "A", By: -time.Hour}, fault.NodeStep{Node: "n1", By: 2 * time.Second},
		fault.Drop{Client: "A", Reply: false}, fault.Drop{Client: "B", Reply: true}, fault.Delay{Client: "A", Reply: false, By: 5 * time.Second}, fault.Delay{Client: "A", Reply: true, By: 0}, fault.Duplicate{Client: "B", After: time.Millisecond, N: 1},
		fault.Cut{Client: "A", Node: "n1", Direction: fault.Both}, fault.Cut{Client: "A", Node: "n1", Direction: fault.Requests}, fault.Cut{Client: "B", Node: "n1", Direction: fault.Replies}, fault.Heal{Client: "A", Node: "n1"},
		fault.Slow{Client: "A", Node: "n1", Request: time.Second, Reply: 0}, fault.Down{Node: "n1"}, fault.Unplug{Node: "n1"}, fault.Up{Node: "n1"}, fault.Evict{Node: "n1"}, fault.ForgetScripts{Node: "n1"}, fault.Lag{Replica: "n1r1", By: time.Second},
		fault.Failover{To: "n1r1"}, fault.Failover{To: "n1r1", Stay: []string{"A"}}, fault.Failover{To: "n1r1", Stay: []string{"A", "B"}}, fault.Rejoin{Server: "n1"}, fault.Update{}, fault.Drain{}}
	if moves = append(moves, MovesOf(faults...)...); !reflect.DeepEqual(s.Moves, moves) {
		t.Errorf("moves: %+v", s.Moves)
	}
}

// TestScheduleWithSpaceAround: pasted text often brings a line break along.
func TestScheduleWithSpaceAround(t *testing.T) {
	if got := mustParse(t, "\n "+settings+" \r\n").String(); got != settings {
		t.Error(got)
	}
}

// TestScheduleErrors: every refusal says which word is wrong and what would be right.
func TestScheduleErrors(t *testing.T) {
	without := func(part string) string { return strings.Replace(settings, part, "", 1) }
	instead := func(old, new string) string { return strings.Replace(settings, old, new, 1) }
	for _, tc := range []struct{ name, text, want string }{
		{"empty", "", "the schedule is empty"},
		{"blank", " \n", "the schedule is empty"},
		{"rubbish", "hello", `a schedule begins with "lockstep1", this begins with "hello"`},
		{"long rubbish", strings.Repeat("x", 100), `a schedule begins with "lockstep1", this begins with "` + strings.Repeat("x", 40) + `"`},
		{"other version", instead("lockstep1", "lockstep2"), `a schedule begins with "lockstep1", this begins with "lockstep2"`},
		{"nothing but a version", "lockstep1", "the schedule ends before it names its strategy and scenario"},
		{"no scenario", "lockstep1,setnx", "the schedule ends before it names its strategy and scenario"},
		{"unknown strategy", instead("setpx-lua", "magic"), `unknown strategy "magic"`},
		{"scenario with a slash", instead("test", "a/b"), `word 3, "a/b", is no scenario's name: letters, digits, '.', '_' and '-' only`},
		{"nothing after the scenario", "lockstep1,setnx,test", `the schedule has no "--", after which its moves would come`},
		{"no moves", strings.TrimSuffix(settings, ",--"), `the schedule has no "--", after which its moves would come`},
		{"no seed", without("seed=7,"), `the schedule lacks the setting "seed"`},
		{"no latency", without("latency=1ms,"), `the schedule lacks the setting "latency"`},
		{"not a setting", instead("key=lock", "key"), `word 5, "key": a setting has the form name=value`},
		{"a setting twice", instead("key=lock", "seed=8"), `word 5, "seed=8": seed is set twice`},
		{"two clients of a name", instead("B=", "A="), `word 16, "A=1/0s/0s/0s/1/false/true/false/false/true": A is set twice`},
		{"bad seed", instead("seed=7", "seed=-1"), `word 4, "seed=-1": "-1" is not a whole number from 0`},
		{"bad duration", instead("ttl=10s", "ttl=10"), `word 6, "ttl=10": "10" is not a duration such as 300ms or 12s`},
		{"no TTL", instead("ttl=10s", "ttl=0s"), "the TTL is 0s, and can be 1ms to 8760h0m0s"},
		{"endless TTL", instead("ttl=10s", "ttl=100000h"), "the TTL is 100000h0m0s, and can be 1ms to 8760h0m0s"},
		{"no timeout", instead("timeout=3s", "timeout=0s"), "the timeout is 0s, and can be up to 8760h0m0s"},
		{"latency of the past", instead("latency=1ms", "latency=-1ms"), "the latency is -1ms, and can be 0s to 8760h0m0s"},
		{"half a retry", instead("0/200ms/0s", "0/200ms"), `word 9, "retry=0/200ms": has 2 parts between slashes, and should have 3`},
		{"negative tries", instead("retry=0/", "retry=-1/"), "the number of tries is -1, and can't be less than 0"},
		{"negative delay", instead("0/200ms/0s", "0/-200ms/0s"), "the retry delay is -200ms and its jitter 0s, and both can be 0s to 8760h0m0s"},
		{"neither true nor false", instead("cold=true", "cold=maybe"), `word 12, "cold=maybe": "maybe" is not true or false`},
		{"unknown tokens", instead("lag=5ms", "lag=5ms,tokens=equal"), `word 15, "tokens=equal": unknown tokens "equal": they are one of unique, same, mangled`},
		{"unknown resource", instead("resource=fenced", "resource=walled"), `word 11, "resource=walled": unknown resource "walled": it is one of plain, fenced, fenced-writes`},
		{"no workload", without("workload=cache,"), `the schedule lacks the setting "workload"`},
		{"unknown workload", instead("workload=cache", "workload=queue"), `word 10, "workload=queue": unknown workload "queue": it is one of counter, cache`},
		{"a second look, and no cache", instead("workload=cache", "workload=counter"), "B looks into the cache again, and there is none: the workload is counter"},
		{"too many replicas", instead("replicas=1", "replicas=4"), "there are 4 replicas of each node, and can be 0 to 3"},
		{"fewer than no replicas", instead("replicas=1", "replicas=-1"), "there are -1 replicas of each node, and can be 0 to 3"},
		{"replicas from the future", instead("lag=5ms", "lag=-5ms"), "replication lags by -5ms, and can by 0s to 8760h0m0s"},
		{"bad key", instead("key=lock", "key=a b"), `the key is "a b", and must consist of letters, digits, '.', '_' and '-'`},
		{"no clients", without("A=2/1s/500ms/-2s/1.5/true/false/true/true/false,B=1/0s/0s/0s/1/false/true/false/false/true,"), "there are 0 clients, and can be 1 to 8"},
		{"no nodes", without("n1=everysec/-1m0s,"), "there are 0 nodes, and can be 1 to 9"},
		{"a node too many", instead("n1=", "n1=none/0s,n2="), "there are 2 nodes, and setpx-lua runs on 1"},
		{"unknown persistence", instead("everysec", "sometimes"), `word 17, "n1=sometimes/-1m0s": unknown persistence "sometimes": it is one of none, everysec, always`},
		{"too many cycles", instead("A=2/", "A=1001/"), "A has 1001 cycles, and can have 1 to 1000"},
		{"no cycles", instead("A=2/", "A=0/"), "A has 0 cycles, and can have 1 to 1000"},
		{"a clock that stands still", instead("/1.5/", "/0/"), "A's clock runs at rate 0, and can run at 0.1 to 10"},
		{"a clock that runs at no number", instead("/1.5/", "/NaN/"), "A's clock runs at rate NaN, and can run at 0.1 to 10"},
		{"client with a reserved name", instead("B=", "probe="), `a client cannot be named "probe": that name is taken`},
		{"client named as a node", instead("B=", "n7="), `a client cannot be named "n7": that name is taken`},
		{"client named as a replica", instead("B=", "n1r1="), `a client cannot be named "n1r1": that name is taken`},
		{"client with a long name", instead("B=", "abcdefghijklm="), `a client cannot be named "abcdefghijklm": use up to 12 letters, digits and underscores`},
		{"client of a part too few", instead("B=1/0s/0s/0s/1/", "B=1/0s/0s/0s/"), `word 16, "B=1/0s/0s/0s/false/true/false/false/true": has 9 parts between slashes, and should have 10`},

		{"unknown client", settings + ",C:1", `word 19, "C:1": there is no client "C": the schedule has A, B, probe`},
		{"unknown client among others", settings + ",A+C:1", `word 19, "A+C:1": there is no client "C": the schedule has A, B, probe`},
		{"no steps", settings + ",A:0", `word 19, "A:0": the number of steps is a whole number from 1`},
		{"steps in words", settings + ",A:two", `word 19, "A:two": the number of steps is a whole number from 1`},
		{"too many steps", settings + ",A:200001", `word 19, "A:200001": more than 200000 steps: no run is that long`},
		{"too many steps in all", settings + ",A:150000,B:50001", `word 20, "B:50001": more than 200000 steps: no run is that long`},
		{"more steps than a number holds", settings + ",A:9223372036854775807,A:9223372036854775807", `word 19, "A:9223372036854775807": more than 200000 steps: no run is that long`},
		{"a wait of no time", settings + ",:0s", `word 19, ":0s": a wait is : and a duration greater than 0`},
		{"a wait of nothing", settings + ",:", `word 19, ":": a wait is : and a duration greater than 0`},
		{"a note of no number", settings + ",@x", `word 19, "@x": a note is @ and its number, from 1`},
		{"an empty move", settings + ",", `word 19, "": unknown fault "": it is one of ` + faultNames},
		{"unknown fault", settings + ",explode/A", `word 19, "explode/A": unknown fault "explode": it is one of ` + faultNames},
		{"a fault without its client", settings + ",crash", `word 19, "crash": has 0 parts between slashes, and should have 1`},
		{"a fault with too much", settings + ",crash/A/B", `word 19, "crash/A/B": has 2 parts between slashes, and should have 1`},
		{"neither request nor reply", settings + ",drop/A/answer", `word 19, "drop/A/answer": "answer" is neither request nor reply`},
		{"no direction", settings + ",cut/A/n1/up", `word 19, "cut/A/n1/up": unknown direction "up": it is one of both, requests, replies`},
		{"a delay into the past", settings + ",delay/A/reply/-1s", `word 19, "delay/A/reply/-1s": a message cannot take -1s: it can take 0s to 8760h0m0s`},
		{"a step of no length", settings + ",wall/A/soon", `word 19, "wall/A/soon": "soon" is not a duration such as 300ms or 12s`},
		{"too many words", settings + strings.Repeat(",A:1", 1<<16), "the schedule has 65554 words, more than 65536"},
		{"too long", settings + "," + strings.Repeat("x", 1<<20), fmt.Sprintf("the schedule has %d bytes, more than 1048576: that is not one that a run printed", len(settings)+1+1<<20)},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := ParseSchedule(tc.text, catalogue)
			switch {
			case err == nil:
				t.Fatalf("it is accepted, as %s", s)
			case err.Error() != tc.want:
				t.Fatalf("\ngot      %s\nexpected %s", err, tc.want)
			}
		})
	}
}

// faultNames are the words of all kinds of fault.
var faultNames = func() string {
	var all []string
	for _, s := range fault.Kinds() {
		all = append(all, s.Word)
	}
	return strings.Join(all, ", ")
}()

// TestPlayRefuses: a schedule can be well-formed and still not fit what happens.
func TestPlayRefuses(t *testing.T) {
	for _, tc := range []struct{ moves, want string }{
		{"crash/C", `the schedule's crash/C doesn't fit: there is no client "C"`},
		{"pause/n1", `the schedule's pause/n1 doesn't fit: there is no client "n1"`},
		{"resume/C", `the schedule's resume/C doesn't fit: there is no client "C"`},
		{"wall/C/1s", `the schedule's wall/C/1s doesn't fit: there is no client "C"`},
		{"clock/n2/1s", `the schedule's clock/n2/1s doesn't fit: there is no node "n2", only n1 and n1r1`},
		{"drop/A/request", `the schedule's drop/A/request doesn't fit: no request of A is under way`},
		{"hang/C", `the schedule's hang/C doesn't fit: there is no client "C"`},
		{"end-thread/A", `the schedule's end-thread/A doesn't fit: A has no second thread`},
		{"evict/n1", `the schedule's evict/n1 doesn't fit: n1 has nothing to evict`},
		{"evict/n2", `the schedule's evict/n2 doesn't fit: there is no node "n2", only n1 and n1r1`},
		{"forget-scripts/n2", `the schedule's forget-scripts/n2 doesn't fit: there is no node "n2", only n1 and n1r1`},
		{"lag/n1/1s", `the schedule's lag/n1/1s doesn't fit: n1 is no replica`},
		{"failover/n1/-", `the schedule's failover/n1/- doesn't fit: n1 is no replica`},
		{"failover/n1r1/C", `the schedule's failover/n1r1/C doesn't fit: there is no client "C"`},
		{"rejoin/n1", `the schedule's rejoin/n1 doesn't fit: n1 is the master`},
		{"drop/C/request", `the schedule's drop/C/request doesn't fit: there is no client "C"`},
		{"delay/A/reply/1s", `the schedule's delay/A/reply/1s doesn't fit: no reply of A is under way`},
		{"duplicate/A/1s", `the schedule's duplicate/A/1s doesn't fit: A has sent nothing that could arrive twice`},
		{"duplicate/C/1s", `the schedule's duplicate/C/1s doesn't fit: there is no client "C"`},
		{"cut/C/n1/both", `the schedule's cut/C/n1/both doesn't fit: there is no client "C"`},
		{"cut/A/n2/both", `the schedule's cut/A/n2/both doesn't fit: there is no node "n2", only n1 and n1r1`},
		{"heal/A/n2", `the schedule's heal/A/n2 doesn't fit: there is no node "n2", only n1 and n1r1`},
		{"slow/C/n1/1s/1s", `the schedule's slow/C/n1/1s/1s doesn't fit: there is no client "C"`},
		{"down/n2", `the schedule's down/n2 doesn't fit: there is no node "n2", only n1 and n1r1`},
		{"up/n2", `the schedule's up/n2 doesn't fit: there is no node "n2", only n1 and n1r1`},
	} {
		s := mustParse(t, settings+","+tc.moves)
		w := newWorld(t, s.Config)
		if err := w.Play(s.Moves, nil); err == nil || err.Error() != tc.want {
			t.Errorf("%s:\ngot      %v\nexpected %s", tc.moves, err, tc.want)
		}
		if len(w.trace.Events) > 0 {
			t.Errorf("%s has left an event all the same: %s", tc.moves, story(w))
		}
	}
}

// TestMoreStepsThanThereAre: the rest is nothing, not an error.
func TestMoreStepsThanThereAre(t *testing.T) {
	s := mustParse(t, settings+",A+B:1000,aftermath")
	w := newWorld(t, s.Config)
	if err := w.Play(s.Moves, nil); err != nil {
		t.Fatal(err)
	}
	if got := traceOf(t, w).Schedule; !strings.Contains(got, ",--,A+B:") || strings.Contains(got, ":1000") {
		t.Errorf("the schedule counts steps that were not taken: %s", got)
	}
}

func TestLabel(t *testing.T) {
	for in, want := range map[string]string{
		"late-release": "late-release", "my scenario.yaml": "my_scenario.yaml", "/home/me/x": "_home_me_x", "": "-", "été,1": "_t__1",
	} {
		if got := Label(in); got != want || !validLabel(got) {
			t.Errorf("Label(%q) is %q, expected %q", in, got, want)
		}
	}
	if got := Label(strings.Repeat("x", 200)); !validLabel(got) {
		t.Errorf("a long name makes a label of %d characters that no schedule can hold", len(got))
	}
}

// FuzzParseSchedule: no text makes the parser panic; what it accepts prints to a
// text that means the same; and it plays, within the bounds of a run, to
// something or to an error.
func FuzzParseSchedule(f *testing.F) {
	f.Add(settings)
	f.Add(settings + allMoves)
	f.Add(settings + ",A+B:1000,aftermath")
	f.Add(strings.Replace(settings, "setpx-lua", "getset-expired", 1) + ",A:5,:11s,B:9,A:9,crash/B,A:100,aftermath")
	f.Add(strings.Replace(settings, ",n1=", ",n1=none/0s,n2=none/0s,n3=none/0s,n4=none/0s,n5=", 1) + ",A:5")
	worlds := map[string]*World{}
	f.Cleanup(func() {
		for _, w := range worlds {
			if err := w.Close(); err != nil {
				f.Error(err)
			}
		}
	})
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSchedule(text, catalogue)
		if err != nil {
			return
		}
		printed := s.String()
		again, err := ParseSchedule(printed, catalogue)
		if err != nil {
			t.Fatalf("what it prints, it cannot read: %v\n%s", err, printed)
		}
		// A strategy holds functions, which cannot be compared.
		x, y := s, again
		x.Config.Strategy, y.Config.Strategy = strategies.Strategy{}, strategies.Strategy{}
		if !reflect.DeepEqual(x, y) || again.String() != printed {
			t.Fatalf("it prints as something else:\n%+v\n%+v", x, y)
		}
		w := worldFor(t, worlds, s.Config)
		_ = w.Play(s.Moves, nil)
		if w.Err() == nil {
			_ = w.Drain()
		}
		if w.events > MaxEvents+1000 || w.Now() > trace.MaxTime {
			t.Fatalf("the run has gone on for %d events and %s", w.events, w.Now())
		}
		if got := mustParse(t, traceOf(t, w).Schedule).String(); got != w.Schedule().String() {
			t.Fatalf("the run's own schedule doesn't print as it should:\n%s\n%s", got, w.Schedule())
		}
	})
}

// worldFor finds a world for the configuration, or makes one.
func worldFor(t testing.TB, worlds map[string]*World, cfg Config) *World {
	t.Helper()
	key := fmt.Sprint(len(cfg.Nodes), cfg.Replicas, cfg.Strategy.Resends)
	for _, c := range cfg.Clients {
		key += "," + c.Name
	}
	w := worlds[key]
	if w == nil {
		var err error
		if w, err = New(cfg); err != nil {
			t.Fatal(err)
		}
		if len(worlds) < 1000 {
			worlds[key] = w
		} else {
			t.Cleanup(func() { _ = w.Close() })
		}
	}
	reset(t, w, cfg)
	return w
}

// A client that commits after its release has a word more than the others.
func TestScheduleOfCommitLast(t *testing.T) {
	with := strings.Replace(settings, "false/true/false/false/true,", "false/true/false/false/true/commit-last,", 1)
	s, err := ParseSchedule(with, catalogue)
	if err != nil {
		t.Fatal(err)
	}
	if c := s.Config.Clients; c[0].CommitLast || !c[1].CommitLast || s.String() != with {
		t.Errorf("it is read as %+v, and prints\n%s\nexpected\n%s", c, s, with)
	}
}

// A pause that is no fault says why: the client could act, and neither while others act nor while time passes
// does the schedule let it.
func TestHeldBackClientsSayWhy(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A", "B"))
	until(t, w, "A", trace.KindGranted)
	w.Wait(time.Second)
	until(t, w, "B", trace.KindSend)
	inject(t, w, fault.Pause{Client: "B"})
	expectStory(t, w, `
		0.002 A is paused: the schedule doesn't let it act yet
		1.002 B is paused`, trace.KindPause)
}
