package reconcile

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
)

// metric is a metric of an answer of Azure Monitor, as `az monitor metrics list` prints it: the response of "Metrics -
// List" of its REST API. The names of metrics and dimensions are in "Supported metrics for
// Microsoft.CognitiveServices/accounts" at learn.microsoft.com.
type metric struct {
	Name   metricName `json:"name"`
	Series []struct {
		Dimensions []struct {
			Name  metricName `json:"name"`
			Value string     `json:"value"`
		} `json:"metadatavalues"`
		Data []struct {
			At    string `json:"timeStamp"`
			Total number `json:"total"`
		} `json:"data"`
	} `json:"timeseries"`
}

type metricName struct {
	Value string `json:"value"`
}

// metricFigures are the metrics that are compared: those of Azure OpenAI, and those of all models of Foundry.
var metricFigures = map[string]Figures{
	"AzureOpenAIRequests": Requests, "ProcessedPromptTokens": Input, "GeneratedTokens": Output,
	"ModelRequests": Requests, "InputTokens": Input, "OutputTokens": Output,
}

// intervals are how long a point of an answer is, as the API and as the command line write it.
var intervals = map[string]time.Duration{
	"P1D": 24 * time.Hour, "PT24H": 24 * time.Hour, "1 day, 0:00:00": 24 * time.Hour,
	"PT12H": 12 * time.Hour, "12:00:00": 12 * time.Hour, "PT6H": 6 * time.Hour, "6:00:00": 6 * time.Hour,
	"PT1H": time.Hour, "1:00:00": time.Hour, "PT30M": 30 * time.Minute, "0:30:00": 30 * time.Minute,
	"PT15M": 15 * time.Minute, "0:15:00": 15 * time.Minute, "PT5M": 5 * time.Minute, "0:05:00": 5 * time.Minute,
	"PT1M": time.Minute, "0:01:00": time.Minute,
}

// point is one value of a metric.
type point struct {
	metric, model string
	at            time.Time
	total         int64
}

// metrics reads the metrics of an answer of Azure Monitor. In a row of a table the same member may be a number.
func (d *document) metrics(o *object) error {
	token, err := d.decoder.Token()
	if err != nil || token != json.Delim('[') {
		if token == json.Delim('{') {
			err = errors.New(`"value" is not an array: give the answer of Azure Monitor as it came`)
		}
		return err
	}
	o.monitor = true
	for n := 1; d.decoder.More(); n++ {
		d.limited.left = maxElement
		if err := d.reader.count(); err != nil {
			return err
		}
		var m metric
		if err := d.decoder.Decode(&m); err != nil {
			return fmt.Errorf("metric %d: %w", n, err)
		}
		if err := d.points(o, &m); err != nil {
			return fmt.Errorf("metric %.60q: %w", m.Name.Value, err)
		}
	}
	return d.close()
}

// points takes the values of a metric.
func (d *document) points(o *object, m *metric) error {
	if metricFigures[m.Name.Value] == 0 {
		d.reader.note("metric %.60q is not compared", m.Name.Value)
		return nil
	}
	for _, series := range m.Series {
		model := ""
		for _, dimension := range series.Dimensions {
			switch name := dimension.Name.Value; {
			case strings.EqualFold(name, "ModelDeploymentName"):
				model = dimension.Value // this is what calls name
			case strings.EqualFold(name, "ModelName") && model == "":
				model = dimension.Value
			}
		}
		for _, p := range series.Data {
			at, err := parseInstant(p.At)
			if err != nil {
				return fmt.Errorf("timeStamp: %w", err)
			}
			value := point{metric: m.Name.Value, model: model, at: at}
			if p.Total != "" {
				if value.total, err = parseCount(string(p.Total)); err != nil {
					return fmt.Errorf("total: %w", err)
				}
			}
			if model == "" && value.total > 0 {
				return errors.New(`it is not by model: ask with --filter "ModelDeploymentName eq '*'"`)
			}
			if err := d.reader.count(); err != nil {
				return err
			}
			o.points = append(o.points, value)
		}
	}
	return nil
}

// azure takes an answer of Azure Monitor.
func (d *document) azure(o *object) error {
	width := intervals[o.member("interval")]
	if width == 0 {
		return fmt.Errorf("interval %.40q is not known here: ask with --interval P1D", o.member("interval"))
	}
	for _, p := range o.points {
		to := p.at.Add(width)
		if err := d.reader.cover(p.metric, p.at, to); err != nil {
			return fmt.Errorf("the value of %s: %w", p.at.Format(time.RFC3339), err)
		}
		if p.model == "" {
			continue // nothing was used, so there is no model
		}
		figure := metricFigures[p.metric]
		w := row{kind: p.metric, from: p.at, to: to, day: Day{Model: p.model, Known: figure}}
		switch figure {
		case Requests:
			w.day.Requests = p.total
		case Input:
			w.day.Input = p.total
		default:
			w.day.Output = p.total
		}
		if err := d.reader.add(&w); err != nil {
			return fmt.Errorf("%s: %w", p.metric, err)
		}
	}
	return nil
}
