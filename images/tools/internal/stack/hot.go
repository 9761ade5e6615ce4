package stack

import "sort"

// Sample is one stack of a profile. Value is in samples or ticks: only its share counts.
type Sample struct {
	Frames []string
	Value  float64
}

// Frame is one frame, and its share of the samples between 0 and 1.
type Frame struct {
	Name  string
	Share float64
}

// Hottest are the innermost frames that took most of the time.
func Hottest(samples []Sample, most int) []Frame {
	sums, total := map[string]float64{}, 0.0
	for _, sample := range samples {
		if len(sample.Frames) > 0 && sample.Value > 0 {
			sums[sample.Frames[0]] += sample.Value
			total += sample.Value
		}
	}
	frames := make([]Frame, 0, len(sums))
	for name, sum := range sums {
		frames = append(frames, Frame{name, sum / total})
	}
	sort.Slice(frames, func(a, b int) bool {
		if frames[a].Share != frames[b].Share {
			return frames[a].Share > frames[b].Share
		}
		return frames[a].Name < frames[b].Name
	})
	return frames[:min(most, len(frames))]
}
