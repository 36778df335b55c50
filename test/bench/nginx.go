package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// nginxConfig is a reverse proxy as nginx's manual has it for streams: HTTP/1.1 to the upstream, connections kept, nothing gathered
// before it is passed on. It has as many processes as this machine has processors for it, and writes no log.
const nginxConfig = `daemon off;
master_process on;
worker_processes 2;
pid %[1]s/nginx.pid;
error_log /dev/null;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path %[1]s/nginx-body;
  proxy_temp_path %[1]s/nginx-proxy;
  fastcgi_temp_path %[1]s/nginx-fastcgi;
  uwsgi_temp_path %[1]s/nginx-uwsgi;
  scgi_temp_path %[1]s/nginx-scgi;
  client_body_buffer_size 64k;
  client_max_body_size 32m;
  keepalive_requests 1000000000;
  upstream mock { server %[2]s; keepalive 512; keepalive_requests 1000000000; }
  server {
    listen %[3]s;
    location / {
      proxy_pass http://mock;
      proxy_http_version 1.1;
      proxy_set_header Connection "";
      proxy_buffering off;
      proxy_read_timeout 1h;
    }
  }
}
`

// startNginx runs nginx in front of the mock; nil where it is not installed.
func startNginx(dir, upstream string) (*process, error) {
	binary, err := exec.LookPath("nginx")
	if err != nil {
		return nil, nil //nolint:nilnil,nilerr // it is measured where there is one
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	addr := l.Addr().String()
	l.Close() // nginx takes no listener, only an address
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, fmt.Appendf(nil, nginxConfig, dir, upstream, addr), 0o600); err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(binary, "-c", file, "-p", dir), addr: addr, done: make(chan struct{})}
	p.cmd.Stderr = os.Stderr
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go p.wait()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for began := time.Now(); time.Since(began) < patience; <-tick.C {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			continue
		}
		c.Close()
		if p.work, err = children(p.cmd.Process.Pid); err == nil {
			return p, nil
		}
	}
	p.stop() //nolint:errcheck // that it did not start is what there is to say
	return nil, fmt.Errorf("%s did not start to listen on %s", binary, addr)
}

// children are the processes that a process has started, see proc_pid_task_tid_children(5).
func children(pid int) (pids []int, err error) {
	list, err := read(pid, fmt.Sprintf("task/%d/children", pid))
	if err != nil {
		return nil, err
	}
	for field := range strings.FieldsSeq(string(list)) {
		child, err := strconv.Atoi(field)
		if err != nil {
			return nil, err
		}
		pids = append(pids, child)
	}
	return pids, nil
}
