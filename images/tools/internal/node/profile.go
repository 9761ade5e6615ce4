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
	// WasOpen is the address of an inspector that was open before; "" if there was none.
	WasOpen string
}

// patience is how long the inspector may take for everything but the profile itself: a process that is stopped never answers.
const patience = 30 * time.Second

// ProfileOf profiles a Node process for a time. Lack must be nil before. An inspector that was not open before is closed again, also
// when the context ends or something fails; ErrLeftOpen says that this was impossible. If we are killed meanwhile, the process closes it
// itself, as soon as its event loop turns.
func ProfileOf(ctx context.Context, t *target.Target, length time.Duration) (profile *Profile, err error) {
	ctx, cancel := context.WithTimeout(ctx, length+patience)
	defer cancel()
	opened, err := open(ctx, t)
	if err != nil {
		return nil, err
	}
	profile = &Profile{}
	if opened.wasOpen {
		profile.WasOpen = opened.address
	} else {
		defer func() {
			if left := closeAgain(t, opened); left != nil {
				err = errors.Join(err, left)
			}
		}()
	}
	session, err := opened.connect(ctx)
	if err != nil {
		return profile, err
	}
	defer session.connection.CloseNow()
	if !opened.wasOpen {
		// Should we be killed before we close it.
		after := (length + 30*time.Second).Milliseconds()
		if err := session.evaluate(ctx, fmt.Sprintf("void setTimeout(() => process._debugEnd(), %d).unref()", after), nil); err != nil {
			return profile, err
		}
	}
	_ = session.evaluate(ctx, "process.versions.node", &profile.Version)
	var kinds []string
	if session.evaluate(ctx, "process.getActiveResourcesInfo?.() ?? []", &kinds) == nil {
		profile.Waiting = map[string]int{}
		for _, kind := range kinds {
			profile.Waiting[kind]++
		}
	}
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
				return profile, ctx.Err()
			case <-time.After(length):
			}
			continue
		}
		if step.params == nil {
			step.params = struct{}{}
		}
		if err := session.call(ctx, step.method, step.params, step.result); err != nil {
			return profile, err
		}
	}
	profile.Raw = answer.Profile
	profile.Stacks, err = Parse(profile.Raw)
	return profile, err
}

// CPUProfile profiles the process with that number; see ProfileOf.
func CPUProfile(ctx context.Context, pid int, length time.Duration) ([]flame.Stack, []byte, error) {
	t, err := target.Of(pid)
	if err != nil {
		return nil, nil, err
	}
	profile, err := ProfileOf(ctx, t, length)
	if profile == nil {
		return nil, nil, err
	}
	return profile.Stacks, profile.Raw, err
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
			name = fmt.Sprintf("%s (%s:%d)", name, path.Base(strings.TrimPrefix(node.Call.URL, "file://")), node.Call.Line+1)
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
