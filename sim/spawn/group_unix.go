//go:build unix

package spawn

import (
	"os/exec"
	"syscall"
)

const supported = true

// ownGroup has a command lead a process group, so that a signal from the terminal to this
// process's group doesn't reach it, and its own children can be killed with it.
func ownGroup(cmd *exec.Cmd) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true
}

// killGroup kills a command's process group. The command hasn't been waited for, so the id is
// still its own.
func killGroup(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
