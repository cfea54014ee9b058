package export

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/testenv"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// browser is a headless Chromium that is spoken to over a pair of pipes, in the
// DevTools protocol: a JSON object and a zero byte at a time.
type browser struct {
	t       *testing.T
	in      io.Writer
	out     *bufio.Reader
	next    int
	session string
	faults  []string // what the page complained of
}

func findChromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "headless_shell",
		"/usr/bin/chromium", "/snap/bin/chromium", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	testenv.Need(t, errors.New("no Chromium here: the player's page is tested only where one is installed (Debian's package chromium)"))
	return ""
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	path := findChromium(t)
	theirIn, in := pipe(t)
	out, theirOut := pipe(t)
	cmd := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-extensions",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage",
		"--user-data-dir="+t.TempDir(), "--remote-debugging-pipe", "about:blank")
	cmd.ExtraFiles = []*os.File{theirIn, theirOut}
	var complaints strings.Builder
	cmd.Stderr = &complaints
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	theirIn.Close()  //nolint:errcheck,gosec // the browser has them now
	theirOut.Close() //nolint:errcheck,gosec // the browser has them now
	t.Cleanup(func() {
		in.Close()         //nolint:errcheck,gosec // it ends when its pipe does
		cmd.Process.Kill() //nolint:errcheck,gosec // and if not, so
		cmd.Wait()         //nolint:errcheck,gosec // it was killed
		if t.Failed() {
			t.Log(complaints.String())
		}
	})
	const patience = time.Minute
	if err := out.SetReadDeadline(time.Now().Add(patience)); err != nil { // a browser that hangs must not hang the tests
		t.Fatal(err)
	}
	b := &browser{t: t, in: in, out: bufio.NewReader(out)}
	var target struct{ TargetID, SessionID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &target)
	b.session = target.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() }) //nolint:errcheck,gosec // some are closed already
	return r, w
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct{ Message string }
}

// call asks the browser for something and waits for the answer.
func (b *browser) call(method string, params map[string]any, result any) {
	b.t.Helper()
	b.next++
	request := map[string]any{"id": b.next, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	answer := b.until(func(m *message) bool { return m.ID == b.next })
	if answer.Error != nil {
		b.t.Fatalf("%s: %s", method, answer.Error.Message)
	}
	if result != nil {
		if err := json.Unmarshal(answer.Result, result); err != nil {
			b.t.Fatal(err)
		}
	}
}

// until reads what the browser has to say up to a message, and keeps what the page complains of.
func (b *browser) until(wanted func(*message) bool) *message {
	b.t.Helper()
	for {
		text, err := b.out.ReadBytes(0)
		if err != nil {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				b.t.Fatal("the browser does not answer")
			}
			b.t.Fatal(err)
		}
		m := &message{}
		if err := json.Unmarshal(text[:len(text)-1], m); err != nil {
			b.t.Fatal(err)
		}
		switch m.Method {
		case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
			b.faults = append(b.faults, string(m.Params))
		case "Network.requestWillBeSent":
			if !strings.Contains(string(m.Params), `"url":"file://`) {
				b.faults = append(b.faults, "asks the network: "+string(m.Params))
			}
		}
		if wanted(m) {
			return m
		}
	}
}

// open loads a page at a fragment.
func (b *browser) open(page, fragment string) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "run.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.call("Page.navigate", map[string]any{"url": "file://" + file + fragment}, nil)
	b.until(func(m *message) bool { return m.Method == "Page.loadEventFired" })
}

// ask evaluates an expression in the page.
func (b *browser) ask(expression string) string {
	b.t.Helper()
	var answer struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &answer)
	if answer.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expression, answer.ExceptionDetails)
	}
	return fmt.Sprint(answer.Result.Value)
}

// press types keys as a person does.
func (b *browser) press(keys ...string) {
	b.t.Helper()
	codes := map[string]int{"ArrowRight": 39, "ArrowLeft": 37, "Home": 36, "End": 35}
	for _, k := range keys {
		event := map[string]any{"type": "keyDown", "key": k, "windowsVirtualKeyCode": codes[k]}
		if len(k) == 1 {
			event["text"] = k
		}
		b.call("Input.dispatchKeyEvent", event, nil)
		b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": k}, nil)
	}
}

func (b *browser) text(id string) string {
	return b.ask(`document.getElementById("` + id + `").innerText`)
}

