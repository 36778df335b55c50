package harness

import (
	"os/exec"
	"syscall"
)

// tie makes a command run as the account, if there is one, and get the signal when the thread that starts it ends.
func tie(cmd *exec.Cmd, orphaned syscall.Signal, as *account) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: orphaned}
	if as != nil {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: as.uid, Gid: as.gid}
	}
}
