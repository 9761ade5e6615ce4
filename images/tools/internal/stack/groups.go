package stack

import (
	"fmt"
	"sort"
	"strings"

	"kdebug/tools/internal/thread"
)

// Group is threads that are at the same place.
type Group struct {
	// Class and Does are what they do, as Classify and Does say it.
	Class  thread.Class
	Does   string
	Own    string
	Frames []string
	Names  []string
	// Minutes that the longest has waited.
	Minutes int
}

// Groups puts threads that do the same at the same place together, the largest group first.
func Groups(threads []Thread) []Group {
	found, order := map[string]*Group{}, []string{}
	for _, each := range threads {
		does := Does(each)
		key := does + "\n" + strings.Join(each.Frames, "\n")
		group := found[key]
		if group == nil {
			group = &Group{Class: Classify(each), Does: does, Own: each.Own, Frames: each.Frames}
			found[key] = group
			order = append(order, key)
		}
		group.Names = append(group.Names, each.Name)
		group.Minutes = max(group.Minutes, each.Minutes)
	}
	groups := make([]Group, 0, len(found))
	for _, key := range order {
		groups = append(groups, *found[key])
	}
	sort.SliceStable(groups, func(a, b int) bool { return len(groups[a].Names) > len(groups[b].Names) })
	return groups
}

// Summary says how many threads do what, as "12 idle, 3 reading from 10.1.2.3:5432", the most first.
func Summary(threads []Thread) string {
	const most = 5
	counts := map[string]int{}
	for _, thread := range threads {
		counts[Does(thread)]++
	}
	does := make([]string, 0, len(counts))
	for each := range counts {
		does = append(does, each)
	}
	sort.Slice(does, func(a, b int) bool {
		if counts[does[a]] != counts[does[b]] {
			return counts[does[a]] > counts[does[b]]
		}
		return does[a] < does[b]
	})
	words, rest := []string{}, 0
	for index, each := range does {
		if index < most || len(does) == most+1 {
			words = append(words, fmt.Sprintf("%d %s", counts[each], each))
		} else {
			rest += counts[each]
		}
	}
	if rest > 0 {
		words = append(words, fmt.Sprintf("%d other", rest))
	}
	return strings.Join(words, ", ")
}
