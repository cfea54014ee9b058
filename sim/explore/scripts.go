package explore

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// scriptText is the text of a script, which the library keeps to itself.
func scriptText(script *redis.Script) string {
	var r reader
	script.Eval(context.Background(), &r, nil) // Load would leave a trace in the script
	return r.text
}

// reader is a server that wants to be sent a script and does nothing with it.
type reader struct {
	redis.Scripter
	text string
}

func (r *reader) Eval(_ context.Context, text string, _ []string, _ ...any) *redis.Cmd {
	r.text = text
	return redis.NewCmd(context.Background())
}
