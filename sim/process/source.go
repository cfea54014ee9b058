package process

import (
	"path"
	"reflect"
	"runtime"
	"strings"
	"sync"

	"lockstep/sim/trace"
)

// sourceCache remembers the line of code of a program counter.
type sourceCache map[uintptr]trace.Source

// callerSource returns the running line of the strategy: the innermost frame that belongs
// neither to the simulator nor to go-redis nor to Go itself.
func callerSource(cache sourceCache) trace.Source {
	var pcs [48]uintptr
	near := pcs[:usualDepth] // a walk of the whole stack takes twice as long
	n := runtime.Callers(3, near)
	if src := firstSource(cache, near[:n]); src.File != "" || n < usualDepth {
		return src
	}
	return firstSource(cache, pcs[:runtime.Callers(3, pcs[:])])
}

// usualDepth is how many frames of go-redis and of the simulator are between a strategy and the
// connection on which its command is written, and a few more.
const usualDepth = 20

// firstSource returns the innermost such frame of a stack.
func firstSource(cache sourceCache, stack []uintptr) trace.Source {
	for _, pc := range stack {
		src, known := cache[pc]
		if !known {
			src = resolve(pc)
			cache[pc] = src
		}
		if src.File != "" {
			return src
		}
	}
	return trace.Source{}
}

// resolve looks at one program counter, and at the functions inlined there.
func resolve(pc uintptr) trace.Source {
	frames := runtime.CallersFrames([]uintptr{pc})
	for {
		frame, more := frames.Next()
		if src := strategySource(frame); src.File != "" {
			return src
		}
		if !more {
			return trace.Source{}
		}
	}
}

// strategySource names a frame by package and file, never by a path of the machine that
// built it. It leaves out the helpers that all strategies share.
func strategySource(f runtime.Frame) trace.Source {
	slash := strings.LastIndexByte(f.Function, '/') + 1
	dot := strings.IndexByte(f.Function[slash:], '.')
	if dot < 0 || isLibrary(f) {
		return trace.Source{}
	}
	pkg, file := f.Function[:slash+dot], path.Base(f.File)
	test := strings.HasSuffix(file, "_test.go") // a lock can be part of a test, of the simulator's own as well
	switch {
	case !test && (pkg == "lockstep/sim" || strings.HasPrefix(pkg, "lockstep/sim/")),
		strings.HasPrefix(pkg, "github.com/redis/go-redis/"),
		pkg == "lockstep/strategies" && file == "strategies.go":
		return trace.Source{}
	}
	if test {
		pkg = strings.TrimSuffix(pkg, "_test") // a test outside its package is in the same folder
	}
	return trace.Source{File: strings.TrimPrefix(pkg, "lockstep/") + "/" + file, Line: f.Line}
}

// isLibrary reports whether the frame is of Go's own library. The names of packages
// don't tell, because anybody's module can be called "mylock"; where their files
// are does. In a program built with -trimpath all paths begin with the package, and
// then a package without a slash or a dot counts as Go's.
func isLibrary(f runtime.Frame) bool {
	if root := libraryRoot(); root != "" {
		return strings.HasPrefix(f.File, root)
	}
	first, _, _ := strings.Cut(f.Function, "/")
	return first == f.Function || first == "internal" || first == "runtime"
}

// libraryRoot is the folder of Go's own packages on the machine that built the
// program, or nothing if that doesn't say.
var libraryRoot = sync.OnceValue(func() string {
	f, _ := runtime.CallersFrames([]uintptr{reflect.ValueOf(strings.Index).Pointer() + 1}).Next()
	return strings.TrimSuffix(f.File, "strings/strings.go")
})
