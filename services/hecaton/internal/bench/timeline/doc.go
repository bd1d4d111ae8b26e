// Package timeline records a load second by second and part by part. A part is the time of one fault; the time outside of
// all faults is part 0. A call belongs to the first fault whose time it overlaps, since that one may have delayed it; but a
// call that began in the last half second of that fault's time belongs to the next one.
package timeline
