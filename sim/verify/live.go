package verify

import (
	"context"
	"crypto/sha1" //nolint:gosec // the digest that EVALSHA takes
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"lockstep/sim/redis"
	"lockstep/sim/resp"
	"lockstep/sim/trace"
)

// Prefix begins every key that a [Live] stores.
const Prefix = "lockstep:verify:"

// Slack is how far real waits may be late. A replay on a server that isn't ours stops where a
// key has less life left.
const Slack = 250 * time.Millisecond

// Live replays runs on servers that run already, and waits as long as the runs do. Each key
// begins with [Prefix]. It is for one replay at a time; several may use the same servers.
type Live struct {
	ctx      context.Context //nolint:containedctx // a replay consists of waiting
	address  []string
	longest  time.Duration
	name     string
	admin    []*conn // by address
	known    map[string]bool
	replayed int

	run      *Run
	began    time.Time
	due      time.Time         // the instant of the newest step
	late     time.Duration     // by which a step was, at most
	salts    map[int]int       // by simulated server: how often it has forgotten its scripts
	digests  map[string]string // of the run's scripts: as it knows them, by salted digest
	texts    map[string]string // the texts, by the digest that the run knows
	channels []string          // to which the run subscribes
}

// NewLives connects n times to servers, for [All]. The simulated servers are spread over the
// addresses, host:port or the path of a socket; with several on one they differ by their
// keys. Runs are replayed for the longest time at most. The version is that of the first
// server. It fails if a server can't be reached, or if it has a key that begins with Prefix.
// The password is that of the variable REDISCLI_AUTH, as for redis-cli.
func NewLives(ctx context.Context, n int, addresses []string, longest time.Duration) (all []Replayer, version string, err error) {
	for i := range n {
		l := &Live{ctx: ctx, address: addresses, longest: longest, name: strconv.Itoa(i), known: map[string]bool{}}
		all = append(all, l)
		for j := range addresses {
			c, failed := l.connect(j)
			if failed == nil && i == 0 {
				failed = refuseUsed(c, addresses[j])
			}
			if err = failed; err != nil {
				return nil, "", errors.Join(err, closeAll(all))
			}
			l.admin = append(l.admin, c)
		}
	}
	version, err = versionOf(all[0].(*Live).admin[0].ask)
	if err != nil {
		return nil, "", errors.Join(err, closeAll(all))
	}
	return all, version, nil
}

// versionOf asks a server for its name and version, as in "Redis 7.0.15" or "Valkey 8.1.0".
// Valkey shows in redis_version the Redis that it is compatible with, and its own version in a
// field of its own. A server whose INFO tells nothing, such as one that forbids it, tells more
// in its HELLO.
func versionOf(ask func(args ...string) ([]byte, error)) (string, error) {
	reply, err := ask("INFO", "server")
	if err == nil {
		info := string(reply)
		if v := infoField(info, "valkey_version"); v != "" {
			return "Valkey " + v, nil
		}
		if v := infoField(info, "redis_version"); v != "" {
			return "Redis " + v, nil
		}
		reply, err = ask("HELLO")
	}
	if err != nil {
		return "", err
	}
	words := strings.Split(strings.Trim(resp.Text(reply), "[]"), ", ")
	name, version := "", ""
	for i := 0; i+1 < len(words); i += 2 {
		switch words[i] {
		case "server":
			name = words[i+1]
		case "version":
			version = words[i+1]
		}
	}
	if name == "" {
		return "a server that tells neither its name nor its version", nil
	}
	return strings.TrimSpace(strings.ToUpper(name[:1]) + name[1:] + " " + version), nil
}

func closeAll(all []Replayer) (err error) {
	for _, x := range all {
		err = errors.Join(err, x.Close())
	}
	return err
}

