package scenarios

// settings has an example of each setting of a scenario that is itself a mapping, and of those
// settings and positions that no built-in script has.
var settings = map[string]string{
	"scripts": "scripts: cold",
	"cycles":  "clients: {A: {cycles: 2}, B: }",
	"rate":    "clients: {A: {rate: 1.01}, B: }",
	"read":    "{run: A, to: read}",

	"setup":    "setup: {ttl: 5s}",
	"retry":    "retry: {tries: 3, delay: 200ms}",
	"expect":   "expect: [{verdict: ok, under: [setpx-lua]}]",
	"variants": "variants: {slow: {title: With a slow client, setup: {ttl: 5s}}}",
}

// Examples returns a step or a setting as it is written, by its key: a step in all its
// forms. There are none of a setting that is a mere word, nor of a key that there isn't.
func Examples(key string) (all []string) {
	for _, s := range FaultSteps()[key] {
		all = append(all, s.example())
	}
	if setting, is := settings[key]; is {
		all = append(all, setting)
	}
	return all
}