func (b *browser) at() string { return b.ask(`document.body.dataset.pos`) }

func (b *browser) calm() {
	b.t.Helper()
	for _, f := range b.faults {
		b.t.Errorf("the page complains: %s", f)
	}
}

// Forward and back through a whole run, the page says at each event what the fold says.
func TestPlayerSteps(t *testing.T) {
	testenv.Long(t)
	b := openBrowser(t)
	run := record(t, "setpx-lua", "pause-past-ttl")
	b.open(HTML(run), "#0")
	last := len(run.Events)
	check := func(pos int) {
		t.Helper()
		if got := b.at(); got != fmt.Sprint(pos) {
			t.Fatalf("the page is at %s, want %d", got, pos)
		}
		state := run.StateAt(pos)
		if got := b.text("alarm"); !strings.HasSuffix(got, run.Holders(state)) {
			t.Fatalf("at %d it says %q, want %q", pos, got, run.Holders(state))
		}
		if got := b.ask(`[...document.querySelectorAll("#state tr")].find(r => r.cells[0].innerText == "believers").cells[1].innerText`); got != fmt.Sprint(state.Believers()) {
			t.Errorf("at %d it has %s believers, want %d", pos, got, state.Believers())
		}
		if got := b.ask(`document.querySelectorAll("#events li:not([hidden])").length`); got != fmt.Sprint(pos) {
			t.Errorf("at %d it lists %s events: the future is under fog", pos, got)
		}
		if pos > 0 && !strings.Contains(b.text("event"), run.Text(&run.Events[pos-1])) {
			t.Errorf("at %d it tells of %q", pos, b.text("event"))
		}
	}
	check(0)
	for pos := 1; pos <= last; pos++ {
		b.press("ArrowRight")
		check(pos)
	}
	b.press("ArrowRight")
	check(last)
	if got := b.ask(`[...document.querySelectorAll("#events li")].filter(e => e.matches(".here") || e.getAttribute("aria-selected") == "true").map(e => e.id).join()`); got != fmt.Sprintf("e%d", last) {
		t.Errorf("selected are %s", got)
	}
	if got := b.text("verdict"); !strings.HasSuffix(got, run.Verdict().String()) {
		t.Errorf("at the end it says %q", got)
	}
	for pos := last - 1; pos >= last-5; pos-- {
		b.press("ArrowLeft")
		check(pos)
	}
	b.press("g")
	check(0)
	if got := b.text("broken"); got != "" {
		t.Errorf("rewound, it still says %q", got)
	}
	b.press("G")
	check(last)
	b.calm()
}

// How long a pause lasts is on the page from its end on, and not before: in the run's own
// picture and in that of the run below it.
func TestPlayerKeepsTheLengthOfPauses(t *testing.T) {
	testenv.Long(t)
	b := openBrowser(t)
	run := record(t, "naive-del", "late-release")
	b.open(Page{Other: record(t, "setpx-lua", "late-release")}.HTML(run), "#0")
	paused := 1 + slices.IndexFunc(run.Events, func(e trace.Event) bool { return e.Kind == trace.KindPause })
	resumed := 1 + slices.IndexFunc(run.Events, func(e trace.Event) bool { return e.Kind == trace.KindResume })
	if resumed < 2 {
		t.Fatal("nobody is paused in it")
	}
	length := trace.Brief(run.Events[resumed-1].At - run.Events[paused-1].At)
	said := func(box string) string {
		return b.ask(`[...document.querySelectorAll("#` + box + ` svg g[data-from], #` + box + ` svg g[data-until]")].filter(g => g.style.display != "none").map(g => g.textContent.trim()).filter(s => s.includes("` + length + `")).join()`)
	}
	for range resumed - 1 {
		b.press("ArrowRight")
		if above, below := said("timeline"), said("below"); above != "" || below != "" {
			t.Fatalf("at %s, before the pause has ended, it says %q and %q", b.at(), above, below)
		}
	}
	b.press("ArrowRight")
	if above, below := said("timeline"), said("below"); above != "paused for "+length || below != above {
		t.Errorf("after the pause it says %q and %q", above, below)
	}
	b.press("g")
	if above := said("timeline"); above != "" {
		t.Errorf("rewound, it still says %q", above)
	}
	b.ask(`document.getElementById("clear").click()`)
	if above, below := said("timeline"), said("below"); above == "" || below == "" {
		t.Errorf("with the future to be seen it says %q and %q", above, below)
	}
	b.calm()
}

