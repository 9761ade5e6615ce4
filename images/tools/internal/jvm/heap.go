package jvm

import (
	"fmt"
	"regexp"
	"strconv"
)

const oldGeneration = "old generation"

// Heap is what a heap holds of what it may hold at most, in bytes: the old generation where the collector has one.
type Heap struct {
	// Name is "old generation" or "heap".
	Name      string
	Used, Max int64
}

var (
	old        = regexp.MustCompile(`(?m)^\s*(?:tenured generation|Tenured|ParOldGen|PSOldGen|concurrent mark-sweep generation)\s+total (\d{1,15})K, used (\d{1,15})K \[0x([0-9a-f]{1,16}), ?0x[0-9a-f]{1,16}, ?0x([0-9a-f]{1,16})\)`)
	g1         = regexp.MustCompile(`(?m)^\s*garbage-first heap\s+total (?:reserved )?(\d{1,15})K,.* used (\d{1,15})K \[0x([0-9a-f]{1,16}), ?(?:0x[0-9a-f]{1,16}, ?)?0x([0-9a-f]{1,16})\)`)
	g1Young    = regexp.MustCompile(`, \d{1,9} young \((\d{1,15})K\)`)
	zgc        = regexp.MustCompile(`(?m)^\s*ZHeap\s+used (\d{1,9})M,.* max capacity (\d{1,9})M`)
	shenandoah = regexp.MustCompile(`(?m)^\s*(\d{1,15})K max,.* (\d{1,15})K used`)
)

// ParseHeap reads an answer to GC.heap_info of the collectors Serial, Parallel, CMS, G1, ZGC and Shenandoah. False for any other text.
func ParseHeap(text string) (Heap, bool) {
	heap := Heap{Name: "heap"}
	if found := old.FindStringSubmatch(text); found != nil {
		heap = Heap{oldGeneration, 1024 * number(found[2], 10), number(found[4], 16) - number(found[3], 16)}
	} else if found := g1.FindStringSubmatch(text); found != nil {
		heap.Used, heap.Max = 1024*number(found[2], 10), number(found[4], 16)-number(found[3], 16)
		if young := g1Young.FindStringSubmatch(text); young != nil {
			heap.Name, heap.Used = oldGeneration, max(0, heap.Used-1024*number(young[1], 10))
		}
	} else if found := zgc.FindStringSubmatch(text); found != nil {
		heap.Used, heap.Max = number(found[1], 10)<<20, number(found[2], 10)<<20
	} else if found := shenandoah.FindStringSubmatch(text); found != nil {
		heap.Used, heap.Max = 1024*number(found[2], 10), 1024*number(found[1], 10)
	}
	return heap, heap.Max > 0
}

func number(text string, base int) int64 {
	value, _ := strconv.ParseInt(text, base, 64)
	return value
}

// Words are "old generation 99 % of 30 MiB".
func (h Heap) Words() string {
	return fmt.Sprintf("%s %.0f %% of %.0f MiB", h.Name, h.Percent(), float64(h.Max)/(1<<20))
}

// Percent is how full it is.
func (h Heap) Percent() float64 { return 100 * float64(h.Used) / float64(max(h.Max, 1)) }

// IsOld is whether it is the old generation, which holds what a collection could not free; other numbers include garbage.
func (h Heap) IsOld() bool { return h.Name == oldGeneration }
