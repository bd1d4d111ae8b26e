// Package timeline keeps what a load met, second by second and part by part. A part is the time of one fault; the time
// outside of all of them is part 0. A call belongs to the first fault whose time it overlaps (but to the next one if it began in the last half second of that time): to the one that it was in
// flight at, and not to the next one, into which it may have hung.
package timeline
