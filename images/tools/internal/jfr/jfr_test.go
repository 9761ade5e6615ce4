package jfr

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"kdebug/tools/internal/flame"
)

// Recordings of test/cluster/images/targets/jvm-deadlock, made with Settings by the JVM that the file is named after.
func recording(t *testing.T, name string) []byte {
	t.Helper()
	packed, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	reader, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

var recordings = []string{"openjdk-17.jfr.gz", "openjdk-25.jfr.gz"}

func TestParse(t *testing.T) {
	for _, name := range recordings {
		sampled, err := Parse(t.Context(), recording(t, name))
		if err != nil {
			t.Fatal(name, err)
		}
		var stacks []flame.Stack
		for _, each := range sampled {
			if each.Thread <= 0 {
				t.Errorf("%s: a sample of no thread: %+v", name, each)
			}
			stacks = append(stacks, each.Stack)
		}
		if total := flame.Total(stacks); total < 10 {
			t.Errorf("%s: only %d samples", name, total)
		}
		top := flame.Top(stacks, 1)
		if len(top) != 1 || top[0].Name != "Shop.discount" && top[0].Name != "Shop.recompute" {
			t.Errorf("%s: %v is the hottest", name, top)
		}
		for _, stack := range stacks {
			if text := strings.Join(stack.Frames, " "); strings.Contains(text, "0x") {
				t.Errorf("%s: an address in %s", name, text)
			}
			if stack.Frames[0] != "java.lang.Thread.run" && stack.Frames[0] != "java.lang.Thread.runWith" {
				t.Errorf("%s: a stack begins with %q", name, stack.Frames[0])
			}
		}
	}
}

func TestParseSurvivesAnyRecording(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for _, name := range recordings {
		whole := recording(t, name)
		for range 150 {
			broken := bytes.Clone(whole[:random.Intn(len(whole))+1])
			for range random.Intn(40) {
				broken[random.Intn(len(broken))] = byte(random.Intn(256))
			}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			_, _ = Parse(ctx, broken)
			cancel()
		}
	}
	if _, err := Parse(t.Context(), []byte("no recording")); err == nil {
		t.Error("a text was read as a recording")
	}
}

func TestTheRecordersOwnStacksAreLeftOut(t *testing.T) {
	of := func(frames ...string) Stack { return Stack{flame.Stack{Frames: frames, Value: 1}, 7} }
	left := withoutRecorder([]Stack{of("java.lang.Thread.run", "jdk.jfr.internal.PlatformRecorder.periodicTask"), of("java.lang.Thread.run", "Shop.price")})
	if len(left) != 1 || left[0].Frames[1] != "Shop.price" {
		t.Errorf("%+v", left)
	}
}
