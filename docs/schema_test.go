package docs_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"lockstep/docs"
	"lockstep/scenarios"
	"lockstep/sim/fault"
	"lockstep/sim/trace"
)

// The schema of scenario files is for editors: it completes keys and words, shows
// what they mean, and underlines most of what the loader would refuse. Its keys
// and its words are those that the loader itself lists when it refuses one, what
// they mean stands in docs/scenarios.md, and only their forms are written here.

const schemaFile = "scenario.schema.json"

// object is one mapping of a scenario file: where the loader reads it, and the
// forms of its keys.
type object struct {
	probe    string // a script with the key zzzzzzzzz in such a mapping
	table    int    // in scenarios.md, that says what its keys mean: its number, from 1, or 0
	meaning  map[string]string
	keys     map[string]any
	required []string
	oneOf    []string // of these keys exactly one is required
}

type form = map[string]any

func ref(name string) form { return form{"$ref": "#/$defs/" + name} }

var (
	text     = form{"type": "string", "minLength": 1}
	truth    = form{"type": "boolean"}
	duration = func(pattern string) form {
		return form{"type": "string", "pattern": "^" + pattern + `([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h)(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))*$`}
	}
	whole = func(least, most int) form { return form{"type": "integer", "minimum": least, "maximum": most} }
)

// words are those that the loader lists when it is given another one.
func words(t *testing.T, probe string) form {
	return form{"enum": loaderKnows(t, "title: x\n"+probe)}
}

// some is one of a kind, or a list of them.
func some(of form) form {
	return form{"anyOf": []any{of, form{"type": "array", "items": of, "minItems": 1}}}
}

func objects(t *testing.T) map[string]object {
	return map[string]object{
		"scenario": {
			probe: "zzzzzzzzz: 1", table: 1 + docs.Parts, required: []string{"title", "script"},
			keys: map[string]any{
				"title": text, "shows": text, "source": text, "setup": ref("setup"),
				"script":   form{"type": "array", "minItems": 1, "maxItems": 1000, "items": ref("step")},
				"expect":   form{"type": "array", "items": ref("expectation")},
				"variants": form{"type": "object", "propertyNames": form{"pattern": "^[A-Za-z0-9_-]+$"}, "additionalProperties": ref("variant")},
			},
		},
		"variant": {
			probe: "title: x\nscript: [{run: A}]\nvariants: {a: {zzzzzzzzz: 1}}", table: 1 + docs.Parts, required: []string{"title"},
			keys: map[string]any{"title": text, "shows": text, "source": text, "setup": ref("setup"), "expect": form{"type": "array", "items": ref("expectation")}},
		},
		"expectation": {
			probe: "expect: [{zzzzzzzzz: 1}]", required: []string{"under"}, oneOf: []string{"verdict", "includes"},
			meaning: map[string]string{
				"verdict": "ok, or the codes of all violations that are expected", "includes": "the codes of some violations that are expected, whatever else occurs; in the place of a verdict",
				"under":   "the strategies of which it is expected",
				"because": "what in this schedule does or prevents it",
			},
			keys: map[string]any{
				"verdict": form{"anyOf": []any{form{"const": "ok"}, some(form{"enum": trace.Verdict(trace.Codes).Strings()})}}, "includes": some(form{"enum": trace.Verdict(trace.Codes).Strings()}),
				"under": some(form{"enum": scenarios.StrategyNames()}), "because": text,
			},
		},
		"setup": {
			probe: "setup: {zzzzzzzzz: 1}", table: 1 + docs.Setup,
			keys: map[string]any{
				"clients": form{"anyOf": []any{some(ref("name")),
					form{"type": "object", "minProperties": 1, "maxProperties": 8, "propertyNames": ref("name"), "additionalProperties": ref("client")}}},
				"ttl": ref("positive"), "latency": ref("span"), "timeout": ref("positive"), "retry": ref("retry"),
				"persistence": words(t, "setup: {persistence: zzzzzzzzz}"),
				"replicas":    whole(0, 3), "lag": ref("span"), "nodes": whole(1, 9),
				"workload": words(t, "setup: {workload: zzzzzzzzz}"),
				"resource": words(t, "setup: {resource: zzzzzzzzz}"),
				"scripts":  words(t, "setup: {scripts: zzzzzzzzz}"),
				"tokens":   words(t, "setup: {tokens: zzzzzzzzz}"),
			},
		},
		"retry": {
			probe: "setup: {retry: {zzzzzzzzz: 1}}",
			meaning: map[string]string{
				"tries": "attempts in all; 0 is for ever", "delay": "between two attempts", "jitter": "up to this much more, drawn anew each time",
			},
			keys: map[string]any{"tries": form{"type": "integer", "minimum": 0}, "delay": ref("positive"), "jitter": ref("span")},
		},
		"client": {
			probe: "setup: {clients: {A: {zzzzzzzzz: 1}}}", table: 1 + docs.Client,
			keys: map[string]any{
				"work": ref("span"), "insist": ref("positive"), "offset": ref("duration"),
				"rate":   form{"type": "number", "minimum": 0.1, "maximum": 10},
				"cycles": whole(1, 1000), "extend": truth, "failopen": truth, "fallthrough": truth, "checks": truth, "commitlast": truth, "recheck": truth,
			},
		},
	}
}

