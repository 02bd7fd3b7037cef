// Package main stores each conversation and hands it on to the engine.
package main

import (
	"bufio"
	"database/sql"
	"log"
	"net/http"
	"os"
	"time"

	_ "github.com/lib/pq"
)

var engine = &http.Client{Timeout: 30 * time.Second}

func main() {
	db, err := sql.Open("postgres", os.Getenv("DATABASE_URL"))
	if err != nil {
		log.Fatal(err)
	}
	db.SetMaxOpenConns(40)
	db.SetMaxIdleConns(40)
	db.SetConnMaxLifetime(30 * time.Minute)

	http.HandleFunc("POST /v1/chat/completions", func(w http.ResponseWriter, r *http.Request) { chat(w, r, db) })
	server := &http.Server{Addr: ":8080", ReadHeaderTimeout: 5 * time.Second, WriteTimeout: time.Minute, IdleTimeout: 30 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// chat streams the engine's answer to the client.
func chat(w http.ResponseWriter, r *http.Request, db *sql.DB) {
	if _, err := db.ExecContext(r.Context(), "insert into request (at) values (now())"); err != nil {
		http.Error(w, "the database is not there", http.StatusServiceUnavailable)
		return
	}
	request, err := http.NewRequest(http.MethodPost, os.Getenv("ENGINE_URL")+"/v1/chat/completions", r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answer, err := engine.Do(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer answer.Body.Close()
	w.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
	w.WriteHeader(answer.StatusCode)
	for lines := bufio.NewScanner(answer.Body); lines.Scan(); {
		_, _ = w.Write(append(lines.Bytes(), '\n'))
		w.(http.Flusher).Flush()
	}
}
