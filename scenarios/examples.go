package scenarios

// settings has an example of each setting of a scenario that is itself a mapping.
var settings = map[string]string{
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
