package behaviour

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// ScriptText returns the text of a script, which the library doesn't export.
func ScriptText(script *redis.Script) string {
	var r reader
	script.Eval(context.Background(), &r, nil) // Load would leave a trace in the script
	return r.text
}

// reader is a server that keeps the text of the script that it is sent, and runs nothing.
type reader struct {
	redis.Scripter
	text string
}

func (r *reader) Eval(_ context.Context, text string, _ []string, _ ...any) *redis.Cmd {
	r.text = text
	return redis.NewCmd(context.Background())
}
