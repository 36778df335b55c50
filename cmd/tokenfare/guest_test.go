package main

import (
	"context"
	"errors"
	"io"
	"net"
	"runtime"
	"testing"
)

// A client that sends more and stays is looked at again and again, and one that leaves is missed once.
func TestAGuestWhoStays(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("Only Linux tells who has hung up while what he sent is not read.")
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	client, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	conn, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	gone := make(chan error, 1)
	g := &guest{Conn: conn}
	g.During(func(cause error) { gone <- cause })
	if _, err := client.Write([]byte("ab")); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(g, make([]byte, 1)); err != nil { // as net/http does; the other byte stays where it is
		t.Fatal(err)
	}
	for range 3 {
		g.look()
	}
	select {
	case <-gone:
		t.Fatal("a client that is there was taken for gone")
	default:
	}
	client.Close()
	if cause := <-gone; !errors.Is(cause, context.Canceled) {
		t.Errorf("left because of %v", cause)
	}
	g.Over()
	g.look()
	select {
	case <-gone:
		t.Error("it was told after the call was over")
	default:
	}
}
