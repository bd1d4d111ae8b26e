package store

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// measured is a database whose transactions are measured.
type measured struct {
	database
	reads, writes meter
}

// meter measures one kind of transaction.
type meter struct {
	seconds prometheus.Observer
	errors  prometheus.Counter
}

func measure(db database, reg prometheus.Registerer) database {
	if reg == nil {
		return db
	}
	seconds := prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "hecaton_agent_storage_duration_seconds", Help: "Duration of transactions with the database, by operation: read or write.",
		Buckets: prometheus.ExponentialBuckets(0.00025, 2, 16), // 0.25 ms to 8 s; an attempt is given up after 5 s
	}, []string{"operation"})
	failed := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "hecaton_agent_storage_errors_total", Help: "Transactions with the database that failed, by operation: read or write.",
	}, []string{"operation"})
	reg.MustRegister(seconds, failed)
	of := func(operation string) meter {
		return meter{seconds.WithLabelValues(operation), failed.WithLabelValues(operation)}
	}
	return &measured{database: db, reads: of("read"), writes: of("write")}
}

func (m *measured) read(ctx context.Context, queries []statement) error {
	began := time.Now()
	err := m.database.read(ctx, queries)
	m.reads.seen(began, err)
	return err
}

func (m *measured) write(ctx context.Context, statements []statement) error {
	began := time.Now()
	err := m.database.write(ctx, statements)
	m.writes.seen(began, err)
	return err
}

// seen leaves out the errors that are answers of a healthy database: the row to change was not found, the key exists, the
// caller has given up.
func (m *meter) seen(began time.Time, err error) {
	m.seconds.Observe(time.Since(began).Seconds())
	if err != nil && !errors.Is(err, errUnmet) && !errors.Is(err, errTaken) && !errors.Is(err, context.Canceled) {
		m.errors.Inc()
	}
}