// ! goes from violation to violation, and the proof leads to its events.
func TestPlayerShowsViolations(t *testing.T) {
	b := openBrowser(t)
	run := record(t, "setpx-lua", "pause-past-ttl")
	b.open(HTML(run), "#0")
	for i, v := range run.Violations {
		b.press("!")
		if got := b.at(); got != fmt.Sprint(v.Last()) {
			t.Fatalf("violation %d: the page is at %s, want %d", i, got, v.Last())
		}
		if got := b.text("alarm"); !strings.HasPrefix(got, "!! "+strings.ToUpper(v.Code.Name())+" !!") {
			t.Errorf("it says %q", got)
		}
		if got := b.ask(`document.getElementById("now").className`); got != "level2" {
			t.Errorf("it looks like %s", got)
		}
		if notes := b.text("notes"); !strings.Contains(notes, v.Text) {
			t.Errorf("it does not say why: %q", notes)
		}
	}
	v := run.Violations[0]
	b.ask(`document.querySelector("#broken button").click()`)
	if got := b.at(); got != fmt.Sprint(v.Events[0]) {
		t.Errorf("its proof leads to %s, want %d", got, v.Events[0])
	}
	b.calm()
}

// Chapters, the slider, the list, play and the address all lead to a place.
func TestPlayerFindsItsWay(t *testing.T) {
	testenv.Long(t)
	b := openBrowser(t)
	run := record(t, "get-then-del", "release-gap")
	lit := 1 + slices.IndexFunc(run.Events, func(e trace.Event) bool { return strings.HasPrefix(e.Source.File, "strategies/") })
	b.open(HTML(run), fmt.Sprintf("#%d", lit))
	at := func(want int, how string) {
		t.Helper()
		if got := b.at(); got != fmt.Sprint(want) {
			t.Errorf("%s leads to %s, want %d", how, got, want)
		}
	}
	at(lit, "the address")
	if got := b.ask(`document.querySelector("#source .lit .n").innerText`); got == "" {
		t.Error("no line of the source is lit")
	}
	b.press("g", "]")
	chapter := 0
	for _, n := range run.Notes {
		if pos := n.Seq - 1; pos > 0 && chapter == 0 {
			chapter = pos
		}
	}
	at(chapter, "]")
	b.press("[")
	at(0, "[")
	b.ask(`{ const s = document.getElementById("scrub"); s.focus(); s.value = 12; s.dispatchEvent(new Event("input")); }`)
	at(12, "the slider")
	b.press("ArrowRight")
	at(13, "an arrow key on the slider")
	if got := b.ask(`document.getElementById("scrub").getAttribute("aria-valuetext")`); !strings.HasPrefix(got, "event 13 of ") {
		t.Errorf("the slider reads %q", got)
	}
	b.ask(`document.getElementById("clear").click()`)
	b.ask(`document.getElementById("e40").click()`)
	at(40, "a click on an event")
	b.ask(`document.getElementById("events").focus()`)
	b.press("ArrowLeft", "ArrowLeft")
	at(38, "arrow keys on the list")
	if got := b.ask(`location.hash`); got != "#38" {
		t.Errorf("the address is %s", got)
	}
	b.ask(`location.hash = "#7"; new Promise(r => setTimeout(r))`)
	b.ask(`1`)
	at(7, "a new address")
	b.calm()
}

// A user's text stays text, in a browser too.
func TestPlayerRunsNoForeignScript(t *testing.T) {
	b := openBrowser(t)
	b.open(HTML(spoilt()), "#4")
	if got := b.ask(`String(window.owned)`); got != "undefined" {
		t.Error("a script in the scenario's text has run")
	}
	for _, id := range []string{"notes", "event", "broken", "state", "events"} {
		if got := b.ask(`document.querySelectorAll("#` + id + ` :is(script, b:not(#broken b))").length`); got != "0" {
			t.Errorf("markup in the scenario's text has become elements of #%s", id)
		}
	}
	if got := b.text("notes"); !strings.Contains(got, `</script><script>window.owned=1</script>`) {
		t.Errorf("the note reads %q", got)
	}
	b.ask(`{ const s = document.createElement("script"); s.textContent = "window.owned = 2"; document.body.append(s); }`)
	if got := b.ask(`String(window.owned)`); got != "undefined" {
		t.Error("the page's policy lets a foreign script run")
	}
}

