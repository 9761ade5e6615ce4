package cpu

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/pprof/profile"

	"kdebug/tools/internal/flame"
)

// hostile is a profile of few bytes whose samples name one place, with many lines, again and again.
func hostile(t *testing.T, lines, depth, samples int) []byte {
	t.Helper()
	function := &profile.Function{ID: 1, Name: "f"}
	place := &profile.Location{ID: 1, Address: 1}
	for range lines {
		place.Line = append(place.Line, profile.Line{Function: function})
	}
	made := &profile.Profile{SampleType: []*profile.ValueType{{Type: "cpu", Unit: "nanoseconds"}}, Function: []*profile.Function{function}, Location: []*profile.Location{place}}
	for range samples {
		sample := &profile.Sample{Value: []int64{1}}
		for range depth {
			sample.Location = append(sample.Location, place)
		}
		made.Sample = append(made.Sample, sample)
	}
	var content bytes.Buffer
	if err := made.Write(&content); err != nil {
		t.Fatal(err)
	}
	return content.Bytes()
}

func TestAProfileOfManyFramesIsBounded(t *testing.T) {
	deep, err := parsePprof(hostile(t, 1000, 20_000, 1))
	if err != nil || len(deep) != 1 || len(deep[0].Frames) > flame.MaxDepth+1 {
		t.Errorf("%d stacks, the first with %d frames, %v", len(deep), len(deep[0].Frames), err)
	}
	if _, err := parsePprof(hostile(t, 300, 1, 100_000)); !errors.Is(err, flame.ErrTooLarge) {
		t.Errorf("a profile of 30 million frames: %v", err)
	}
}