// step is the mapping below or beside a step's own key.
type step struct {
	form   any            // of the step's own value
	beside map[string]any // its further keys
	needs  []string       // of these
}

// steps are the forms of all steps. Those of faults follow from their parameters.
func steps(t *testing.T) map[string]step {
	all := map[string]step{
		"say": {form: text, beside: map[string]any{"under": some(form{"enum": scenarios.StrategyNames()}), "servers": words(t, "script: [{say: x, servers: zzzzzzzzz}]"),
			"having": form{"type": "object", "minProperties": 1, "propertyNames": ref("name"), "additionalProperties": text}}},
		"ask": {form: text, needs: []string{"answer"}, beside: map[string]any{"answer": words(t, "script: [{ask: x, answer: zzzzzzzzz}]"),
			"under": some(form{"enum": scenarios.StrategyNames()}), "servers": words(t, "script: [{ask: x, servers: zzzzzzzzz}]")}},
		"run": {form: some(ref("name")), beside: map[string]any{"to": ref("position"), "for": ref("positive"), "steps": whole(1, 10_000), "within": ref("positive"),
			"otherwise": words(t, "script: [{run: A, otherwise: zzzzzzzzz}]")}},
		"wait":  {form: ref("positive")},
		"until": {form: ref("positive")},
	}
	for key, forms := range scenarios.FaultSteps() {
		all[key] = faultStep(t, key, forms)
	}
	return all
}

// faultStep is a step that makes a fault. Where it has several forms, each has a key
// that the others lack.
func faultStep(t *testing.T, key string, forms []scenarios.FaultStep) step {
	if object := forms[0].Object; object != "" {
		return step{form: form{"enum": []string{object}}}
	}
	own, keys, needs, oneOf := step{}, map[string]any{}, []string{}, []any{}
	count := map[string]int{}
	for _, f := range forms {
		for _, p := range f.Params {
			switch {
			case p.Type == fault.ParamHalf:
			case p.Key == "":
				own.form = paramForm(p, len(f.Params) == 1)
			default:
				keys[p.Key] = paramForm(p, false)
				count[p.Key]++
			}
		}
	}
	for _, f := range forms {
		for _, p := range f.Params {
			switch {
			case p.Key == "" || p.Optional || slices.Contains(needs, p.Key):
			case count[p.Key] < len(forms):
				oneOf = append(oneOf, form{"required": []string{p.Key}})
			default:
				needs = append(needs, p.Key)
			}
		}
	}
	if own.form != nil {
		own.beside = keys
		if len(needs) > 0 {
			own.needs = needs
		}
		return own
	}
	known := loaderKnows(t, "title: x\nscript: [{"+key+": {zzzzzzzzz: 1}}]")
	if have := sortedKeys(keys); !slices.Equal(have, known) {
		t.Errorf("%s: the schema has %v, the loader knows %v", key, have, known)
	}
	whole := form{"type": "object", "properties": keys, "required": needs, "additionalProperties": false}
	if len(oneOf) > 0 {
		whole["oneOf"] = oneOf
	}
	return step{form: whole}
}

// paramForm is the form of a fault's parameter; one that is the whole step can be a
// list of clients.
func paramForm(p fault.Param, alone bool) any {
	switch p.Type {
	case fault.ParamClient:
		if alone {
			return some(ref("name"))
		}
		return ref("name")
	case fault.ParamClients:
		return some(ref("name"))
	case fault.ParamNode:
		return ref("nodes")
	case fault.ParamReplica:
		return ref("replica")
	case fault.ParamDirection:
		return form{"enum": []string{fault.Both.String(), fault.Requests.String(), fault.Replies.String()}}
	case fault.ParamSpan:
		return ref("span")
	case fault.ParamJump:
		return ref("duration")
	case fault.ParamCount:
		return form{"type": "integer", "minimum": 1}
	}
	panic(fmt.Sprintf("a parameter of the unknown type %d", p.Type))
}

