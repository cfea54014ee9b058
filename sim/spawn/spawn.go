// Package spawn starts programs that don't outlive this process, in a folder that doesn't
// either.
//
// A process that is killed with SIGKILL can clean up nothing, so another one does: a guardian,
// a shell that reads from a pipe the ids of the programs started. The pipe ends when this
// process does, however that comes about. Then the guardian kills the process groups of the
// programs that are left, and removes the folder. It ignores the signals that a terminal
// sends.
package spawn

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Folder is a temporary folder, and the programs that were started with its Start.
//
// Invariant: until Close, the guardian runs.
type Folder struct {
	path     string
	ids      *os.File // the guardian reads from its other end
	guardian *exec.Cmd
	live     map[*Process]bool
}

// Process is a program that was started by a Folder. It leads a process group.
type Process struct {
	folder *Folder
	cmd    *exec.Cmd
}

// guard reads "+ ID" for a process group that has begun and "- ID" for one that has ended. At
// the end of its input it kills the groups that are left, and removes the folder.
const guard = `
trap '' HUP INT QUIT TERM PIPE
live=
while read -r what id; do
	rest=
	for other in $live; do
		[ "$other" = "$id" ] || rest="$rest $other"
	done
	live=$rest
	[ "$what" = + ] && live="$live $id"
done
for id in $live; do
	kill -s KILL -- "-$id" 2>/dev/null
done
rm -rf -- "$1" || { sleep 1; rm -rf -- "$1"; }
`

// announce tells the guardian of a program before that begins, so there is no instant at which
// the program runs and the guardian doesn't know it. %d is the descriptor of the pipe.
const announce = `echo "+ $$" >&%[1]d; exec "$@" %[1]d>&-`

// New makes a folder, whose name begins with prefix. It fails where there is no Unix shell.
func New(prefix string) (*Folder, error) {
	if !supported {
		return nil, errors.New("programs can be started on Unix only")
	}
	path, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, err
	}
	in, ids, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	f := &Folder{path: path, ids: ids, live: map[*Process]bool{}}
	f.guardian = exec.Command("/bin/sh", "-c", guard, "sh", path) //nolint:gosec // the script is a constant
	f.guardian.Stdin, f.guardian.Stderr = in, os.Stderr
	ownGroup(f.guardian)
	err = f.guardian.Start()
	if err = errors.Join(err, in.Close()); err != nil {
		return nil, errors.Join(err, ids.Close(), os.RemoveAll(path))
	}
	return f, nil
}

// Path returns the path of a file in the folder.
func (f *Folder) Path(name string) string { return filepath.Join(f.path, name) }

// Start starts a program in a process group of its own. Unless the command says otherwise, the
// program works in the folder. It fails if there is no such program.
func (f *Folder) Start(cmd *exec.Cmd) (*Process, error) {
	if cmd.Err != nil {
		return nil, cmd.Err
	}
	if cmd.Dir == "" {
		cmd.Dir = f.path
	}
	const firstExtra = 3
	script := fmt.Sprintf(announce, firstExtra+len(cmd.ExtraFiles))
	cmd.Args = append([]string{"sh", "-c", script, "sh", cmd.Path}, cmd.Args[1:]...)
	cmd.Path = "/bin/sh"
	cmd.ExtraFiles = append(cmd.ExtraFiles, f.ids)
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &Process{folder: f, cmd: cmd}
	f.live[p] = true
	return p, nil
}

// Kill ends the program and all other programs of its process group, and waits for its end.
// Killing it again has no effect.
func (p *Process) Kill() {
	if !p.folder.live[p] {
		return
	}
	delete(p.folder.live, p)
	killGroup(p.cmd)
	// Before Wait, no other process can have the id. If the guardian is gone there is nobody
	// to tell.
	_, _ = fmt.Fprintf(p.folder.ids, "- %d\n", p.cmd.Process.Pid)
	_ = p.cmd.Wait() // that it was killed is no news
}

// Close ends all programs and removes the folder. It fails if the folder can't be removed.
func (f *Folder) Close() error {
	for p := range f.live {
		p.Kill()
	}
	err := f.ids.Close()
	return errors.Join(err, f.guardian.Wait())
}