// The picture is drawn without a complaint, and nothing runs out of it.
func TestPictureFits(t *testing.T) {
	testenv.Long(t)
	b := openBrowser(t)
	for _, run := range []*trace.Trace{record(t, "setpx-lua", "pause-past-ttl"), record(t, "redlock", "slow-node"), spoilt()} {
		b.open("<!doctype html><meta charset=utf-8>"+SVG(run), "")
		out := b.ask(`{
  const svg = document.querySelector("svg"), box = svg.getBoundingClientRect();
  [...svg.querySelectorAll("text")].filter((e) => { const r = e.getBoundingClientRect(); return r.left < box.left || r.right > box.right || r.bottom > box.bottom; }).map((e) => e.textContent).join("; ");
}`)
		if out != "" {
			t.Errorf("%s under %.20q: text runs out of the picture: %s", run.Strategy, run.Scenario, out)
		}
		over := b.ask(`{
  [...document.querySelectorAll("rect.ls-chip + text")].filter((e) => e.getBoundingClientRect().width > e.previousElementSibling.getBoundingClientRect().width + 1).map((e) => e.textContent).join("; ");
}`)
		if over != "" {
			t.Errorf("%s under %.20q: letters are wider than was reckoned: %s", run.Strategy, run.Scenario, over)
		}
	}
	b.calm()
}

// A page without an address opens at the first failure, with its cause; from there one button, or the
// space bar, plays the run from its beginning.
func TestPageOpensWhereItBreaks(t *testing.T) {
	b := openBrowser(t)
	run := record(t, "naive-del", "pause-after-check")
	b.open(HTML(run), "")
	first := run.Violations[0]
	if got := b.at(); got != fmt.Sprint(first.Last()) || b.ask(`location.hash`) != "" {
		t.Errorf("the page opens at %s, and the first failure is at %d", got, first.Last())
	}
	if got := b.text("poster"); !strings.Contains(got, "Watch it from the beginning") {
		t.Errorf("it says %q", got)
	}
	if notes := b.text("notes"); !strings.Contains(notes, "A is paused at") || !strings.Contains(notes, first.Text) {
		t.Errorf("the cause isn't told: %q", notes)
	}
	b.press(" ")
	if got := b.text("play"); b.at() != "0" || got != "stop" || b.ask(`document.getElementById("poster").hidden`) != "true" {
		t.Errorf("the space bar leads to %s, and the button says %q", b.at(), got)
	}
	b.press(" ")
	b.calm()
}

// The legend has the signs that are on the screen, and no others.
func TestLegendGrowsWithTheRun(t *testing.T) {
	testenv.Long(t)
	b := openBrowser(t)
	b.open(HTML(record(t, "naive-del", "late-release")), "#0")
	shown := func() string {
		return b.ask(`[...document.querySelectorAll("#legend li:not([hidden])")].map(e => e.innerText.trim()).join("; ")`)
	}
	if got := shown(); got != "" {
		t.Errorf("at the beginning it has %q", got)
	}
	b.press("!")
	if got := shown(); !strings.Contains(got, "breaks a property") || !strings.Contains(got, "paused") || !strings.Contains(got, "sends a command") {
		t.Errorf("at the violation it has %q", got)
	}
	b.calm()
}

// Questions stand at their position; a key or a click answers, the page goes on to the event that decides, and
// judges.
func TestPageAsks(t *testing.T) {
	testenv.Long(t)
	b := openBrowser(t)
	run := record(t, "naive-del", "late-release")
	questions := read(run).QuestionsApart()
	if len(questions) < 2 {
		t.Fatalf("%d questions", len(questions))
	}
	page := HTML(run)
	q := questions[0]
	for key, want := range map[string]string{
		fmt.Sprint(q.Right + 1): "You said: " + q.Choices[q.Right] + ". Right.", fmt.Sprint((q.Right+1)%len(q.Choices) + 1): ". It is: " + q.Choices[q.Right] + ".",
		"Enter": q.Text + " It is: " + q.Choices[q.Right] + ".",
	} {
		b.open(page, fmt.Sprintf("#%d", q.Pos))
		if got := b.text("ask"); !strings.Contains(got, q.Text) || strings.Contains(got, q.Why) {
			t.Errorf("it asks %q", got)
		}
		b.press(key)
		if got := b.text("ask"); b.at() != fmt.Sprint(q.Until) || !strings.Contains(got, want) || !strings.Contains(got, q.Why) {
			t.Errorf("%s leads to %s, want %d: %q", key, b.at(), q.Until, got)
		}
	}
	at := slices.IndexFunc(questions, func(q timeline.Question) bool { return q.Script })
	b.open(page, fmt.Sprintf("#%d", questions[at].Said)) // one who comes here hasn't been asked
	if got, want := b.text("ask"), questions[at].Then+" It is: "+questions[at].Choices[questions[at].Right]+"."; !strings.Contains(got, want) {
		t.Errorf("it tells %q, and not %q", got, want)
	}
	q = questions[1]
	b.open(page, fmt.Sprintf("#%d", q.Pos))
	b.ask(`document.querySelector("#ask .choice").click()`)
	if b.at() != fmt.Sprint(q.Until) {
		t.Errorf("a click leads to %s, want %d", b.at(), q.Until)
	}
	b.press("ArrowLeft", "5", "ArrowRight")
	if b.at() != fmt.Sprint(q.Until) {
		t.Errorf("a digit without a question leads to %s", b.at())
	}
	b.calm()
}