// schema makes the whole file.
func schema(t *testing.T) []byte {
	defs := form{
		"duration": duration("[+-]?"), "span": duration(`\+?`),
		"positive": form{"allOf": []any{duration(`\+?`), form{"pattern": "[1-9]"}}},
		"name":     form{"type": "string", "pattern": "^[A-Za-z0-9_]{1,12}$"},
		"nodes":    some(form{"enum": []string{"n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9", "all", "pivot"}}),
		"replica":  form{"type": "string", "pattern": "^n[1-9]r[1-3]$"},
		"position": position(t),
		"step":     stepForm(t),
	}
	root := form{}
	for name, o := range objects(t) {
		f := objectForm(t, name, o)
		if name == "scenario" {
			root = f
			continue
		}
		if name == "client" { // one about whom there is nothing to say
			f["type"] = []string{"object", "null"}
		}
		defs[name] = f
	}
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Lockstep scenario"
	root["$defs"] = defs
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// objectForm describes a mapping. Its keys are those that the loader knows.
func objectForm(t *testing.T, name string, o object) form {
	if have, known := sortedKeys(o.keys), loaderKnows(t, o.probe); !slices.Equal(have, known) {
		t.Errorf("%s: the schema has %v, the loader knows %v", name, have, known)
	}
	properties := form{}
	for key, f := range o.keys {
		meaning := o.meaning[key]
		if o.table != 0 {
			meaning = documented(o.table - 1)[key]
		}
		properties[key] = described(t, name+"."+key, f, meaning)
	}
	f := form{"type": "object", "properties": properties, "additionalProperties": false}
	if o.required != nil {
		f["required"] = o.required
	}
	var oneOf []any
	for _, key := range o.oneOf {
		oneOf = append(oneOf, form{"required": []string{key}})
	}
	if oneOf != nil {
		f["oneOf"] = oneOf
	}
	return f
}

// stepForm is a mapping with one of the keys that begin a step. What else it may
// have depends on which; so an editor can say what is wrong, and not merely that
// none of the steps fits.
func stepForm(t *testing.T) form {
	all, meaning := steps(t), documented(docs.Steps)
	if have, known := sortedKeys(all), loaderKnows(t, "title: x\nscript: [{zzzzzzzzz: 1}]"); !slices.Equal(have, known) {
		t.Errorf("step: the schema has %v, the loader knows %v", have, known)
	}
	heads := form{}
	var one, each []any
	for _, key := range sortedKeys(all) {
		s := all[key]
		if len(s.beside) > 0 {
			probe := fmt.Sprintf("title: x\nscript: [{%s: A, zzzzzzzzz: 1}]", key)
			if have, known := sortedKeys(s.beside), loaderKnows(t, probe); !slices.Equal(have, known) {
				t.Errorf("%s: the schema has %v, the loader knows %v", key, have, known)
			}
		}
		heads[key] = described(t, "step "+key, s.form, meaning[key])
		properties := form{key: true} // its form is among the heads
		for k, f := range s.beside {
			properties[k] = f
		}
		then := form{"properties": properties, "additionalProperties": false}
		if s.needs != nil {
			then["required"] = s.needs
		}
		has := form{"required": []string{key}}
		one = append(one, has)
		each = append(each, form{"if": has, "then": then})
	}
	return form{"type": "object", "properties": heads, "anyOf": one, "allOf": each}
}

func described(t *testing.T, what string, f any, meaning string) form {
	if meaning == "" {
		t.Errorf("scenarios.md does not say what %s means", what)
	}
	out := form{"description": meaning}
	for k, v := range f.(form) {
		out[k] = v
	}
	return out
}

// position is a pattern for editors; what each position means is in the document.
func position(t *testing.T) form {
	var places []string
	for _, w := range loaderKnows(t, "title: x\nscript: [{run: A, to: zzzzzzzzz}]") {
		if !strings.Contains(w, " ") {
			places = append(places, w)
		}
	}
	phases := loaderKnows(t, "title: x\nscript: [{run: A, to: before zzzzzzzzz first}]")
	changing := slices.DeleteFunc(slices.Clone(phases), func(p string) bool { return p == "work" }) // which sends no commands
	meaning := documented(docs.Positions)
	var lines []string
	for _, p := range places {
		lines = append(lines, p+": "+meaning[p])
	}
	return form{
		"type": "string",
		"pattern": fmt.Sprintf("^((%s)|(before|after) (%s) (first|last|-?[1-9][0-9]{0,3})|(before|after) (%s) change)$",
			strings.Join(places, "|"), strings.Join(phases, "|"), strings.Join(changing, "|")),
		"description": strings.Join(lines, "\n"),
		"examples":    append(places, "before acquire first", "after acquire first", "before work last", "before release last", "before release change"),
	}
}

// documented is what a table says of each key. Where a step has several rows, all of them.
func documented(table int) map[string]string {
	out := map[string]string{}
	for _, r := range docs.Reference(table).Rows {
		meaning := r.Meaning
		if r.Default != "" {
			meaning += " (default: " + r.Default + ")"
		}
		if strings.Contains(r.Use, ":") { // a step, as it is written
			meaning = r.Use + ": " + meaning
		}
		if out[r.Key] != "" {
			meaning = out[r.Key] + "\n" + meaning
		}
		out[r.Key] = meaning
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func TestGeneratedSchemaIsFresh(t *testing.T) {
	want := schema(t)
	got, err := os.ReadFile(schemaFile)
	if err == nil && bytes.Equal(got, want) || t.Failed() {
		return
	}
	if !*update {
		t.Fatalf("%s is stale: go test ./docs -update", schemaFile)
	}
	if err := os.WriteFile(schemaFile, want, 0o644); err != nil { //nolint:gosec // a document is for everybody
		t.Fatal(err)
	}
}

// compiled is the schema as an editor would use it.
func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	s, err := jsonschema.NewCompiler().Compile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func validate(t *testing.T, s *jsonschema.Schema, data []byte) error {
	t.Helper()
	asJSON, err := yaml.YAMLToJSON(data)
	if err != nil {
		t.Fatal(err)
	}
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(asJSON))
	if err != nil {
		t.Fatal(err)
	}
	return s.Validate(v)
}

func TestSchemaAcceptsEveryScenario(t *testing.T) {
	s := compiled(t)
	files, err := filepath.Glob("../scenarios/scripts/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no scenarios")
	}
	saved := filepath.Join(t.TempDir(), "saved.yaml")
	if _, err := searched("redlock --faults restart --codes DG --save " + saved); err != nil {
		t.Fatal(err)
	}
	for _, file := range append(files, "example.yaml", saved) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(t, s, data); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// What the schema accepts of these the loader accepts, and the other way round.
func TestSchemaAgreesWithTheLoader(t *testing.T) {
	s := compiled(t)
	const minimal = "title: x\nscript: [{run: A}]\n"
	step := func(s string) string { return "title: x\nsetup: {clients: [A, B]}\nscript:\n  - " + s + "\n" }
	for _, doc := range []struct {
		text string
		good bool
	}{
		{minimal, true},
		{"title: x\n", false},
		{"script: [{run: A}]\n", false},
		{"title: x\nscript: []\n", false},
		{"title: ''\nscript: [{run: A}]\n", false},
		{minimal + "sows: y\n", false},
		{minimal + "setup: {ttl: 1.5s, latency: 0s, retry: {tries: 0, jitter: 0s}}\n", true},
		{minimal + "setup: {ttl: 0s}\n", false},
		{minimal + "setup: {ttl: 10}\n", false},
		{minimal + "setup: {ttl: 10 s}\n", false},
		{minimal + "setup: {lag: -1s}\n", false},
		{minimal + "setup: {replicas: 4}\n", false},
		{minimal + "setup: {retry: {tries: -1}}\n", false},
		{minimal + "setup: {retry: {delay: 0s}}\n", false},
		{minimal + "setup: {retry: {times: 1}}\n", false},
		{minimal + "setup: {resource: fence}\n", false},
		{minimal + "setup: {workload: cache, clients: {A: {recheck: true}, B: {fallthrough: true}}}\n", true},
		{minimal + "setup: {workload: cash}\n", false},
		{minimal + "setup: {persistence: sometimes}\n", false},
		{minimal + "setup: {scripts: hot}\n", false},
		{minimal + "setup: {clients: A}\n", true},
		{minimal + "setup: {clients: []}\n", false},
		{minimal + "setup: {clients: {A: , B: {work: 5s, offset: -3s, rate: 0.5, cycles: 2, extend: true}}}\n", true},
		{minimal + "setup: {clients: {A: {work: -1s}}}\n", false},
		{minimal + "setup: {clients: {A: {rate: 11}}}\n", false},
		{minimal + "setup: {clients: {A: {cycles: 0}}}\n", false},
		{minimal + "setup: {clients: {A: {extend: perhaps}}}\n", false},
		{minimal + "setup: {clients: {A: {pace: 1s}}}\n", false},
		{minimal + "setup: {clients: ['A-B']}\n", false},
		{minimal + "expect: [{verdict: ok, under: setnx}, {verdict: [DG, FR], under: [redlock], because: y}]\n", true},
		{minimal + "expect: [{verdict: ok}]\n", false},
		{minimal + "expect: [{under: setnx}]\n", false},
		{minimal + "expect: [{includes: [SW], under: setnx}]\n", true},
		{minimal + "expect: [{includes: [SW], verdict: [SW], under: setnx}]\n", false},
		{minimal + "expect: [{verdict: XX, under: setnx}]\n", false},
		{minimal + "expect: [{verdict: [ok, DG], under: setnx}]\n", false},
		{minimal + "expect: [{verdict: ok, under: setnxx}]\n", false},
		{minimal + "expect: {verdict: ok}\n", false},
		{minimal + "variants: {slow: {title: y, setup: {ttl: 1s}}}\n", true},
		{minimal + "variants: {slow: {setup: {ttl: 1s}}}\n", false},
		{minimal + "variants: {slow: {title: y, script: []}}\n", false},
		{minimal + "variants: {'a.b': {title: y}}\n", false},
		{step("run: [A, B]"), true},
		{step("{run: A, to: before acquire first, within: 5s, otherwise: stop}"), true},
		{step("{run: A, steps: 7}"), true},
		{step("{run: A, steps: 0}"), false},
		{step("lose: {reply: A}"), true},
		{step("lose: {request: A}"), false},
		{step("hold: [A, B]"), true},
		{step("{free: A, nth: 2}"), true},
		{step("{free: A, nth: 0}"), false},
		{minimal + "setup: {nodes: 3, lag: 0s, resource: plain}\n", true},
		{minimal + "setup: {nodes: 1}\n", true},
		{minimal + "setup: {nodes: 0}\n", false},
		{step("{run: A, to: after release -2}"), true},
		{step("{run: A, to: before release change}"), true},
		{step("{run: A, to: before work change}"), false},
		{step("{run: A, to: before acquire}"), false},
		{step("{run: A, to: before acquire 0}"), false},
		{step("{run: A, to: behind acquire 1}"), false},
		{step("{run: A, to: before lunch first}"), false},
		{step("{run: A, to: lunch}"), false},
		{step("{run: A, until: work}"), false},
		{step("{run: A, otherwise: go}"), false},
		{step("{run: A, wait: 1s}"), false},
		{step("{ask: who?, answer: verdict}"), true},
		{step("{ask: who?, answer: verdict, under: [setnx], servers: one}"), true},
		{step("{ask: who?, answer: verdict, under: nolock}"), false},
		{step("{ask: who?}"), false},
		{step("{ask: who?, answer: nobody}"), false},
		{step("{say: ''}"), false},
		{step("wait: 0s"), false},
		{step("wait: soon"), false},
		{step("until: 12s"), true},
		{step("until: 0s"), false},
		{step("clock: {client: A, by: -3s}"), true},
		{step("clock: {node: pivot, by: 3s}"), true},
		{step("clock: {by: 3s}"), false},
		{step("clock: {client: A, node: n1, by: 3s}"), false},
		{step("clock: {client: A}"), false},
		{step("drop: {reply: A}"), true},
		{step("drop: {}"), false},
		{step("drop: {reply: A, request: A}"), false},
		{step("delay: {reply: A}"), false},
		{step("duplicate: {reply: A}"), false},
		{step("duplicate: {request: A, after: 0s}"), true},
		{step("cut: {client: A, nodes: [n1, n2], direction: replies}"), true},
		{step("cut: {nodes: n1}"), false},
		{step("cut: {client: A, nodes: n10}"), false},
		{step("cut: {client: A, direction: up}"), false},
		{step("slow: {client: A, request: 1s}"), false},
		{step("failover: {to: n1r1, stay: [A]}"), true},
		{step("failover: {to: n1}"), false},
		{step("failover: {stay: A}"), false},
		{step("lag: {replica: n1r4, by: 1s}"), false},
		{step("down: all"), true},
		{step("down: n0"), false},
		{step("down: []"), false},
		{"title: x\nsetup: {workload: cache}\nscript: [{update: database}]\n", true},
		{"title: x\nsetup: {workload: cache}\nscript: [{update: cache}]\n", false},
		{step("dance: A"), false},
		{step("{}"), false},
		{step("run"), false},
	} {
		file := filepath.Join(t.TempDir(), "x.yaml")
		if err := os.WriteFile(file, []byte(doc.text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, loads := scenarios.Load(file)
		valid := validate(t, s, []byte(doc.text))
		if (loads == nil) != doc.good {
			t.Errorf("the loader says %v of\n%s", loads, doc.text)
		}
		if (valid == nil) != doc.good {
			t.Errorf("the schema says %v of\n%s", valid, doc.text)
		}
	}
}
