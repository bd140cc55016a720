// Command tlog answers what golang.org/x/mod/sumdb makes of the leaves, notes and keys that it reads, so that a test can
// compare it byte by byte with the code of this project.
package main

import (
	"encoding/json"
	"log"
	"os"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type request struct {
	Leaves [][]byte `json:"leaves"`
	Notes  []struct {
		Text string `json:"text"`
		Skey string `json:"skey"`
	} `json:"notes"`
	Signed []struct {
		Note string `json:"note"`
		Vkey string `json:"vkey"`
	} `json:"signed"`
}

type answer struct {
	// Roots[n] is the root of the first n leaves.
	Roots [][]byte `json:"roots"`
	// Inclusion[n][i] proves leaf i in the first n+1 leaves, and Consistency[n][m] that these begin with the first m+1.
	Inclusion   [][][][]byte `json:"inclusion"`
	Consistency [][][][]byte `json:"consistency"`
	Notes       []string     `json:"notes"`
	// Opened has the text of each signed note whose signature holds, and the error of the others.
	Opened []opened `json:"opened"`
}

type opened struct {
	Text  string `json:"text"`
	Error string `json:"error"`
}

type hashes []tlog.Hash

func (h hashes) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	read := make([]tlog.Hash, len(indexes))
	for i, index := range indexes {
		read[i] = h[index]
	}
	return read, nil
}

func must[T any](value T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return value
}

func bytesOf[P ~[]tlog.Hash](proof P) [][]byte {
	all := make([][]byte, len(proof))
	for i := range proof {
		all[i] = proof[i][:]
	}
	return all
}

func trees(leaves [][]byte, to *answer) {
	var stored hashes
	empty := must(tlog.TreeHash(0, stored))
	to.Roots = append(to.Roots, empty[:])
	for i, leaf := range leaves {
		stored = append(stored, must(tlog.StoredHashes(int64(i), leaf, stored))...)
		size := int64(i + 1)
		root := must(tlog.TreeHash(size, stored))
		to.Roots = append(to.Roots, root[:])
		var inclusion, consistency [][][]byte
		for n := int64(0); n < size; n++ {
			inclusion = append(inclusion, bytesOf(must(tlog.ProveRecord(size, n, stored))))
			consistency = append(consistency, bytesOf(must(tlog.ProveTree(size, n+1, stored))))
		}
		to.Inclusion = append(to.Inclusion, inclusion)
		to.Consistency = append(to.Consistency, consistency)
	}
}

func open(signed, vkey string) (string, error) {
	verifier, err := note.NewVerifier(vkey)
	if err != nil {
		return "", err
	}
	read, err := note.Open([]byte(signed), note.VerifierList(verifier))
	if err != nil {
		return "", err
	}
	return read.Text, nil
}

func main() {
	var asked request
	if err := json.NewDecoder(os.Stdin).Decode(&asked); err != nil {
		log.Fatal(err)
	}
	var to answer
	trees(asked.Leaves, &to)
	for _, it := range asked.Notes {
		signer := must(note.NewSigner(it.Skey))
		to.Notes = append(to.Notes, string(must(note.Sign(&note.Note{Text: it.Text}, signer))))
	}
	for _, it := range asked.Signed {
		text, err := open(it.Note, it.Vkey)
		if err != nil {
			to.Opened = append(to.Opened, opened{Error: err.Error()})
			continue
		}
		to.Opened = append(to.Opened, opened{Text: text})
	}
	if err := json.NewEncoder(os.Stdout).Encode(to); err != nil {
		log.Fatal(err)
	}
}
