//go:build !unix

package spawn

import "os/exec"

const supported = false

func ownGroup(*exec.Cmd) {}

func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
