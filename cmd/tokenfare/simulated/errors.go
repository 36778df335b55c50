package simulated

import (
	"fmt"
	"net/http"
)

// apiError is an error as OpenAI words it. Param and Code are null when empty.
type apiError struct {
	Status      int
	Message     string
	Param, Code string
}

var unauthorized = &apiError{
	Status: http.StatusUnauthorized,
	Message: "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth " +
		"(i.e. Authorization: Bearer YOUR_KEY).",
}

func invalidURL(method, path string) *apiError {
	return &apiError{Status: http.StatusNotFound, Message: fmt.Sprintf("Invalid URL (%s %s)", method, path)}
}

func modelNotFound(name string) *apiError {
	return &apiError{
		Status: http.StatusNotFound, Code: "model_not_found",
		Message: fmt.Sprintf("The model `%s` does not exist or you do not have access to it.", name),
	}
}

func badRequest(param, code, format string, args ...any) *apiError {
	return &apiError{Status: http.StatusBadRequest, Param: param, Code: code, Message: fmt.Sprintf(format, args...)}
}

func (e *apiError) write(w http.ResponseWriter) {
	type body struct {
		Message string  `json:"message"`
		Type    string  `json:"type"`
		Param   *string `json:"param"`
		Code    *string `json:"code"`
	}
	writeJSON(w, e.Status, map[string]body{
		"error": {Message: e.Message, Type: "invalid_request_error", Param: nullable(e.Param), Code: nullable(e.Code)},
	})
}

func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
