package docs_test

import (
	"os"
	"testing"

	load "golang.org/x/tools/go/packages"

	"lockstep/sim/testenv"
)

// TestEveryDesk: the code and its tests have no type errors on systems that are not this one. To
// compile all that they use takes a minute for each; here of other modules only the declarations
// are checked. FreeBSD, which differs from macOS in a few types, is left to the larger run.
func TestEveryDesk(t *testing.T) {
	testenv.Long(t)
	for _, system := range []string{"darwin", "windows", "freebsd"} {
		if system == "freebsd" && !testenv.Whole() {
			continue
		}
		list, err := load.Load(&load.Config{
			Mode:  load.NeedName | load.NeedFiles | load.NeedCompiledGoFiles | load.NeedImports | load.NeedDeps | load.NeedTypes | load.NeedTypesSizes | load.NeedSyntax | load.NeedTypesInfo,
			Dir:   "..",
			Env:   append(os.Environ(), "GOOS="+system, "CGO_ENABLED=0"),
			Tests: true,
		}, "./...")
		if err != nil {
			t.Fatal(err)
		}
		load.Visit(list, nil, func(p *load.Package) {
			for _, e := range p.Errors {
				t.Errorf("%s: %s", system, e)
			}
		})
	}
}
