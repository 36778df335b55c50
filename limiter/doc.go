// Package limiter counts what callers spend against budgets and says when a
// refused call could pass.
package limiter
