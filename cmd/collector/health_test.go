package main

import (
	"bytes"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHealth(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.Error(w, "the store is away", http.StatusInternalServerError)
		}
	}))
	t.Cleanup(server.Close)
	address := server.Listener.Addr().String()
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := closed.Addr().String()
	require.NoError(t, closed.Close())

	for _, tt := range []struct {
		name string
		args []string
		code int
		says string
	}{
		{"well", []string{server.URL, "tcp://" + address}, 0, ""},
		{"an error status", []string{server.URL, server.URL + "/store"}, 1, "/store: answered 500 Internal Server Error the store is away"},
		{"nobody listens, HTTP", []string{"http://" + nobody}, 1, "connection refused"},
		{"nobody listens, TCP", []string{"tcp://" + nobody}, 1, "connection refused"},
		{"all failures are named", []string{"tcp://" + nobody, server.URL + "/store"}, 1, "/store"},
		{"no URL", []string{address}, 2, "is no http://, https:// or tcp:// URL"},
		{"another scheme", []string{"ftp://" + address}, 2, "is no http://, https:// or tcp:// URL"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := newHealthCommand()
			c.SetArgs(tt.args)
			c.SilenceErrors, c.SilenceUsage = true, true
			c.SetOut(new(bytes.Buffer))
			err := c.Execute()
			if tt.code == 0 {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.says)
			var exit *exitError
			if tt.code == 2 {
				require.ErrorAs(t, err, &exit)
				require.Equal(t, tt.code, exit.code)
			} else {
				require.NotErrorAs(t, err, &exit)
			}
		})
	}
}

func TestReleaseOf(t *testing.T) {
	require.Equal(t, "1.2.0", releaseOf("1.2.0", "v9.9.9"), "the linker's word counts first")
	require.Equal(t, "v1.2.1-0.20260101000000-abcdef123456", releaseOf("dev", "v1.2.1-0.20260101000000-abcdef123456"))
	require.Equal(t, "dev", releaseOf("dev", "(devel)"))
	require.Equal(t, "dev", releaseOf("dev", ""))
}
