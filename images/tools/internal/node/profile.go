package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"kdebug/tools/internal/flame"
	"kdebug/tools/internal/room"
	"kdebug/tools/internal/target"
)

// Profile is what the inspector told.
type Profile struct {
	// Version is Node's, as "20.20.2".
	Version string
	Stacks  []flame.Stack
	// Raw is the profile as DevTools and speedscope read it (.cpuprofile).
	Raw []byte
	// Waiting counts what keeps the event loop alive, as "TCPServerWrap".
	Waiting map[string]int
	// Heap is how full V8's heap is; zero where it does not say.
	Heap Heap
	// Collecting is the share of the time that the collector took, between 0 and 1.
	Collecting float64
	// WasOpen is the address of an inspector that was open before; "" if there was none.
	WasOpen string
}

// patience is how long the inspector may take for everything but the profile itself: a process that is stopped never answers.
const patience = 30 * time.Second

// ProfileOf profiles a Node process for a time. Lack must be nil before. An inspector that was not open before is closed again, also
// when the context ends or something fails; ErrLeftOpen says that this was impossible. If we are killed meanwhile, the process closes it
// itself, as soon as its event loop turns after the time that is announced. Fails with *ErrNoRoom where the profiler may need more memory than the
// process has; what the profile says of the heap and its collector holds then.
func ProfileOf(ctx context.Context, t *target.Target, length time.Duration) (profile *Profile, err error) {
	if lack := room.Lack(t, "V8's profiler"); lack != nil {
		return nil, &ErrNoRoom{lack.Lacks}
	}
	until := time.Now().Add(length + patience)
	ctx, cancel := context.WithDeadline(ctx, until)
	defer cancel()
	opened, err := open(ctx, t)
	if err != nil {
		return nil, err
	}
	profile, look := &Profile{}, lookID()
	if !opened.wasOpen {
		announce(t.PID, until)
	}
	defer func() {
		if opened.wasOpen {
			return
		}
		if left := closeAgain(t, opened, look); left != nil {
			err = errors.Join(err, left)
		}
	}()
	session, err := opened.connect(ctx)
	if err != nil {
		if opened.wasOpen {
			profile.WasOpen = opened.address
		}
		return profile, err
	}
	defer session.connection.CloseNow()
	if opened.wasOpen && session.isGuarded(ctx) {
		// Another look opened it, and it may have been killed.
		opened.wasOpen = false
		announce(t.PID, until)
	}
	if opened.wasOpen {
		profile.WasOpen = opened.address
	} else if err := session.enter(ctx, look, until); err != nil {
		return profile, err
	}
	_ = session.evaluate(ctx, "process.versions.node", &profile.Version)
	var kinds []string
	if session.evaluate(ctx, "process.getActiveResourcesInfo?.() ?? []", &kinds) == nil {
		profile.Waiting = map[string]int{}
		for _, kind := range kinds {
			profile.Waiting[kind]++
		}
	}
	if err := session.lookAtHeap(ctx, profile, length); err != nil {
		return profile, err
	}
	if profile.Raw, err = session.profile(ctx, length); err != nil {
		return profile, err
	}
	if profile.Stacks, err = Parse(profile.Raw); err == nil {
		profile.Collecting = profile.Share("(garbage collector)")
	}
	return profile, err
}

// profile lets V8 take a CPU profile.
func (s *session) profile(ctx context.Context, length time.Duration) (json.RawMessage, error) {
	var answer struct {
		Profile json.RawMessage `json:"profile"`
	}
	for _, step := range []struct {
		method string
		params any
		result any
	}{
		{"Profiler.enable", nil, nil},
		{"Profiler.setSamplingInterval", map[string]any{"interval": 1000}, nil},
		{"Profiler.start", nil, nil},
		{"", nil, nil},
		{"Profiler.stop", nil, &answer},
		{"Profiler.disable", nil, nil},
	} {
		if step.method == "" {
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(length):
			}
			continue
		}
		if step.params == nil {
			step.params = struct{}{}
		}
		if err := s.call(ctx, step.method, step.params, step.result); err != nil {
			return nil, err
		}
	}
	return answer.Profile, nil
}

// fileOf is the last part of a script's address, with the package where it is one's: "node_modules/express/lib/router.js", and "node:net" for
// Node's own.
func fileOf(url string) string {
	if strings.HasPrefix(url, "node:") {
		return url
	}
	if at := strings.LastIndex(url, "node_modules/"); at >= 0 {
		return url[at:]
	}
	return path.Base(strings.TrimPrefix(url, "file://"))
}

// Own is the innermost frame of the program's own code, of frames as Parse names them with the innermost first; "" where all are Node's or a
// package's.
func Own(frames []string) string {
	for _, frame := range frames {
		at := strings.LastIndexByte(frame, '(')
		if at > 0 && !strings.HasPrefix(frame[at+1:], "node:") && !strings.HasPrefix(frame[at+1:], "node_modules/") {
			return frame
		}
	}
	return ""
}

// Parse makes stacks of a .cpuprofile, root first; values are microseconds.
func Parse(raw []byte) ([]flame.Stack, error) {
	var profile struct {
		Nodes []struct {
			ID   int `json:"id"`
			Call struct {
				Name string `json:"functionName"`
				URL  string `json:"url"`
				Line int    `json:"lineNumber"`
			} `json:"callFrame"`
			Children []int `json:"children"`
		} `json:"nodes"`
		Samples []int   `json:"samples"`
		Deltas  []int64 `json:"timeDeltas"`
	}
	if err := json.Unmarshal(raw, &profile); err != nil {
		return nil, err
	}
	names, parents := map[int]string{}, map[int]int{}
	for _, node := range profile.Nodes {
		name := node.Call.Name
		if name == "" {
			name = "(anonymous)"
		}
		if node.Call.URL != "" {
			name = fmt.Sprintf("%s (%s:%d)", name, fileOf(node.Call.URL), node.Call.Line+1)
		}
		names[node.ID] = name
		for _, child := range node.Children {
			parents[child] = node.ID
		}
	}
	spent := map[int]int64{}
	for index, id := range profile.Samples {
		// A delta is the time before its sample: what follows it belongs to it.
		if index+1 < len(profile.Deltas) && profile.Deltas[index+1] > 0 {
			spent[id] += profile.Deltas[index+1]
		}
	}
	var stacks []flame.Stack
	total := 0
	for _, node := range profile.Nodes {
		value := spent[node.ID]
		if value == 0 || names[node.ID] == "(root)" {
			continue
		}
		var frames []string
		for id, depth := node.ID, 0; id != 0 && depth < 1000; id, depth = parents[id], depth+1 {
			if names[id] != "(root)" {
				frames = append(frames, names[id])
			}
		}
		slices.Reverse(frames)
		if total += len(frames); total > flame.MaxFrames {
			return nil, flame.ErrTooLarge
		}
		stacks = append(stacks, flame.Stack{Frames: frames, Value: value})
	}
	return stacks, nil
}

// Share is the share of the time, between 0 and 1, that the main thread spent in a frame and what it called.
func (p *Profile) Share(frame string) float64 {
	in := int64(0)
	for _, stack := range p.Stacks {
		if slices.Contains(stack.Frames, frame) {
			in += stack.Value
		}
	}
	return float64(in) / float64(max(flame.Total(p.Stacks), 1))
}