// Two runs go on together, each with its own holders, to their ends.
func TestPageCompares(t *testing.T) {
	testenv.Long(t)
	b := openBrowser(t)
	run, other := record(t, "naive-del", "late-release"), record(t, "setpx-lua", "late-release")
	b.open(Page{Other: other}.HTML(run), "#0")
	held := func() string { return b.text("held") }
	before := b.ask(`document.getElementById("cursor-2").getAttribute("transform")`)
	b.press("!")
	if got := held(); !strings.Contains(got, "The same with setpx-lua:") || strings.Contains(got, "!!") || b.ask(`document.getElementById("cursor-2").getAttribute("transform")`) == before {
		t.Errorf("at the violation of the first it says %q", got)
	}
	b.press("G")
	if got := held(); !strings.Contains(got, "Verdict: "+other.Verdict().String()+".") {
		t.Errorf("at the end it says %q", got)
	}
	if got := b.ask(`[...document.querySelectorAll("[id]")].map(e => e.id).filter((id, i, all) => all.indexOf(id) != i).join()`); got != "" {
		t.Errorf("two elements are called %s", got)
	}
	b.calm()
}

// On a telephone nothing runs out of the page, and in a frame there are the picture, the words and the
// buttons.
func TestPageOnATelephoneAndInAFrame(t *testing.T) {
	testenv.Long(t)
	b := openBrowser(t)
	for _, width := range []int{320, 390, 768} {
		b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 700, "deviceScaleFactor": 2, "mobile": true}, nil)
		b.open(Page{Other: record(t, "setpx-lua", "late-release")}.HTML(record(t, "naive-del", "late-release")), "#30")
		b.press("!")
		if got := b.ask(`document.documentElement.scrollWidth`); got != fmt.Sprint(width) {
			t.Errorf("%d pixels: the page is %s wide", width, got)
		}
	}
	b.call("Emulation.clearDeviceMetricsOverride", nil, nil)
	b.ask(`document.body.classList.add("framed")`)
	if got := b.ask(`["events", "state", "source"].filter(id => document.getElementById(id).offsetParent).join()`); got != "" {
		t.Errorf("in a frame there are %s", got)
	}
	for _, id := range []string{"timeline", "notes", "play", "legend"} {
		if b.ask(`String(document.getElementById("`+id+`").offsetParent !== null)`) != "true" {
			t.Errorf("in a frame there is no %s", id)
		}
	}
	b.calm()
}

