package pgserver

// Newest is for tests of what machines may have.
var Newest = newest
