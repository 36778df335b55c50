package main

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"log" //nolint:depguard // http.Server wants one of its loggers
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/tokenfare/tokenfare/proxy"
)

// listening is a server, where it listens, and what it serves.
type listening struct {
	server   *http.Server
	listener net.Listener
	door     *door
}

// door leads requests to a handler, and later ones to another. It is safe for concurrent use.
type door struct{ to atomic.Pointer[http.Handler] }

func (d *door) lead(h http.Handler) { d.to.Store(&h) }

// ServeHTTP serves one request.
func (d *door) ServeHTTP(w http.ResponseWriter, r *http.Request) { (*d.to.Load()).ServeHTTP(w, r) }

// listen opens both listeners. Nothing is accepted yet.
func (a *app) listen() (main, admin listening, err error) {
	main.door, admin.door = &door{}, &door{}
	if a.server != nil {
		main.door.lead(a.server)
		admin.door.lead(a.adminHandler())
	} else {
		waiting := proxy.Waiting(a.config.Timeouts.RequestHeader)
		main.door.lead(waiting)
		admin.door.lead(a.waitingAdmin(waiting))
	}
	var secure *tls.Config
	if a.config.TLS != nil {
		certificate, err := newCertificate(a.config.TLS.Cert, a.config.TLS.Key)
		if err != nil {
			return main, admin, err
		}
		secure = &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: certificate.get}
	}
	admin.server = a.httpServer(admin.door)
	admin.server.ReadTimeout = a.config.Timeouts.RequestHeader // bodies there are small
	if main.listener, err = net.Listen("tcp", a.config.Listen); err != nil {
		return main, admin, listenError("listen", a.config.Listen, err)
	}
	bounded := newCrowd(main.listener, connections(openFiles()), secure.Clone(), a.log, a.registry)
	main.listener = bounded
	main.server = a.httpServer(bounded.lead(main.door))
	main.server.TLSConfig = secure
	main.server.ConnContext = guestOf
	if admin.listener, err = net.Listen("tcp", a.config.Admin.Listen); err != nil {
		main.listener.Close()
		return main, admin, listenError("admin.listen", a.config.Admin.Listen, err)
	}
	return main, admin, nil
}

func listenError(setting, address string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		return fmt.Errorf("%s: %s is in use by another program; stop it or choose another port", setting, address)
	}
	return fmt.Errorf("%s: %w", setting, err)
}

func (a *app) httpServer(h http.Handler) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: a.config.Timeouts.RequestHeader,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(acceptErrors{a.log}, "", 0),
	}
}

// acceptErrors logs that connections cannot be accepted, as when file descriptors run out. What else net/http has to say may
// quote what clients send.
type acceptErrors struct{ log *slog.Logger }

func (a acceptErrors) Write(line []byte) (int, error) {
	if bytes.HasPrefix(line, []byte("http: Accept error")) {
		a.log.Error("cannot accept connections", "error", strings.TrimSpace(string(line)))
	}
	return len(line), nil
}
