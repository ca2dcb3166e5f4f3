package soakgatereceiver

import (
	"context"
	"math/rand/v2"
	"net"
	"net/http"
	"time"
)

// expiresKey is the context key of the time from which a connection is too old.
type expiresKey struct{}

// limitAge makes the server end connections that are older than age with their
// next answer. Each lives a tenth more or less, so that senders that came
// together do not come back together. Over HTTP/1 the answer says "Connection:
// close"; the HTTP/2 server turns the same header into a GOAWAY.
func limitAge(server *http.Server, age time.Duration) {
	if age <= 0 {
		return
	}
	server.ConnContext = func(ctx context.Context, _ net.Conn) context.Context {
		return context.WithValue(ctx, expiresKey{}, time.Now().Add(age-age/10+rand.N(age/5+1)))
	}
	next := server.Handler
	server.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if expires, ok := r.Context().Value(expiresKey{}).(time.Time); ok && time.Now().After(expires) {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}
