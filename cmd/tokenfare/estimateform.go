package main

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"os"
	"path/filepath"
	"strings"
)

// formFields are the fields of a form, as the command line gives them: NAME=VALUE or NAME=@FILE.
type formFields []string

// String is what the flag package prints as the default.
func (f *formFields) String() string { return "" }

// Set adds a field.
func (f *formFields) Set(field string) error {
	if name, _, ok := strings.Cut(field, "="); !ok || name == "" {
		return fmt.Errorf("%q is no field: write NAME=VALUE or NAME=@FILE", field)
	}
	*f = append(*f, field)
	return nil
}

// encode makes a form of the fields, as a client would send it.
func (f *formFields) encode() (body []byte, contentType string, err error) {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, field := range *f {
		name, value, _ := strings.Cut(field, "=")
		if file, ok := strings.CutPrefix(value, "@"); ok {
			err = addFile(w, name, file)
		} else {
			err = w.WriteField(name, value)
		}
		if err != nil {
			return nil, "", err
		}
	}
	if err := w.Close(); err != nil {
		return nil, "", err
	}
	return b.Bytes(), w.FormDataContentType(), nil
}

func addFile(w *multipart.Writer, name, file string) error {
	content, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	part, err := w.CreateFormFile(name, filepath.Base(file))
	if err != nil {
		return err
	}
	_, err = part.Write(content)
	return err
}
