// Command dsserver serves POST /api/ds/query over a ClickHouse and a Prometheus,
// and the files of a folder, for pictures of dashboards in a browser.
//
//	dsserver -listen 127.0.0.1:0 -dsn http://127.0.0.1:8123/soakgate -prometheus http://127.0.0.1:9090 -dir dist
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/soakgate/soakgate/tools/dsquery"
)

// maxRequest bounds a request's body: a panel's queries are a few KiB.
const maxRequest = 1 << 20

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address; with port 0 a free one")
	dsn := flag.String("dsn", "http://127.0.0.1:8123/soakgate", "ClickHouse DSN")
	prometheus := flag.String("prometheus", "", "address of Prometheus")
	dir := flag.String("dir", "dist", "folder to serve")
	flag.Parse()
	if err := serve(*listen, *dsn, *prometheus, *dir); err != nil {
		log.Fatal(err)
	}
}

func serve(listen, dsn, prometheus, dir string) error {
	clickhouse, err := dsquery.OpenClickHouse(dsn)
	if err != nil {
		return err
	}
	defer clickhouse.Close()
	sources := &dsquery.Sources{ClickHouse: clickhouse}
	if prometheus != "" {
		sources.Prometheus = dsquery.OpenPrometheus(prometheus)
	}
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	// The first line tells whoever started it where it listens.
	fmt.Println("http://" + listener.Addr().String())

	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/ds/query", func(w http.ResponseWriter, r *http.Request) { answer(w, r, sources) })
	mux.Handle("/", http.FileServer(http.Dir(dir)))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve: %w", err)
	}
	return nil
}

func answer(w http.ResponseWriter, r *http.Request, sources *dsquery.Sources) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	request, err := dsquery.ParseRequest(body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(sources.QueryData(r.Context(), request)); err != nil {
		log.Printf("answer: %v", err) // the browser has left
	}
}
