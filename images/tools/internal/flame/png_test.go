package flame

import (
	"bytes"
	"fmt"
	"image/png"
	"strings"
	"testing"
)

func TestPNG(t *testing.T) {
	picture, err := PNG("CPU of process 1 (shop)", "100 samples in 10 s", shop, Samples)
	if err != nil {
		t.Fatal(err)
	}
	seen, err := png.Decode(bytes.NewReader(picture))
	if err != nil {
		t.Fatal(err)
	}
	// "all", "main", "loop" and "report", "recompute".
	if size := seen.Bounds().Size(); size.X != 1600 || size.Y != pngHead+4*pngRow+pngMargin {
		t.Errorf("the picture is %v", size)
	}
	// The root is as wide as the picture, recompute has 70 % of it.
	paper := seen.At(0, 0)
	root, top := pngHead+3*pngRow+1, pngHead+1
	for _, at := range []struct {
		x, y  int
		isBox bool
	}{{20, root, true}, {1580, root, true}, {20, top, true}, {13 + 1570*69/100, top, true}, {13 + 1580*72/100, top, false}, {1590, root, false}} {
		if got := seen.At(at.x, at.y) != paper; got != at.isBox {
			t.Errorf("at %d,%d there is a box: %t", at.x, at.y, got)
		}
	}
	again, _ := PNG("CPU of process 1 (shop)", "100 samples in 10 s", shop, Samples)
	if !bytes.Equal(picture, again) {
		t.Error("the same profile gives another picture")
	}
}

func TestPNGOfHostileNames(t *testing.T) {
	for name, stacks := range map[string][]Stack{"nothing": nil, "hostile": hostile, "wide": broad(), "deep": {{strings.Split(strings.Repeat("f ", 500), " "), 1}}} {
		picture, err := PNG(strings.Repeat("title ", 500), "\x00\u202e☃", stacks, Samples)
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := png.Decode(bytes.NewReader(picture)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(picture) > 1<<20 {
			t.Errorf("%s: %d bytes", name, len(picture))
		}
	}
}

// broad is as many frames as a picture may have.
func broad() (stacks []Stack) {
	for root := range 1_500 {
		frames := []string{fmt.Sprintf("root%d", root)}
		for depth := range 30 {
			frames = append(frames, fmt.Sprintf("f%d", (root*31+depth)%9_973))
		}
		stacks = append(stacks, Stack{frames, 1})
	}
	return stacks
}
