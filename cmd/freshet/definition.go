package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"freshet"
	"freshet/internal/web"
)

// workflowFlags are what a workflow is made of on the command line.
type workflowFlags struct {
	d       freshet.Definition
	kind    string
	batch   string
	first   string
	every   float64
	webhook []string
	queue   []string
	notify  []string
	command []string
	file    string
}

func (f *workflowFlags) add(cmd *cobra.Command) {
	flags, c := cmd.Flags(), &f.d.Trigger.Config
	flags.StringVar(&c.URL, "url", "", "address to watch")
	flags.StringVar(&f.d.Name, "name", "", "name; the address without one")
	flags.StringVar(&f.kind, "type", string(freshet.ContentRSS), "what the address gives: rss, atom, or http for any document")
	flags.Float64Var(&f.every, "every", 0, "minutes between polls, 5 or more (15)")
	flags.StringVar(&f.d.Filter, "filter", "", `condition over entries, such as 'title contains "Go"'`)
	flags.StringVar(&f.batch, "batch", "", "what makes an execution: poll (what a poll brings), item (each entry) or window (what comes within --window)")
	flags.Float64Var(&f.d.WindowMinutes, "window", 0, "minutes that --batch window gathers")
	flags.StringVar(&f.first, "first-poll", "", "all (what is there is new) or baseline (it is not)")
	flags.StringVar(&c.Selector, "selector", "", "CSS selector of what counts of a document, for --type http")
	flags.StringVar(&c.JSONPath, "json-path", "", "JSON path of what counts of a document, for --type http")
	flags.BoolVar(&f.d.Ordered, "ordered", false, "carry executions out one after the other")
	flags.StringArrayVar(&f.webhook, "webhook", nil, "address to POST to; may be repeated")
	flags.StringArrayVar(&f.queue, "queue", nil, "broker to publish to: nats://, sqs://, amqp:// or kafka://; may be repeated")
	flags.StringArrayVar(&f.notify, "notify", nil, "notification to send, such as ntfy://ntfy.sh/topic; may be repeated")
	flags.StringArrayVar(&f.command, "command", nil, "program and its arguments, each with a flag of its own")
	flags.StringVar(&f.file, "file", "", "definition as JSON (- for standard input) in place of the other flags")
}

// definition is what the flags say, or the file.
func (f *workflowFlags) definition(cmd *cobra.Command) (freshet.Definition, error) {
	if f.file != "" {
		return readDefinition(cmd, f.file)
	}
	d := f.d
	d.Enabled, d.Batch = true, freshet.Batch(f.batch)
	c := &d.Trigger.Config
	c.ContentType, c.FirstPoll, c.IntervalMinutes = freshet.ContentType(f.kind), freshet.FirstPoll(f.first), f.every
	if d.Name == "" {
		d.Name = c.URL
	}
	for _, given := range []struct {
		kind freshet.ActionType
		urls []string
	}{{freshet.Webhook, f.webhook}, {freshet.Queue, f.queue}, {freshet.Notify, f.notify}} {
		for _, u := range given.urls {
			d.Actions = append(d.Actions, freshet.Action{Type: given.kind, URL: u})
		}
	}
	if len(f.command) > 0 {
		d.Actions = append(d.Actions, freshet.Action{Type: freshet.Command, Command: f.command})
	}
	return d, nil
}

// maxDefinition bounds the file of a definition, as the API does.
const maxDefinition = 1 << 20

// readDefinition reads what the API would take: a definition, or a workflow as it is shown.
func readDefinition(cmd *cobra.Command, name string) (freshet.Definition, error) {
	in, err := openInput(cmd, name)
	if err != nil {
		return freshet.Definition{}, err
	}
	defer in.Close()
	if name == "-" {
		name = "standard input"
	}
	text, err := io.ReadAll(io.LimitReader(in, maxDefinition+1))
	if err == nil && len(text) > maxDefinition {
		err = errors.New("it is larger than 1 MiB")
	}
	var w web.WorkflowInput
	if err == nil {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.DisallowUnknownFields()
		err = wrongJSON(decoder.Decode(&w))
	}
	if err != nil {
		return freshet.Definition{}, fmt.Errorf("read %s: %w", name, err)
	}
	d := w.Definition
	d.Enabled = w.Enabled == nil || *w.Enabled
	return d, nil
}

// wrongJSON names the field that an error of the decoder is about.
func wrongJSON(err error) error {
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		_, field, _ := strings.Cut("."+wrong.Field, ".")
		return fmt.Errorf("%s cannot be of the type %s", cmp.Or(strings.TrimPrefix(field, "Workflow.Definition."), "the whole"), wrong.Value)
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errors.New("it is no whole JSON document")
	}
	if err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "json: "))
	}
	return nil
}

// definitionError writes the fields that cannot be used one below the other.
func definitionError(err error) error {
	fields, ok := errors.AsType[freshet.FieldErrors](err)
	if !ok {
		return err
	}
	lines := []string{"the workflow cannot be added:"}
	for i := range fields {
		lines = append(lines, "  "+fields[i].Error())
	}
	return errors.New(strings.Join(lines, "\n"))
}
