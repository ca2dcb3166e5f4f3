package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"syscall"
	"time"
)

// process is the collector, started as a user would start it.
type process struct {
	command *exec.Cmd
	ended   chan struct{} // closed when it has ended, with
	err     error         // why
}

func (d *demo) start() (*process, error) {
	p := &process{command: exec.Command(d.collector, "--config", d.config), ended: make(chan struct{})}
	p.command.Stdout, p.command.Stderr = os.Stderr, os.Stderr
	// Ctrl-C reaches the demo alone, which then stops the collector in order.
	p.command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := p.command.Start(); err != nil {
		return nil, fmt.Errorf("start the collector: %w; `make build` makes it", err)
	}
	go func() {
		p.err = p.command.Wait()
		close(p.ended)
	}()
	return p, nil
}

// stop ends the collector and waits until it has left.
func (p *process) stop() {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(30 * time.Second):
		_ = p.command.Process.Kill()
		<-p.ended
	}
}

// startTimeout bounds how long the collector may take to listen everywhere.
const startTimeout = 60 * time.Second

// waitFor waits until something listens on every address.
func (p *process) waitFor(ctx context.Context, addresses ...string) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	for _, address := range addresses {
		for !listens(address) {
			select {
			case <-p.ended:
				return fmt.Errorf("the collector did not start: %w; its messages are above", p.err)
			case <-ctx.Done():
				return errors.Join(fmt.Errorf("the collector does not listen on %s", address), ctx.Err())
			case <-time.After(waitPause):
			}
		}
	}
	return nil
}

func listens(address string) bool {
	conn, err := net.DialTimeout("tcp", address, time.Second)
	if err != nil {
		return false
	}
	return conn.Close() == nil
}
