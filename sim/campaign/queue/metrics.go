package queue

import (
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"lockstep/sim/campaign/job"
)

// Metrics are the counts of a worker, for Prometheus. A nil Metrics counts nothing.
type Metrics struct {
	registry *prometheus.Registry
	jobs     *prometheus.CounterVec
	states   *prometheus.CounterVec
	answers  *prometheus.CounterVec
	seconds  prometheus.Histogram
	running  prometheus.Gauge
}

// NewMetrics makes the metrics of a worker.
func NewMetrics(v job.Version) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		jobs: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "lockstep_jobs_total",
			Help: "Jobs that this worker took from the queue, by what became of them."}, []string{"fate"}),
		states: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "lockstep_states_total",
			Help: "States that were searched, and random schedules that were played."}, []string{"of"}),
		answers: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "lockstep_violations_total",
			Help: "Jobs in which some schedule violates a code."}, []string{"code"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "lockstep_job_seconds",
			Help: "Time that a job took.", Buckets: prometheus.ExponentialBuckets(0.01, 4, 10)}),
		running: prometheus.NewGauge(prometheus.GaugeOpts{Name: "lockstep_jobs_running", Help: "Jobs that this worker is carrying out."}),
	}
	build := prometheus.NewGauge(prometheus.GaugeOpts{Name: "lockstep_build_info", Help: "Always 1.",
		ConstLabels: prometheus.Labels{"build": v.Build, "engine": v.Engine}})
	build.Set(1)
	m.registry.MustRegister(m.jobs, m.states, m.answers, m.seconds, m.running, build, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, fate := range []string{"done", "known", "handed back", "failed", "set aside"} {
		m.jobs.WithLabelValues(label(fate))
	}
	return m
}

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func label(fate string) string { return strings.ReplaceAll(fate, " ", "_") }

func (m *Metrics) count(fate string) {
	if m != nil {
		m.jobs.WithLabelValues(label(fate)).Inc()
	}
}

// begin counts a job as running until it is ended.
func (m *Metrics) begin() (end func(time.Duration)) {
	if m == nil {
		return func(time.Duration) {}
	}
	m.running.Inc()
	return func(took time.Duration) {
		m.running.Dec()
		m.seconds.Observe(took.Seconds())
	}
}

func (m *Metrics) done(o *job.Outcome) {
	if m == nil {
		return
	}
	of := "search"
	if o.Job.Random != nil {
		of = "random"
	}
	m.states.WithLabelValues(of).Add(float64(o.States))
	for _, code := range o.Violated() {
		m.answers.WithLabelValues(code).Inc()
	}
}