// A label in a box ends where what is to be seen of the box does, at whatever event; what is to come is said to be
// hidden as long as it is.
func TestPlayerLabelsEndAtTheCursor(t *testing.T) {
	testenv.Long(t)
	b := openBrowser(t)
	run := record(t, "naive-del", "late-release")
	page := Page{Other: record(t, "setpx-lua", "late-release")}.HTML(run)
	const beyond = `[["timeline", "cursor"], ["below", "cursor-2"]].flatMap(([box, cursor]) => {
  const svg = document.getElementById(box);
  const end = document.getElementById(cursor).querySelector(".ls-cursor").getBoundingClientRect().right;
  const fog = svg.querySelector(".ls-fog").getBoundingClientRect().left;
  return [...svg.querySelectorAll("[data-texts]")].filter(e => { const r = e.getBoundingClientRect(); return r.width > 0 && r.right > end + 1; })
    .concat([...svg.querySelectorAll(".ls-chip")].filter(e => { const r = e.getBoundingClientRect(); return e.nextElementSibling.dataset.texts && r.left < end && r.right > fog; }));
}).map(e => e.textContent || e.nextElementSibling.textContent).join("; ")`
	for _, width := range []int{1200, 1400} {
		b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
		b.open(page, "#0")
		b.press("!")
		texts := func() string {
			return b.ask(`[...document.querySelectorAll("#timeline [data-texts]")].map(e => e.textContent).join("; ")`)
		}
		if got := texts(); !strings.Contains(got, "B believes") || strings.Contains(got, "B believes it holds the lock") {
			t.Errorf("%d pixels: at %s, where B's bar is half hidden, the labels are %q", width, b.at(), got)
		}
		for pos := range len(run.Events) {
			b.ask(fmt.Sprintf(`document.getElementById("e%d").click()`, max(pos, 1)))
			if got := b.ask(beyond); got != "" {
				t.Errorf("%d pixels: at %s these run into what is hidden: %s", width, b.at(), got)
			}
		}
		later := func() string { return b.ask(`document.getElementById("later").style.display`) }
		if got := later(); got != "" {
			t.Errorf("at %s it is not said that the rest is hidden: %q", b.at(), got)
		}
		b.press("G")
		if got := texts(); later() != "none" || !strings.Contains(got, "B believes it holds the lock") {
			t.Errorf("at the end it says that the rest is hidden: %q, %q", later(), got)
		}
	}
	b.calm()
}

// No instant above the pictures runs into another: that of the cursor takes the place of those beside it.
func TestPlayerInstantsStandApart(t *testing.T) {
	testenv.Long(t)
	b := openBrowser(t)
	run := record(t, "fenced", "pause-past-ttl")
	b.open(Page{Other: record(t, "naive-del", "pause-past-ttl")}.HTML(run), "")
	const close = `[["timeline", "clock"], ["below", "clock-2"]].flatMap(([box, clock]) => {
  const all = [document.getElementById(clock), ...document.querySelectorAll("#" + box + " .ls-time")].filter(e => getComputedStyle(e).visibility !== "hidden");
  const spots = all.map(e => [e.getBoundingClientRect(), e.textContent]);
  return spots.flatMap(([r, text], i) => spots.slice(i + 1).filter(([o, other]) => r.left < o.right + 2 && o.left < r.right + 2 && !(text === other && Math.abs(r.left - o.left) < 1)).map(([o, other]) => text + " and " + other));
}).join("; ")`
	for pos := range len(run.Events) {
		b.ask(fmt.Sprintf(`document.getElementById("e%d").click()`, pos+1))
		if got := b.ask(close); got != "" {
			t.Errorf("at %s: %s", b.at(), got)
		}
	}
	b.calm()
}

// The row of the probe is there from its first event on.
func TestPlayerShowsTheProbeWhenItIsThere(t *testing.T) {
	testenv.Long(t)
	b := openBrowser(t)
	run := record(t, "naive-del", "late-release")
	began := read(run).Begins[slices.Index(run.Clients, trace.Probe)]
	rows := func() bool {
		return strings.Contains(b.ask(`[...document.querySelectorAll("#names text")].filter(e => e.getBoundingClientRect().width > 0).map(e => e.textContent).join()`), trace.Probe)
	}
	for pos, want := range map[int]bool{0: false, began: false, began + 1: true} {
		b.open(HTML(run), fmt.Sprintf("#%d", pos))
		if got := rows(); got != want {
			t.Errorf("at %d, and the probe begins with event %d, its row is shown: %v", pos, began+1, got)
		}
	}
	b.calm()
}

