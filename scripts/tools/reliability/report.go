package main

// report is what the tables need of the report of a bench.
type report struct {
	Passed bool    `json:"passed"`
	Took   float64 `json:"took_seconds"`
	Load   struct {
		Nodes   int     `json:"nodes"`
		Callers int     `json:"callers"`
		Rate    float64 `json:"rate"`
		Runs    int     `json:"runs"`
	} `json:"load"`
	Ledger balance  `json:"ledger"`
	Steps  *balance `json:"steps"`
	Calm   *fault   `json:"calm"`
	Faults []fault  `json:"faults"`
}

// balance is a reconciled ledger.
type balance struct {
	Sent            int            `json:"sent"`
	Answered        int            `json:"answered"`
	NotDelivered    int            `json:"not_delivered"`
	Unknown         int            `json:"unknown"`
	UnknownExecuted int            `json:"unknown_executed"`
	Executed        int            `json:"executed"`
	Faults          map[string]int `json:"faults"`
}

type fault struct {
	Name       string  `json:"name"`
	Lossless   bool    `json:"lossless"`
	OfRunsToo  bool    `json:"lossless_runs"`
	Calls      calls   `json:"calls"`
	Twice      int     `json:"executed_twice"`
	StepsTwice int     `json:"run_steps_executed_twice"`
	Trouble    float64 `json:"answered_again_after_seconds"`
	Recover    float64 `json:"recover_seconds"`
	Runs       *runs   `json:"runs"`
}

type calls struct {
	Ended        int            `json:"ended"`
	Answered     int            `json:"answered"`
	NotDelivered int            `json:"not_delivered"`
	Retried      int            `json:"retried"`
	Refusals     map[string]int `json:"refused_attempts"`
	GivenUp      map[string]int `json:"given_up"`
	Unknowns     map[string]int `json:"unknowns"`
	Latency      map[string]struct {
		P99 float64 `json:"p99_seconds"`
		Max float64 `json:"max_seconds"`
	} `json:"latency"`
}

type runs struct {
	Ended    int            `json:"ended"`
	Finishes map[string]int `json:"finishes"`
	Steps    map[string]int `json:"steps"`
	Resumed  int            `json:"resumed_streams"`
	Took     struct {
		Max float64 `json:"max_seconds"`
	} `json:"took"`
}
