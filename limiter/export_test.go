package limiter

import "time"

// Skip makes the limiter's clock jump ahead.
func (m *Memory) Skip(d time.Duration) { m.base = m.base.Add(-d) }
