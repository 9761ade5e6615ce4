package flame

import (
	"os"
	"path/filepath"
	"testing"
)

// TestWriteHostile leaves a profile with names that look like secrets in the folder KDEBUG_HOSTILE, where images/test/profile-files.test.ts lets
// kdebug redact it.
func TestWriteHostile(t *testing.T) {
	folder := os.Getenv("KDEBUG_HOSTILE")
	if folder == "" {
		t.Skip("for images/test/profile-files.test.ts")
	}
	names := []string{"password=hunter2222", `secret: "abc`, "token='abcdefgh", "-----BEGIN RSA PRIVATE KEY-----", "api_key=AKIAIOSFODNN7EXAMPLE",
		"Authorization: Bearer abcdefghijklmnopqrstuvwxyz", "password: |", "https://user:hunter2222@shop.test/", `{"password":"hunter2222`, "ghp_0123456789abcdefghijklmnopqrstuvwxyz"}
	var stacks []Stack
	for at := range names {
		stacks = append(stacks, Stack{append([]string{"main"}, names[at:]...), int64(10 + at)})
	}
	for name, content := range map[string][]byte{
		"cpu.svg": SVG("a title", "a subtitle", stacks, Samples), "cpu.speedscope.json": Speedscope("a title", stacks, Samples), "cpu.folded": Folded(stacks),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
