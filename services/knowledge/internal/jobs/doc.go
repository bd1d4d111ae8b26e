// Package jobs processes documents: reads, cuts, embeds and indexes them, several at once in each pod.
//
// A worker claims a document in the store and renews its claim while it works. It changes the index in one transaction at the end, so
// it may die anywhere: another worker begins the document anew once the claim has ended. A document at which three workers have died
// is not begun again.
//
// A document fails by what is wrong with itself, or with the embeddings for good. While the embeddings are away, slow or rate-limited
// it waits, and says so, for some minutes.
package jobs
