package scenarios_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// A reason that says over what a client writes is true of the run: the other one's last access before that is the read, or the write.
func TestReasonsSayOverWhatIsWritten(t *testing.T) {
	said := regexp.MustCompile(`writes over what ([A-Z]\w*) has (read|written)`)
	checked := 0
	for _, s := range scenarios.All() {
		for _, st := range strategies.All() {
			reason := s.Because(st.Name)
			for _, m := range said.FindAllStringSubmatch(reason, -1) {
				run := scenarios.Ran(t, s.Name, st.Name)
				checked++
				last, so := trace.Kind(0), false
				for i := range run.Events {
					switch e := &run.Events[i]; {
					case e.Kind != trace.KindRead && e.Kind != trace.KindWrite:
					case run.Clients[e.Client] == m[1]:
						last = e.Kind
					case e.Kind == trace.KindWrite && last == map[string]trace.Kind{"read": trace.KindRead, "written": trace.KindWrite}[m[2]]:
						so = true
					}
				}
				if !so {
					t.Errorf("%s under %s: %q is not so", st.Name, s.Name, m[0])
				}
			}
		}
	}
	if checked == 0 {
		t.Error("no reason says that")
	}
}

// call is a command that a client has sent, or that a script calls which it has sent.
type call struct {
	client string
	words  []string // in capitals: the command's name, and all that follows it
	script bool
}

var (
	scriptCall = regexp.MustCompile(`redis\.p?call\(([^)]*)\)`)
	scriptWord = regexp.MustCompile(`\w+`)
)

// calls lists the commands of a run's clients. A trace doesn't tell what a script has called, so all that it could call counts.
func calls(run *trace.Trace, st strategies.Strategy) (all []call) {
	texts := map[string]string{}
	for _, s := range st.Scripts {
		texts[s.Hash()] = redis.ScriptText(s)
	}
	for i := range run.Events {
		e := &run.Events[i]
		if e.Kind != trace.KindSend || run.Clients[e.Client] == trace.Probe {
			continue
		}
		client, name := run.Clients[e.Client], strings.ToUpper(e.Args[0])
		all = append(all, call{client, strings.Fields(strings.ToUpper(strings.Join(e.Args, " "))), false})
		text := ""
		switch name {
		case "EVAL":
			text = e.Args[1]
		case "EVALSHA":
			text = texts[e.Args[1]]
		}
		for _, m := range scriptCall.FindAllStringSubmatch(text, -1) {
			all = append(all, call{client, scriptWord.FindAllString(strings.ToUpper(m[1]), -1), true})
		}
	}
	return all
}

// mention is a command in a reason, and what that says of it.
type mention struct {
	name   string
	with   string // an option of it, if one is named
	client string // who sends it, if that is said
	script bool   // a script calls it
	never  bool   // nobody sends it, or the client doesn't
}

var (
	capitals = regexp.MustCompile(`\b([A-Z]{3,})s?\b`)
	option   = regexp.MustCompile(`^ with (NX|XX|GET|EX|PX|EXAT|PXAT)\b`)
	isOption = regexp.MustCompile(`\b[A-Z]{3,} with $`)
	ofClient = regexp.MustCompile(`\b([A-D])(?:'s(?: \w+)?| ha[sd] sent(?: its)?) $`)
	ofScript = regexp.MustCompile(`\b[Ss]cript's $`)
	unsent   = regexp.MustCompile(`(?:\bnever sends|\b(?:sends|there is) no|n't send|\bnor sends an?|\b[Nn]obody gets as far as)(?: the)? $`)
	notSent  = regexp.MustCompile(`^ (?:was never sent|will never come)`)
	byNobody = regexp.MustCompile(`(?:\bthere is no|\b[Nn]obody gets as far as) $`)
	someone  = regexp.MustCompile(`\b[A-D]\b`)
)

