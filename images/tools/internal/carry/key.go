package carry

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strings"
)

// slot is where a copy has its key: in its own program, which it removes before it starts another.
var slot = "the key of a copy is 32 digits: ................................"

const keySize = 16

// Key is that of this program, which is a copy; "" for what is none. Only the copy and who made it know it, so that a report with it is the copy's.
func Key() string {
	key := slot[len(slot)-2*keySize:]
	if strings.HasPrefix(key, ".") {
		return ""
	}
	return key
}

var errSlot = errors.New("this program has no room for a key")

// withKey puts a new key into a program, and gives both.
func withKey(program []byte) ([]byte, string, error) {
	var random [keySize]byte
	if _, err := rand.Read(random[:]); err != nil {
		return nil, "", err
	}
	at := bytes.Index(program, []byte(slot))
	if at < 0 {
		return nil, "", errSlot
	}
	key := hex.EncodeToString(random[:])
	copy(program[at+len(slot)-2*keySize:], key)
	return program, key, nil
}
