package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"

	"github.com/tokenfare/tokenfare/cost/ledger"
)

// mostCorrectionBody is how large a request for corrections may be: a thousand of them, with room.
const mostCorrectionBody = 1 << 20

// protect is guard for what changes something: without a token nobody may, for any program of this machine could.
func protect(token string, next http.Handler) http.Handler {
	if token != "" {
		return guard(token, next)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		writeAdminError(w, http.StatusForbidden, "admin_token_missing",
			"This changes what is charged, and without a token any program that reaches this address could do it: "+
				"set admin.token in the configuration, as in admin: { token: \"${ADMIN_TOKEN}\" }, and restart the proxy.")
	})
}

// postCorrections makes the corrections that a request asks for, all of them or none.
func (a *app) postCorrections(w http.ResponseWriter, r *http.Request) {
	if a.books == nil {
		writeAdminError(w, http.StatusConflict, "no_ledger", "This proxy keeps no ledger: its configuration says `ledger: none`.")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostCorrectionBody))
	if err != nil {
		writeUnread(w, err)
		return
	}
	asked, err := readCorrections(body)
	if err != nil {
		writeAdminError(w, http.StatusBadRequest, "invalid_json", "The request is not what this takes: "+err.Error())
		return
	}
	made, err := a.corrects.correct(r.Context(), asked)
	if err != nil {
		status, code := correctionStatus(err)
		if status >= http.StatusInternalServerError {
			a.log.Error("correct ledger", "error", err)
		}
		writeAdminError(w, status, code, err.Error())
		return
	}
	if len(made.Corrected) > 0 {
		a.log.Info("ledger corrected", "calls", len(made.Corrected), "cost_change", made.change().String(), "reason", asked.Reason)
	}
	writeAdmin(w, http.StatusOK, made)
}

// readCorrections reads the body of a request for corrections. What it asks for is not judged.
func readCorrections(body []byte) (asked corrections, err error) {
	err = decodeOne(body, &asked)
	return asked, err
}

// decodeOne reads a text that is one JSON object without members that are not known, and nothing behind it.
func decodeOne(text []byte, into any) error {
	in := json.NewDecoder(bytes.NewReader(text))
	in.DisallowUnknownFields()
	if err := in.Decode(into); err != nil {
		return err
	}
	if _, more := in.Token(); !errors.Is(more, io.EOF) {
		return errors.New("there is something after the JSON object")
	}
	return nil
}

// writeUnread says why a request could not be read. What the system says of that names addresses, and stays here.
func writeUnread(w http.ResponseWriter, err error) {
	tooLarge, ok := errors.AsType[*http.MaxBytesError](err)
	switch {
	case ok:
		writeAdminError(w, http.StatusRequestEntityTooLarge, "too_large", fmt.Sprintf("The request is larger than %d bytes: make fewer corrections at once.", tooLarge.Limit))
	case errors.Is(err, os.ErrDeadlineExceeded):
		writeAdminError(w, http.StatusRequestTimeout, "request_timeout", "The request did not arrive in time: it may take as long as timeouts.request_header. Nothing was corrected.")
	default:
		writeAdminError(w, http.StatusBadRequest, "request_incomplete", "The request broke off before its end: send as much as its Content-Length says. Nothing was corrected.")
	}
}

// correctionStatus says an error in HTTP's terms.
func correctionStatus(err error) (status int, code string) {
	switch {
	case errors.Is(err, errRevision):
		return http.StatusBadRequest, "invalid_correction"
	case errors.Is(err, errNoCall):
		return http.StatusNotFound, "no_such_call"
	case errors.Is(err, ledger.ErrNotEnded):
		return http.StatusConflict, "not_ended"
	case errors.Is(err, errConflict):
		return http.StatusConflict, "changed_meanwhile"
	case errors.Is(err, ledger.ErrUnavailable), errors.Is(err, errUnsure):
		return http.StatusServiceUnavailable, "ledger_unavailable"
	default:
		return http.StatusInternalServerError, "internal_error"
	}
}
