package e2e

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog/plogotlp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// certificate makes a certificate for the loopback address, in two files, and the
// settings of a client that trusts it.
func certificate(t *testing.T, dir string) (certFile, keyFile string, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "soakgate"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	keyDER, err := x509.MarshalECPrivateKey(key)
	require.NoError(t, err)
	certFile, keyFile = filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	cert := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	require.NoError(t, os.WriteFile(certFile, cert, 0o600))
	require.NoError(t, os.WriteFile(keyFile, pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: keyDER}), 0o600))
	roots := x509.NewCertPool()
	require.True(t, roots.AppendCertsFromPEM(cert))
	return certFile, keyFile, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// code is the status that a health check answers with, 0 when nothing does.
func code(address string) int {
	answer, err := http.Get("http://" + address + "/")
	if err != nil {
		return 0
	}
	defer answer.Body.Close()
	return answer.StatusCode
}

// TestProduction holds that only senders with a token get in, over TLS alone, and
// that alive and ready differ while ClickHouse is away, when data is still taken
// and the age of what waits is told (U57).
func TestProduction(t *testing.T) {
	alive, ready := freeAddress(t), freeAddress(t)
	s := newWithStore(t, "production.yaml", "SOAKGATE_ALIVE="+alive, "SOAKGATE_READY="+ready, "SOAKGATE_READY_AFTER=1s")
	certFile, keyFile, trust := certificate(t, s.data)
	tokens := filepath.Join(s.data, "tokens")
	require.NoError(t, os.WriteFile(tokens, []byte("s3cret # the shop's\n"), 0o600))
	s.extra = append(s.extra, "SOAKGATE_TLS_CERT="+certFile, "SOAKGATE_TLS_KEY="+keyFile, "SOAKGATE_TOKENS_FILE="+tokens)
	s.startStore()
	s.launch()
	s.eventually("alive", func() error { return health(alive, http.StatusOK) })
	s.eventually("ready", func() error { return health(ready, http.StatusOK) })

	conn, err := grpc.NewClient(s.grpc, grpc.WithTransportCredentials(credentials.NewTLS(trust)))
	require.NoError(t, err)
	defer conn.Close()
	client := plogotlp.NewGRPCClient(conn)
	_, err = client.Export(t.Context(), failures(0, 1))
	assert.Equal(t, codes.Unauthenticated, status.Code(err))
	with := metadata.AppendToOutgoingContext(t.Context(), "authorization", "Bearer s3cret")
	_, err = client.Export(with, failures(0, 1))
	require.NoError(t, err)
	assert.Equal(t, http.StatusBadRequest, code(s.http), "no TLS, no service")
	s.exactly(1)

	s.stopStore()
	s.eventually("not ready", func() error { return health(ready, http.StatusInternalServerError) })
	assert.Equal(t, http.StatusOK, code(alive), "a store that is away is no reason to restart")
	_, err = client.Export(with, failures(1, 2))
	require.NoError(t, err)
	s.eventually("the backlog ages", func() error {
		if age := s.metric("soakgate_journal_backlog_age_seconds"); age < 0.1 {
			return fmt.Errorf("%v s old", age)
		}
		return nil
	})
	assert.Equal(t, 8.0*(1<<20), s.metric("soakgate_journal_max_bytes"))
	s.startStore()
	s.eventually("ready again", func() error { return health(ready, http.StatusOK) })
	s.exactly(2)
	s.eventually("nothing waits", func() error {
		if age := s.metric("soakgate_journal_backlog_age_seconds"); age != 0 {
			return fmt.Errorf("%v s old", age)
		}
		return nil
	})
	require.NoError(t, s.terminate(), s.output)
	assert.NotContains(t, s.output.String(), "s3cret")
}

func health(address string, want int) error {
	if got := code(address); got != want {
		return fmt.Errorf("status %d, want %d", got, want)
	}
	return nil
}