// mentions lists the commands in a reason. TTL is none there: that is what it calls the length of a lease.
func mentions(reason string, isCommand func(string) bool) (all []mention) {
	for _, at := range capitals.FindAllStringSubmatchIndex(reason, -1) {
		before, name, after := reason[:at[0]], reason[at[2]:at[3]], reason[at[1]:]
		if name == "TTL" || isOption.MatchString(before) || !isCommand(name) {
			continue
		}
		m := mention{name: name, script: ofScript.MatchString(before), never: unsent.MatchString(before) || notSent.MatchString(after)}
		if with := option.FindStringSubmatch(after); with != nil {
			m.with = with[1]
		}
		if of := ofClient.FindStringSubmatch(before); of != nil {
			m.client = of[1]
		} else if names := someone.FindAllString(before, -1); m.never && len(names) > 0 && !byNobody.MatchString(before) {
			m.client = names[len(names)-1]
		}
		all = append(all, m)
	}
	return all
}

func (m mention) String() string {
	s := m.name
	if m.with != "" {
		s += " with " + m.with
	}
	if m.script {
		s += " in a script"
	}
	if m.client != "" {
		s = m.client + "'s " + s
	}
	return s
}

// is reports whether a command of a run is the one that a reason names.
func (m mention) is(c call) bool {
	return c.words[0] == m.name && (m.client == "" || m.client == c.client) && (!m.script || c.script) && (m.with == "" || slices.Contains(c.words, m.with))
}

// What a lock sends in the place of another's commands stands in a reason that it has of that lock.
func TestInsteadIsTold(t *testing.T) {
	for _, st := range strategies.All() {
		for theirs, own := range st.Instead {
			if !slices.ContainsFunc(scenarios.All(), func(s *scenarios.Scenario) bool {
				like := s.ExpectsLike(st.Name)
				return like != "" && strings.Contains(s.Because(like), theirs) && strings.Contains(s.Because(st.Name), own)
			}) {
				t.Errorf("%s has no reason in which %s stands for %s: leave that out", st.Name, own, theirs)
			}
		}
	}
}

// commandNames reports of a word whether it is the name of a command: the simulated server knows it.
func commandNames(t *testing.T) func(word string) bool {
	server, err := redis.New(0, "n1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	known := map[string]bool{}
	return func(word string) bool {
		is, asked := known[word]
		if !asked {
			reply, _ := server.Execute(0, redis.NewPeer(server), []string{word})
			is = !strings.HasPrefix(string(reply), "-ERR unknown command")
			known[word] = is
		}
		return is
	}
}

// A reason that names a command is about a run in which that is sent: by the client, from the script and with the option
// that it names. A command that is not sent, it says, is not.
func TestReasonsNameCommandsOfTheRun(t *testing.T) {
	isCommand := commandNames(t)
	compared, ofClients, ofScripts, withOptions, never := 0, 0, 0, 0, 0
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	for _, s := range scenarios.All() {
		for _, st := range strategies.All() {
			at, reason := s.BecauseAt(st.Name)
			said := mentions(reason, isCommand)
			if len(said) == 0 {
				continue
			}
			sent := calls(scenarios.Ran(t, s.Name, st.Name), st)
			for _, m := range said {
				count(&compared, true)
				count(&ofClients, m.client != "")
				count(&ofScripts, m.script)
				count(&withOptions, m.with != "")
				count(&never, m.never)
				switch is := slices.ContainsFunc(sent, m.is); {
				case is && m.never:
					t.Errorf("%s: %s under %s sends %s; the reason says that it doesn't: %s", at, st.Name, s.Name, m, reason)
				case !is && !m.never:
					t.Errorf("%s: %s under %s doesn't send %s, which the reason names: %s", at, st.Name, s.Name, m, reason)
				}
			}
		}
	}
	if compared < 400 || ofClients < 150 || ofScripts < 2 || withOptions < 10 || never < 10 {
		t.Errorf("%d commands were compared: %d of clients, %d of scripts, %d with an option, and %d that are not sent",
			compared, ofClients, ofScripts, withOptions, never)
	}
}
