package redis

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// ScriptText returns the text of a client library's script, which the library doesn't export.
func ScriptText(script *redis.Script) string {
	var r scriptReader
	script.Eval(context.Background(), &r, nil) // Load would leave a trace in the script
	return r.text
}

// scriptReader is a server that keeps the text of the script that it is sent, and runs
// nothing.
type scriptReader struct {
	redis.Scripter
	text string
}

func (r *scriptReader) Eval(_ context.Context, text string, _ []string, _ ...any) *redis.Cmd {
	r.text = text
	return redis.NewCmd(context.Background())
}