// What holds from the cursor on stands right of it, over what is hidden: the flag with a code, and that a client has
// crashed. What is hidden looks so, and says so within the picture.
func TestPageShowsWhatBeginsAtTheCursor(t *testing.T) {
	testenv.Long(t)
	b := openBrowser(t)
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 1200, "height": 900, "deviceScaleFactor": 1, "mobile": false}, nil)
	shown := func(text string) bool {
		return b.ask(`String([...document.querySelectorAll("#timeline g[data-from] text")].some(e => e.textContent == "`+text+`" && e.getBoundingClientRect().width > 0
			&& e.getBoundingClientRect().left >= document.querySelector("#cursor .ls-cursor").getBoundingClientRect().right))`) == "true"
	}
	for name, text := range map[string]string{"crash-holding": "crashed", "pause-past-ttl": "!! OV"} {
		run := record(t, "setpx-lua", name)
		at := 1 + slices.IndexFunc(run.Events, func(e trace.Event) bool { return e.Kind == trace.KindCrash })
		if len(run.Violations) > 0 && at == 0 {
			at = read(run).After(run.Violations[0].Last())
		}
		b.open(HTML(run), fmt.Sprintf("#%d", at-1))
		if shown(text) {
			t.Errorf("%s: before its event it says %q", name, text)
		}
		b.press("ArrowRight")
		if !shown(text) {
			t.Errorf("%s: at its event it does not say %q", name, text)
		}
		for range len(run.Events) - at - 1 {
			if got := b.ask(`(() => { const r = document.getElementById("later").getBoundingClientRect(), s = document.querySelector("#timeline svg").getBoundingClientRect(); return String(r.right <= s.right + 1); })()`); got != "true" {
				t.Fatalf("%s: at %s the words run out of the picture", name, b.at())
			}
			b.press("ArrowRight")
		}
	}
	if got := b.ask(`String(getComputedStyle(document.getElementById("fog")).fill == getComputedStyle(document.body).backgroundColor)`); got != "false" {
		t.Error("what is hidden looks like what is empty")
	}
	b.calm()
}

// Beside the state of its instant a question of the script has its answer, and before that it isn't told.
func TestPageAnswersBesideTheState(t *testing.T) {
	testenv.Long(t)
	b := openBrowser(t)
	run := record(t, "setpx-lua", "pause-past-ttl")
	page, last := HTML(run), len(run.Events)
	asked := slices.IndexFunc(run.Notes, func(n trace.Note) bool { return n.Answer != "" })
	at := read(run).Before(run.Notes[asked].Seq)
	b.open(page, fmt.Sprintf("#%d", at-1))
	if got := b.ask(`document.querySelectorAll("#notes .answer, #notes details").length`); got != "0" {
		t.Errorf("before it is asked there are %s answers", got)
	}
	b.press("ArrowRight")
	if got := b.text("notes"); !strings.Contains(got, run.Notes[asked].Answer) || b.ask(`document.querySelectorAll("#notes details").length`) != "0" {
		t.Errorf("beside the state it says %q", got)
	}
	b.open(page, "#0")
	if got := b.text("notes"); !strings.HasPrefix(got, "Next: ") {
		t.Errorf("of %d events none has happened, and it says %q", last, got)
	}
	b.calm()
}

// In a narrow window the pictures of two runs are scrolled together, and the names of the rows stay.
func TestComparedPicturesScrollTogether(t *testing.T) {
	testenv.Long(t)
	b := openBrowser(t)
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": 390, "height": 700, "deviceScaleFactor": 2, "mobile": true}, nil)
	b.open(Page{Other: record(t, "fenced", "pause-past-ttl")}.HTML(record(t, "setpx-lua", "pause-past-ttl")), "#30")
	for range 8 {
		if got := b.ask(`["timeline", "below"].filter((id, i) => document.getElementById(["later", "later-2"][i]).getBoundingClientRect().right > document.getElementById(id).getBoundingClientRect().right).join()`); got != "" {
			t.Errorf("at %s the words for what is hidden run out of the window in %s", b.at(), got)
		}
		b.press("ArrowLeft")
	}
	const inView = `new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(["timeline", "below"].map(id =>
		Math.round(document.querySelector("#" + id + " [id^=names]").getBoundingClientRect().left - document.getElementById(id).getBoundingClientRect().left)).join()))))`
	for _, box := range []string{"timeline", "below"} {
		b.ask(`document.getElementById("` + box + `").scrollLeft = 150`)
		var answer struct{ Result struct{ Value any } }
		b.call("Runtime.evaluate", map[string]any{"expression": inView, "returnByValue": true, "awaitPromise": true}, &answer)
		if got := fmt.Sprint(answer.Result.Value); got != "0,0" {
			t.Errorf("the names stand at %s", got)
		}
		if a, o := b.ask(`document.getElementById("timeline").scrollLeft`), b.ask(`document.getElementById("below").scrollLeft`); a != o || a == "0" {
			t.Errorf("they are scrolled to %s and %s", a, o)
		}
		b.ask(`document.getElementById("below").scrollLeft = 20`)
	}
	b.calm()
}
