package proxy

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/go-chi/chi/v5"

	"github.com/tokenfare/tokenfare/proxy/wire"
)

const (
	modelListAge     = 5 * time.Minute  // how long an upstream's list is kept
	modelListPause   = 10 * time.Second // before a failed upstream is asked again
	modelListTimeout = 10 * time.Second // for the upstream to send it
	modelListSize    = 8 << 20          // bytes of it that are read
)

// emptyModelList is what an upstream without a list of its own is taken to answer.
var emptyModelList = []byte(`{"object":"list","data":[]}`)

// listModels lists the models this key may use: the upstreams' own lists filtered by what the configuration routes there and
// the key may call, and the names that only the configuration knows.
func (s *Server) listModels(w http.ResponseWriter, r *http.Request) error {
	s.begin("", r).writeBudgets(r.Context(), w.Header())
	list, err := s.modelsOf(r)
	if err != nil {
		return err
	}
	return writeJSON(w, list)
}

// getModel answers for one model what the list says of it.
func (s *Server) getModel(w http.ResponseWriter, r *http.Request) error {
	// SDKs escape the slashes in names such as meta-llama/Llama-3.
	name, err := url.PathUnescape(chi.URLParam(r, "*"))
	if err != nil {
		return notFound(w, r)
	}
	s.begin("", r).writeBudgets(r.Context(), w.Header())
	list, err := s.modelsOf(r)
	if err != nil {
		return err
	}
	entry, ok := wire.FindModel(list, name)
	if !ok {
		return &wire.Error{
			Status: http.StatusNotFound, Type: "invalid_request_error", Code: "model_not_found", Param: "model",
			Message: fmt.Sprintf("The model `%s` does not exist or your key does not have access to it.", shorten(name, 200)),
		}
	}
	return writeJSON(w, entry)
}

func writeJSON(w http.ResponseWriter, body []byte) error {
	w.Header().Set("Content-Type", "application/json")
	_, err := w.Write(body)
	return err
}

func (s *Server) modelsOf(r *http.Request) ([]byte, error) {
	id := identityOf(r)
	list := emptyModelList
	for _, u := range id.policy.upstreamsInOrder() {
		own, err := u.models.get(r.Context(), u)
		if err != nil {
			s.metrics.modelListFailed(u.Name)
			s.options.Log.Warn("model list", "upstream", u.Name, "error", err)
			own = emptyModelList
		}
		keep := func(name string) bool {
			return id.policy.servedBy(name, u) && id.caller.mayUse(name)
		}
		if list, err = wire.MergeModels(list, own, keep); err != nil {
			return nil, fmt.Errorf("merge model lists: %w", err)
		}
	}
	var configured []string
	for _, pool := range id.policy.pools {
		if !isGlob(pool.pattern) && id.caller.mayUse(pool.pattern) {
			configured = append(configured, pool.pattern)
		}
	}
	return wire.FilterModels(list, func(string) bool { return true }, configured)
}

// get returns the upstream's list, fetched at most once in modelListAge, and after a failure not again for modelListPause.
// While it is fetched, others wait for it.
func (m *modelList) get(ctx context.Context, u *upstreamEntry) ([]byte, error) {
	for {
		m.mu.Lock()
		if time.Now().Before(m.until) {
			defer m.mu.Unlock()
			return m.body, m.err
		}
		busy := m.busy
		if busy == nil {
			m.busy = make(chan struct{})
			m.mu.Unlock()
			return m.refresh(ctx, u)
		}
		m.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// refresh fetches the list for everybody who waits.
func (m *modelList) refresh(ctx context.Context, u *upstreamEntry) ([]byte, error) {
	// The list is everybody's: a caller who leaves must not spoil it for the others.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), modelListTimeout)
	defer cancel()
	body, err := fetchModels(ctx, u)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case err == nil:
		m.body, m.err, m.until = body, nil, time.Now().Add(modelListAge)
	case m.body != nil:
		m.until = time.Now().Add(modelListPause) // an old list is better than none
	default:
		m.err, m.until = err, time.Now().Add(modelListPause)
	}
	close(m.busy)
	m.busy = nil
	return m.body, m.err
}

func fetchModels(ctx context.Context, u *upstreamEntry) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, u.Endpoint("/models").String(), nil)
	if err != nil {
		return nil, err
	}
	r.Header = u.Header(nil, "")
	resp, err := u.RoundTrip(r)
	if err != nil {
		return nil, fmt.Errorf("upstream %s cannot be reached", u.Name) // the cause may hold its address
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("upstream %s answered %d", u.Name, resp.StatusCode)
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, modelListSize+1))
	if err != nil || len(body) > modelListSize {
		return nil, fmt.Errorf("upstream %s: its list is broken off or larger than %s", u.Name, sizeText(modelListSize))
	}
	if body, err = wire.RedactModels(body, u.Redact); err != nil {
		return nil, fmt.Errorf("upstream %s: %w", u.Name, err)
	}
	// Reading it once here keeps an upstream that answers with something else out of the cache.
	if _, err := wire.FilterModels(bytes.Clone(body), func(string) bool { return true }, nil); err != nil {
		return nil, fmt.Errorf("upstream %s: %w", u.Name, err)
	}
	return body, nil
}
