package outside_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"text/template"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/locktest/outside"
	"lockstep/strategies"
)

// What a process is known by is often put together in a buffer, before any lock is made.
var (
	idByInit   string
	idRead     = func() string { b := make([]byte, 8); _, _ = rand.Read(b); return hex.EncodeToString(b) }()
	idReadFull = func() string { var b [8]byte; _, _ = io.ReadFull(rand.Reader, b[:]); return fmt.Sprintf("%x", b) }()
	idReadAll  = func() string { b, _ := io.ReadAll(io.LimitReader(rand.Reader, 8)); return string(b) }()
	idBinary   = func() string {
		var n uint64
		_ = binary.Read(rand.Reader, binary.LittleEndian, &n)
		return strconv.FormatUint(n, 16)
	}()
	idPrinted = func() string { var b bytes.Buffer; fmt.Fprintf(&b, "%d", os.Getpid()); return b.String() }()
	idPut     = func() string {
		b := make([]byte, 8)
		binary.BigEndian.PutUint64(b, uint64(os.Getpid()))
		return hex.EncodeToString(b)
	}()
	idCopied = func() string { b := make([]byte, 64); h, _ := os.Hostname(); copy(b, h); return string(b) }()
	idHashed = func() string {
		h := sha256.New()
		h.Write([]byte(strconv.Itoa(os.Getpid())))
		return hex.EncodeToString(h.Sum(nil))
	}()
	idSummed = func() string {
		f := fnv.New32a()
		h, _ := os.Hostname()
		_, _ = io.WriteString(f, h)
		return strconv.Itoa(int(f.Sum32()))
	}()
	idScanned  = func() string { var n int; _, _ = fmt.Sscan(strconv.Itoa(os.Getpid()), &n); return strconv.Itoa(n) }()
	idOfFile   = func() string { f, _ := os.Open("/dev/null"); b := make([]byte, 8); _, _ = f.Read(b); return string(b) }()
	idExpanded = os.Expand("$HOSTNAME", os.Getenv)
	idFilled   = func() string { var g generator; g.fill(); return hex.EncodeToString(g.buf[:]) }()
	idOfConfig = func() string {
		var c struct{ ID string }
		b, _ := os.ReadFile("/etc/instance.json")
		_ = json.Unmarshal(b, &c)
		return c.ID
	}()
	idTemplate = func() string {
		var b strings.Builder
		_ = template.Must(template.New("x").Parse("{{.}}")).Execute(&b, os.Getpid())
		return b.String()
	}()
	idConstant = func() string { var b bytes.Buffer; fmt.Fprintf(&b, "%s-%d", "worker", 7); return b.String() }()
)

func init() {
	b := make([]byte, 8)
	_, _ = rand.Read(b)
	idByInit = hex.EncodeToString(b)
}

type generator struct{ buf [8]byte }

func (g *generator) fill() { _, _ = rand.Read(g.buf[:]) }

// identified is a lock that asks who its process is.
type identified struct {
	base
	id func() string
}

func (k identified) Acquire(context.Context) (*strategies.Lease, error) {
	return &strategies.Lease{Token: k.id()}, nil
}

// TestDrawnBefore: what comes from outside by way of a buffer, before any lock is made, is found as what a function returns is.
func TestDrawnBefore(t *testing.T) {
	for name, c := range map[string]struct {
		id   func() string
		want string
	}{
		"in init":        {func() string { return idByInit }, "rand.Read"},
		"read":           {func() string { return idRead }, "rand.Read"},
		"read in full":   {func() string { return idReadFull }, "rand.Reader"},
		"all read":       {func() string { return idReadAll }, "rand.Reader"},
		"binary":         {func() string { return idBinary }, "rand.Reader"},
		"printed":        {func() string { return idPrinted }, "os.Getpid"},
		"put":            {func() string { return idPut }, "os.Getpid"},
		"copied":         {func() string { return idCopied }, "os.Hostname"},
		"hashed":         {func() string { return idHashed }, "os.Getpid"},
		"summed":         {func() string { return idSummed }, "os.Hostname"},
		"scanned":        {func() string { return idScanned }, "os.Getpid"},
		"of a file":      {func() string { return idOfFile }, "os.Open"},
		"expanded":       {func() string { return idExpanded }, "os.Getenv"},
		"in a field":     {func() string { return idFilled }, "rand.Read"},
		"configured":     {func() string { return idOfConfig }, "os.ReadFile"},
		"by a template":  {func() string { return idTemplate }, "os.Getpid"},
		"only constants": {func() string { return idConstant }, ""},
	} {
		found, err := outside.FindIn(strategies.Strategy{Nodes: 1, New: func([]*redis.Client, string, strategies.Options) strategies.Lock {
			return identified{id: c.id}
		}}, "lockstep/sim/explore/locktest/outside_test")
		if err != nil {
			t.Fatal(err)
		}
		var what []string
		for _, u := range found.Uses {
			what = append(what, u.What)
		}
		if got := strings.Join(what, ", "); c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: found %q, want %q", name, got, c.want)
		}
	}
}
