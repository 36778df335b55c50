package proxy

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

// find finds where the model's calls may go and whether this caller may make them.
func (x *exchange) find(request *wire.Request) error {
	x.model, x.stream, x.prompt = request.Model, request.Stream, request.PromptMember
	x.choices, x.least, x.asked = max(1, request.Cost.Choices), request.LeastLimit, request.IncludeUsage
	x.limited, x.discards, x.shortens = request.Cost.HasMaxOutput, request.Discards, request.Shortens
	pool := x.policy.pool(request.Model)
	if pool == nil || !x.caller.mayUse(request.Model) {
		return &wire.Error{
			Status: http.StatusNotFound, Type: "invalid_request_error", Code: "model_not_found", Param: "model",
			Message: "The model `" + request.Model + "` does not exist or key " + x.caller.name + " does not have access to it. " +
				"GET /v1/models lists the models this key may use.",
		}
	}
	x.routes = pool.order(x.caller.name, request.CacheKey, request.Model)
	return nil
}

// admitSomewhere reserves what the call costs at the first upstream that has room for it. The caller's own budgets decide for the
// upstream whose turn it is: where they refuse, no other is asked. Where what the call asks for has no price at an upstream, another may
// have one. Where all upstreams are short, the answer is that of the one that will have room first.
func (x *exchange) admitSomewhere(ctx context.Context, request *wire.Request) error {
	var told attempt
	var because error
	for {
		x.attempt = attempt{route: x.routes[0]}
		x.routes = x.routes[1:]
		err := x.admitAt(ctx, request)
		for tries := 0; errors.Is(err, errOvertaken); tries++ {
			if tries == mostOvertaken {
				err = locked()
				break
			}
			x.end(endedRefused)
			x.attempt = attempt{route: x.route}
			err = x.admitAt(ctx, request)
		}
		if err == nil {
			return nil
		}
		x.end(endedRefused) // it may hold something though it failed
		x.noteShort(err)
		_, notThere := errors.AsType[*elsewhereError](err)
		_, unpriced := errors.AsType[*unpricedError](err)
		if because == nil || x.refused == nil && !notThere && (!unpriced || told.refused == nil) || x.sooner(&told) {
			told, because = x.attempt, err
		}
		if len(x.routes) == 0 || !notThere && !unpriced && !x.refusedByUpstream() {
			x.attempt = told
			return because
		}
	}
}

// refusedByUpstream reports whether this attempt was refused by a limit of its upstream, and not of its caller.
func (x *exchange) refusedByUpstream() bool {
	return x.refused != nil && x.refused.budget.ofUpstream()
}

// sooner reports whether the refusal of this attempt tells of an earlier time than that of another.
func (x *exchange) sooner(other *attempt) bool {
	switch {
	case x.refused == nil:
		return false
	case other.refused == nil:
		return true
	default:
		return x.refused.room < other.refused.room
	}
}

// admitAt reserves what the call costs at the upstream of this attempt, and makes the body that it is to be sent.
func (x *exchange) admitAt(ctx context.Context, request *wire.Request) error {
	if err := x.resolve(request); err != nil {
		return err
	}
	request, err := x.claim(ctx, request)
	if err != nil {
		return err
	}
	if err := x.meter(ctx, request); err != nil {
		return err
	}
	if len(request.Refs) == 0 && x.tooLongHere(request) {
		return &elsewhereError{&wire.Error{
			Status: http.StatusBadRequest, Type: "invalid_request_error", Code: "context_length_exceeded", Param: x.prompt,
			Message: "The request is too long for the upstream " + x.route.upstream.Name + ".",
		}}
	}
	if err := x.reserve(ctx, request.Cost.HasMaxOutput || x.endpoint == wire.InputTokens); err != nil {
		if x.server.policy.Load() == x.policy && len(request.Refs) == 0 && (len(x.routes) == 0 || !x.refusedByUpstream()) { // what is stored may grow, and another upstream may take it
			x.server.memo.remember(x, request.Body())
		}
		return err
	}
	if err := x.countOther(ctx, request); err != nil {
		return err
	}
	if err := x.beginAdding(ctx); err != nil {
		return err
	}
	x.body.set(request.EditParts(x.edits(request)))
	return nil
}

// tooLongHere reports whether the model cannot hold the call at the upstream of this attempt, and can at another. Where none can, the
// provider is to say so.
func (x *exchange) tooLongHere(request *wire.Request) bool {
	needs := x.least
	if request.Cost.HasMaxOutput {
		needs = x.estimate.MaxOutput / x.choices
	}
	needs = addSaturating(x.estimate.Input, needs)
	holds := func(context int64) bool { return context == 0 || needs <= context }
	return !holds(x.facts.Context) && slices.ContainsFunc(x.policy.pool(x.model).routes, func(r *route) bool {
		return holds(r.facts(x.policy.catalog, x.model).Context)
	})
}
