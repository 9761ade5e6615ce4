package flame

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"unicode/utf8"
)

// The picture, in pixels. Frames narrower than minWidth are left out; with them a picture has at most about 2,400 frames a level.
const (
	width      = 1200.0
	margin     = 10.0
	rowHeight  = 18.0
	headHeight = 62.0
	minWidth   = 0.5
	fontWidth  = 6.7
	// maxFrames bounds the file: a target can make every stack a different one.
	maxFrames = 20_000
)

type node struct {
	name     string
	value    int64
	children map[string]*node
}

func tree(stacks []Stack) *node {
	root := &node{name: "all", children: map[string]*node{}}
	for _, stack := range Clean(stacks) {
		root.value += stack.Value
		at := root
		for _, name := range stack.Frames {
			child := at.children[name]
			if child == nil {
				child = &node{name: name, children: map[string]*node{}}
				at.children[name] = child
			}
			child.value += stack.Value
			at = child
		}
	}
	return root
}

// box is a frame's place in the picture.
type box struct {
	*node
	x     float64
	depth int
}

// SVG gives a flame graph: the root below, each function on the one that called it, as wide as its share. It is a still picture: it holds no
// script, no style sheet and no link. Whoever points at a frame sees its whole name.
func SVG(title, subtitle string, stacks []Stack, unit Unit) []byte {
	root := tree(stacks)
	boxes, depth := layout(root)
	height := headHeight + float64(depth+1)*rowHeight + margin
	var text strings.Builder
	fmt.Fprintf(&text, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="monospace" font-size="11" role="img">`+"\n",
		width, height, width, height)
	fmt.Fprintf(&text, "<title>\n%s\n</title>\n", escaped(cleanName(title)))
	fmt.Fprintf(&text, `<rect width="%.0f" height="%.0f" fill="#fffdf8"/>`+"\n", width, height)
	fmt.Fprintf(&text, `<text x="%.0f" y="24" font-size="16" font-family="sans-serif" fill="#1d1c1d">`+"\n%s\n</text>\n", margin, escaped(cleanName(title)))
	fmt.Fprintf(&text, `<text x="%.0f" y="43" font-size="12" font-family="sans-serif" fill="#616061">`+"\n%s\n</text>\n", margin, escaped(cleanName(subtitle)))
	for _, box := range boxes {
		y := headHeight + float64(depth-box.depth)*rowHeight
		wide := share(box.value, root.value) * (width - 2*margin)
		// The name stands on lines of its own: what kdebug takes out of them leaves the marks around them whole.
		fmt.Fprintf(&text, "<g><title>\n%s\n%s, %.1f %%\n</title>\n", escaped(box.name), Amount(box.value, unit), 100*share(box.value, root.value))
		fmt.Fprintf(&text, `<rect x="%.1f" y="%.0f" width="%.1f" height="%.0f" rx="1" fill="%s"/>`+"\n", box.x, y, max(wide-0.4, minWidth), rowHeight-1, colour(box.name))
		if label := fitting(box.name, wide); label != "" {
			fmt.Fprintf(&text, `<text x="%.1f" y="%.0f" fill="#1d1c1d">`+"\n%s\n</text>\n", box.x+3, y+12.5, escaped(label))
		}
		text.WriteString("</g>\n")
	}
	text.WriteString("</svg>\n")
	return []byte(text.String())
}

// layout gives each frame that can be seen its place, callers first, and the depth of the deepest.
func layout(root *node) (boxes []box, depth int) {
	queue := []box{{root, margin, 0}}
	for len(queue) > 0 && len(boxes) < maxFrames {
		next := queue[0]
		queue = queue[1:]
		boxes = append(boxes, next)
		depth = max(depth, next.depth)
		x := next.x
		for _, name := range sortedNames(next.children) {
			child := next.children[name]
			wide := share(child.value, root.value) * (width - 2*margin)
			if wide >= minWidth {
				queue = append(queue, box{child, x, next.depth + 1})
			}
			x += wide
		}
	}
	return boxes, depth
}

func sortedNames(children map[string]*node) []string {
	names := make([]string, 0, len(children))
	for name := range children {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func share(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

// Amount is a value in words: "12 samples", or "0.41 s".
func Amount(value int64, unit Unit) string {
	switch {
	case unit == Nanoseconds:
		return fmt.Sprintf("%.2f s", float64(value)/1e9)
	case unit == Microseconds:
		return fmt.Sprintf("%.2f s", float64(value)/1e6)
	case value == 1:
		return "1 sample"
	}
	return fmt.Sprintf("%d samples", value)
}

// fitting is as much of a name as the frame has room for; empty where that says nothing.
func fitting(name string, wide float64) string {
	room := int((wide - 6) / fontWidth)
	if room < 3 {
		return ""
	}
	if short := shortened(name, room); utf8.RuneCountInString(short) <= room {
		return short
	}
	return string([]rune(name)[:room-1]) + "…"
}

// shortened leaves out packages, the outermost first, until a name has room: "com.example.shop.Shop.price" becomes "Shop.price".
func shortened(name string, room int) string {
	short := name
	for utf8.RuneCountInString(short) > room {
		end := strings.IndexAny(short, " (")
		if end < 0 {
			end = len(short)
		}
		cut := strings.IndexByte(short[:end], '/')
		if cut < 0 {
			cut = strings.IndexByte(short[:end], '.')
		}
		if cut < 0 {
			return name
		}
		short = short[cut+1:]
	}
	return short
}

// colour is a warm one, always the same for a name.
func colour(name string) string {
	hash := fnv.New32a()
	hash.Write([]byte(name))
	sum := hash.Sum32()
	return fmt.Sprintf("#%02x%02x%02x", 225+sum%30, 120+sum/31%90, 60+sum/2791%50)
}

var escaped = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace
