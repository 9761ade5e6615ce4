package run

import (
	"context"
	"time"
)

// Pause waits for so long, or until the context ends, whose error it then gives.
func Pause(ctx context.Context, length time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(length):
		return nil
	}
}
