package carry

import (
	"crypto/rand"
	"encoding/hex"
	"os"
	"strings"
)

const (
	keyEnding = ".key"
	keySize   = 16
)

// WriteKey leaves a new key beside the copy at a path, and gives it. Only who started the copy before the program ran can know it, so a report with it is
// of the copy: the program could write another, should it end the copy.
func WriteKey(path string) (string, error) {
	var key [keySize]byte
	if _, err := rand.Read(key[:]); err != nil {
		return "", err
	}
	text := hex.EncodeToString(key[:])
	return text, write(path+keyEnding, strings.NewReader(text))
}

// TakeKey reads the key that is beside this program, and removes it; "" where there is none. Before the program itself is removed.
func TakeKey() string {
	path, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return ""
	}
	text, err := os.ReadFile(path + keyEnding)
	if err != nil || os.Remove(path+keyEnding) != nil || len(text) != 2*keySize {
		return ""
	}
	return string(text)
}