// connect opens a connection that has passed the server's password.
func (l *Live) connect(j int) (*conn, error) {
	network := "tcp"
	if strings.Contains(l.address[j], "/") {
		network = "unix"
	}
	c, err := dial(network, l.address[j])
	if err != nil {
		return nil, err
	}
	greeting := []string{"PING"}
	if password := os.Getenv("REDISCLI_AUTH"); password != "" {
		greeting = []string{"AUTH", password}
	}
	reply, err := c.ask(greeting...)
	if err == nil && reply[0] == '-' {
		err = fmt.Errorf("%s: %s", l.address[j], strings.TrimSpace(string(reply[1:])))
		if strings.HasPrefix(string(reply), "-NOAUTH") {
			err = fmt.Errorf("%w; put the password into the variable REDISCLI_AUTH", err)
		}
	}
	if err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// refuseUsed fails if a server has a key of ours, which may be somebody else's.
func refuseUsed(c *conn, address string) error {
	keys, err := scan(c, Prefix)
	if err == nil && len(keys) > 0 {
		err = fmt.Errorf("%s has keys that begin with %s, such as %q: they would be overwritten. If they are left from a replay that was killed, remove them: redis-cli --scan --pattern '%s*' | xargs redis-cli del",
			address, Prefix, keys[0], Prefix)
	}
	return err
}

// scan lists the keys that begin with a prefix.
func scan(c *conn, prefix string) (keys []string, err error) {
	for cursor := "0"; ; {
		reply, err := c.ask("EVAL", "local r = redis.call('SCAN', ARGV[1], 'MATCH', ARGV[2], 'COUNT', 1000) table.insert(r[2], 1, r[1]) return r[2]", "0", cursor, prefix+"*")
		if err != nil {
			return nil, err
		}
		words, err := resp.Words(reply)
		if err != nil {
			return nil, err
		}
		keys = append(keys, words[1:]...)
		if cursor = words[0]; cursor == "0" {
			return keys, nil
		}
	}
}

// Replay replays a run. A difference is a part of the result; it fails if a server does.
func (l *Live) Replay(r Run) (Result, error) {
	result, err := play(l, r)
	return result, errors.Join(err, l.clean(l.mine()))
}

// Close removes the keys that are left, and disconnects.
func (l *Live) Close() error {
	err := l.clean(Prefix + l.name + ":")
	for _, c := range l.admin {
		err = errors.Join(err, c.Close())
	}
	return err
}

// mine is the prefix of all keys of the run.
func (l *Live) mine() string { return fmt.Sprintf("%s%s:%d:", Prefix, l.name, l.replayed) }

// key returns a simulated server's key as the real one has it.
func (l *Live) key(server int, key string) string {
	return l.mine() + l.run.Trace.Nodes[server] + ":" + key
}

func (l *Live) clean(prefix string) error {
	for _, c := range l.admin {
		keys, err := scan(c, prefix)
		if err == nil && len(keys) > 0 {
			_, err = c.ask(append([]string{"DEL"}, keys...)...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// begin implements host.
func (l *Live) begin(r *Run) error {
	l.replayed++
	l.run, l.began = r, time.Now()
	l.due, l.late = l.began, 0
	l.salts, l.digests, l.texts = map[int]int{}, map[string]string{}, map[string]string{}
	l.channels = nil
	for _, e := range r.Trace.Events {
		if e.Kind == trace.KindExecute && subscribes(e.Args) {
			l.channels = append(l.channels, e.Args[1:]...)
		}
	}
	for _, script := range r.Config.Strategy.Scripts {
		text := redis.ScriptText(script)
		l.texts[digest(text)] = text
		if r.Config.Cold {
			continue
		}
		for i := range r.Config.Nodes {
			if _, err := l.adminOf(i).ask("SCRIPT", "LOAD", l.salted(i, text)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (l *Live) adminOf(server int) *conn { return l.admin[server%len(l.admin)] }

// arrive implements host: it waits.
func (l *Live) arrive(_ int, at time.Duration) error {
	if at > l.longest {
		return halt(fmt.Sprintf("longer than %s", l.longest))
	}
	l.due = l.began.Add(at)
	t := time.NewTimer(time.Until(l.due))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-l.ctx.Done():
		return context.Cause(l.ctx)
	}
}

func (l *Live) outlast(int, time.Duration) error { return nil }

func (l *Live) settled(server int) error {
	_, err := l.adminOf(server).ask("PING")
	return err
}

func (l *Live) dial(server int) (*conn, error) { return l.connect(server % len(l.address)) }

func (l *Live) slack() time.Duration { return Slack }

// tardy implements host: this machine, the server or the network has been slower than the
// slack allows, so the server may rightly differ.
func (l *Live) tardy() bool { return l.late > Slack }

func (l *Live) executed(*trace.Event) error { return nil }

func (l *Live) lacks(server int, args []string) (string, error) {
	return lacking(l.known, l.adminOf(server), args, l.key(server, "probe"))
}

// subscribes recognises SUBSCRIBE, UNSUBSCRIBE and those of patterns.
func subscribes(args []string) bool { return strings.HasSuffix(strings.ToUpper(args[0]), "SUBSCRIBE") }

// wording implements host: keys and channels get the prefix, and scripts a comment, so that
// the server's script cache has no part in the run.
func (l *Live) wording(server int, args []string) ([]string, error) {
	if l.instant(args) {
		return nil, halt("a command has an instant of the simulated clock")
	}
	words := slices.Clone(args)
	for i := 1; i < len(words); i++ {
		if slices.Contains(l.channels, words[i]) {
			words[i] = l.key(server, words[i])
		}
	}
	if subscribes(args) {
		return words, nil
	}
	switch name := strings.ToUpper(args[0]); {
	case len(args) > 1 && (name == "EVAL" || name == "EVALSHA"):
		words[1] = l.script(server, name, args[1])
	case name == "SCRIPT" && len(args) == 3 && strings.EqualFold(args[1], "LOAD"):
		words[2] = l.salted(server, args[2])
	}
	reply, err := l.adminOf(server).ask(append([]string{"COMMAND", "GETKEYS"}, args...)...)
	if err != nil || reply[0] == '-' { // it has no keys, or is malformed, and then does nothing
		return words, err
	}
	keys, err := resp.Words(reply)
	for i := 1; i < len(args) && len(keys) > 0; i++ {
		if args[i] == keys[0] {
			words[i], keys = l.key(server, args[i]), keys[1:]
		}
	}
	return words, err
}

// instant reports whether a command sets an expiry to an instant, or reads the clock: the
// real server's is another than the run's.
func (l *Live) instant(args []string) bool {
	text := strings.Join(args, " ")
	if len(args) > 1 && strings.EqualFold(args[0], "EVALSHA") {
		text += l.texts[strings.ToLower(args[1])]
	}
	text = strings.ToUpper(text)
	for _, word := range []string{"PXAT", "EXAT", "EXPIREAT", "'TIME'", `"TIME"`} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return strings.EqualFold(args[0], "TIME")
}

// script returns a script, or the digest of one, with the comment.
func (l *Live) script(server int, command, word string) string {
	if command == "EVAL" {
		l.texts[digest(word)] = word
		return l.salted(server, word)
	}
	if text, known := l.texts[strings.ToLower(word)]; known {
		return digest(l.salted(server, text))
	}
	return word
}

// salted returns a script with a comment. Where the run expects that the server has the script
// already, the comment is always the same. Otherwise no other run has it.
func (l *Live) salted(server int, text string) string {
	salted := text + "\n-- " + Prefix
	listed := slices.ContainsFunc(l.run.Config.Strategy.Scripts, func(s *goredis.Script) bool { return s.Hash() == digest(text) })
	if !listed || l.run.Config.Cold || l.salts[server] > 0 {
		salted += fmt.Sprintf("%d:%s%d", os.Getpid(), strings.TrimPrefix(l.key(server, ""), Prefix), l.salts[server])
	}
	l.digests[digest(salted)] = digest(text)
	return salted
}

func digest(text string) string {
	sum := sha1.Sum([]byte(text)) //nolint:gosec // the digest that EVALSHA takes
	return hex.EncodeToString(sum[:])
}

// reading implements host.
func (l *Live) reading(server int, reply string) string {
	reply = strings.ReplaceAll(reply, l.key(server, ""), "")
	if len(reply) >= 40 {
		for salted, plain := range l.digests {
			reply = strings.ReplaceAll(reply, salted, plain)
		}
	}
	return reply
}

// rows implements host.
func (l *Live) rows(server int, keys []string) ([]row, error) {
	defer func() { l.late = max(l.late, time.Since(l.due)) }() // it is the last part of each step
	if len(keys) == 0 {
		return nil, nil
	}
	question := []string{"EVAL", readRows, strconv.Itoa(len(keys))}
	for _, k := range keys {
		question = append(question, l.key(server, k))
	}
	reply, err := l.adminOf(server).ask(question...)
	if err != nil {
		return nil, err
	}
	rows, err := parseRows(reply)
	for i := range rows {
		rows[i].key = strings.TrimPrefix(rows[i].key, l.key(server, ""))
	}
	return rows, err
}

// fault implements host.
func (l *Live) fault(e *trace.Event) error {
	switch e.Kind {
	case trace.KindExpire:
		return l.expire(e)
	case trace.KindFlush: // the server's cache is its own
		l.salts[e.Node]++
		return nil
	case trace.KindNodeStep:
		return halt("the clock of a server that isn't ours can't be set")
	case trace.KindDown, trace.KindUp:
		return halt("a server that isn't ours can't be restarted")
	case trace.KindReplicate, trace.KindSync, trace.KindFailover:
		return halt("a server that isn't ours gets no replicas")
	}
	words, err := deed(l.run.Trace, e, func(key string) string { return l.key(e.Node, key) })
	if err == nil {
		_, err = l.adminOf(e.Node).ask(words...)
	}
	return err
}

// expire waits until keys are gone, which were stored somewhat later than in the run. It
// stops waiting when that is too late for the slack; then they will be found.
func (l *Live) expire(e *trace.Event) error {
	question := []string{"EXISTS"}
	for _, ch := range e.Changes {
		question = append(question, l.key(e.Node, ch.Key))
	}
	_, err := poll(Slack, func() (bool, error) {
		reply, err := l.adminOf(e.Node).ask(question...)
		return string(reply) == ":0\r\n", err
	})
	return err
}
