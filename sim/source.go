package sim

import (
	"path"
	"runtime"
	"strings"
)

// sourceCache remembers what a program counter stands for.
type sourceCache map[uintptr]Source

// callerSource is the line of the strategy that is now, through however many
// layers of go-redis, doing something: the innermost frame that belongs neither
// to the simulator nor to the library nor to Go itself.
func callerSource(cache sourceCache) Source {
	var pcs [48]uintptr
	n := runtime.Callers(3, pcs[:])
	for _, pc := range pcs[:n] {
		src, known := cache[pc]
		if !known {
			src = resolve(pc)
			cache[pc] = src
		}
		if src.File != "" {
			return src
		}
	}
	return Source{}
}

// resolve looks at one program counter, and at the functions inlined there.
func resolve(pc uintptr) Source {
	frames := runtime.CallersFrames([]uintptr{pc})
	for {
		frame, more := frames.Next()
		if src := strategySource(frame); src.File != "" {
			return src
		}
		if !more {
			return Source{}
		}
	}
}

// strategySource names a frame by package and file, never by a path of the
// machine that built it. Helpers shared by all strategies aren't the lesson.
func strategySource(f runtime.Frame) Source {
	slash := strings.LastIndexByte(f.Function, '/') + 1
	dot := strings.IndexByte(f.Function[slash:], '.')
	if dot < 0 {
		return Source{}
	}
	pkg := f.Function[:slash+dot]
	switch {
	case pkg == "lockstep/sim", strings.HasPrefix(pkg, "github.com/redis/go-redis/"), !strings.Contains(pkg, "/"),
		strings.HasPrefix(pkg, "internal/"), strings.HasPrefix(pkg, "runtime/"):
		return Source{}
	}
	file := path.Base(f.File)
	if pkg == "lockstep/strategies" && file == "strategies.go" {
		return Source{}
	}
	return Source{File: strings.TrimPrefix(pkg, "lockstep/") + "/" + file, Line: f.Line}
}
