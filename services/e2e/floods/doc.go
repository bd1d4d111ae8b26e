// Package floods holds the scenarios of one user who takes all that there is to have: through whichever pods, the user gets
// what one may have, and nobody else notices.
package floods
