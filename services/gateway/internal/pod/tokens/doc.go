// Package tokens knows the tokens that users have made for their programs. They are kept by the orchestrators; a pod asks for each
// when it is shown, and believes the answer for [Fresh].
//
// A token that is revoked is refused
//
//   - at once, where the bus brings the word of it;
//   - after [Fresh] where it does not;
//   - on connections that are open with it: at once, or when the pod has asked again about all tokens that are in use, which it does
//     every [Fresh].
//
// A pod that cannot ask refuses tokens that it has not asked about lately, since they may have been revoked (503: it is not the
// token's fault). Connections that are open go on for [auth.Grace], and end then.
package tokens
