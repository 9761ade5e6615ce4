package main

import (
	"errors"
	"slices"
	"strings"
	"time"
)

// order is what to run once more, and for how long at most.
type order struct {
	length  time.Duration
	program []string
}

var errOrder = errors.New("once-more takes --for=60s (from 1s to 12h), then -- and the program with its arguments")

// readOrder reads "--for=60s -- PROGRAM ARG".
func readOrder(words []string) (order, error) {
	end := slices.Index(words, "--")
	if end != 1 || len(words) < 3 || words[2] == "" {
		return order{}, errOrder
	}
	text, found := strings.CutPrefix(words[0], "--for=")
	length, right := readLength(text)
	if !found || !right {
		return order{}, errOrder
	}
	return order{length, words[2:]}, nil
}
