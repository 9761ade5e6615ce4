package flame

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"
)

var shop = []Stack{
	{[]string{"main", "loop", "recompute"}, 70},
	{[]string{"main", "loop"}, 20},
	{[]string{"main", "report"}, 10},
}

// Names that would end a line, an element, a string or a stack, or make kdebug hide what follows.
var hostile = []Stack{
	{[]string{"a;b\nc", "<script>alert(1)</script>", `say "x`, "it's", "\x1b[31mred\u202e", "-----BEGIN RSA PRIVATE KEY-----", "", "\xff\xfe", `back\slash`}, 5},
	{[]string{strings.Repeat("long", 100), "]]>", "password=hunter2222", "token: abc"}, 7},
}

func TestTop(t *testing.T) {
	want := []Hot{{"recompute", 70, 70}, {"loop", 20, 90}, {"report", 10, 10}}
	if got := Top(shop, 3); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	recursive := Top([]Stack{{[]string{"f", "g", "f"}, 3}, {[]string{"f"}, 1}}, 10)
	if want := []Hot{{"f", 4, 4}, {"g", 0, 3}}; !reflect.DeepEqual(recursive, want) {
		t.Errorf("a function that calls itself: got %v, want %v", recursive, want)
	}
	if got := Top(nil, 10); len(got) != 0 {
		t.Errorf("nothing has functions: %v", got)
	}
}

func TestFolded(t *testing.T) {
	if got, want := string(Folded(append(shop, shop[1]))), "main;loop 40\nmain;loop;recompute 70\nmain;report 10\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	lines := strings.Split(strings.TrimSuffix(string(Folded(hostile)), "\n"), "\n")
	if len(lines) != len(hostile) {
		t.Fatalf("%d lines of %d stacks: %q", len(lines), len(hostile), lines)
	}
	if got := strings.Count(lines[0], ";"); got != len(hostile[0].Frames)-1 {
		t.Errorf("%d separators in %q", got, lines[0])
	}
	if strings.Contains(string(Folded(hostile)), "---") {
		t.Error("a private key begins")
	}
}

func TestCleanBoundsDepth(t *testing.T) {
	deep := make([]string, 10*MaxDepth)
	for at := range deep {
		deep[at] = fmt.Sprint("f", at)
	}
	frames := Clean([]Stack{{deep, 1}})[0].Frames
	if len(frames) != MaxDepth+1 || frames[MaxDepth] != Deeper {
		t.Errorf("%d frames, the last %q", len(frames), frames[len(frames)-1])
	}
}

func TestSpeedscope(t *testing.T) {
	for _, stacks := range [][]Stack{shop, hostile, nil} {
		var file struct {
			Shared   struct{ Frames []struct{ Name string } }
			Profiles []struct {
				Type, Unit string
				EndValue   int64
				Samples    [][]int
				Weights    []int64
			}
		}
		if err := json.Unmarshal(Speedscope("a \"title\"", stacks, Samples), &file); err != nil {
			t.Fatal(err)
		}
		profile := file.Profiles[0]
		var back []Stack
		for at, sample := range profile.Samples {
			stack := Stack{Value: profile.Weights[at]}
			for _, index := range sample {
				stack.Frames = append(stack.Frames, strings.TrimSuffix(file.Shared.Frames[index].Name, " "))
			}
			back = append(back, stack)
		}
		if want := Clean(stacks); len(want) > 0 && !reflect.DeepEqual(back, want) {
			t.Errorf("got %v, want %v", back, want)
		}
		if profile.EndValue != Total(stacks) || profile.Type != "sampled" || profile.Unit != "none" {
			t.Errorf("%+v", profile)
		}
	}
}

func TestSVG(t *testing.T) {
	for _, stacks := range [][]Stack{shop, hostile, nil} {
		picture := SVG("price <loop>", "10 s", stacks, Samples)
		decoder := xml.NewDecoder(strings.NewReader(string(picture)))
		for {
			token, err := decoder.Token()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%v in\n%s", err, picture)
			}
			if element, ok := token.(xml.StartElement); ok {
				if !strings.Contains(" svg g title rect text ", " "+element.Name.Local+" ") {
					t.Errorf("an element %s", element.Name.Local)
				}
				for _, attribute := range element.Attr {
					if strings.HasPrefix(attribute.Name.Local, "on") || attribute.Name.Local == "href" {
						t.Errorf("an attribute %s", attribute.Name.Local)
					}
				}
			}
		}
	}
	picture := string(SVG("x", "y", shop, Nanoseconds))
	for _, part := range []string{"recompute\n0.00 s, 70.0 %", `width="825.6"`} {
		if !strings.Contains(picture, part) {
			t.Errorf("%q is not in\n%s", part, picture)
		}
	}
}

func TestSVGIsBounded(t *testing.T) {
	var many []Stack
	for at := range 30_000 {
		many = append(many, Stack{[]string{"main", fmt.Sprint("f", at), strings.Repeat("g", 300)}, 1})
	}
	if size := len(SVG("x", "y", many, Samples)); size > 16<<20 {
		t.Errorf("%d bytes", size)
	}
}

func TestFitting(t *testing.T) {
	for _, each := range []struct {
		name string
		room int
		want string
	}{
		{"com.example.shop.Shop.price", 40, "com.example.shop.Shop.price"}, {"com.example.shop.Shop.price", 11, "Shop.price"}, {"com.example.shop.Shop.price", 4, "pri…"},
		{"github.com/acme/shop.(*Shop).Price", 20, "shop.(*Shop).Price"}, {"recompute (app.py:23)", 12, "recompute (…"}, {"main", 2, ""},
	} {
		if got := fitting(each.name, float64(each.room)*fontWidth+6.5); got != each.want {
			t.Errorf("%s in %d characters: %q, not %q", each.name, each.room, got, each.want)
		}
	}
}

func TestALongNameInManyStacksTakesNoTime(t *testing.T) {
	name := strings.Repeat("x", 8<<20)
	stacks := make([]Stack, 500)
	for at := range stacks {
		stacks[at] = Stack{[]string{name, fmt.Sprint(at)}, 1}
	}
	began := time.Now()
	if all := Clean(stacks); len(all) != len(stacks) || len(all[0].Frames[0]) > maxName*4 {
		t.Errorf("%d stacks", len(all))
	}
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("it took %s", took)
	}
}
