// Package soak decides whether the servers may flip: a policy and figures in,
// gates and a verdict out. It owns the gates and their precedence, and the form
// of the figures they rest on. It refuses to read anything itself: it has no
// I/O, no clock and no log, and the as-of instant is an argument, so that a
// verdict can be recomputed for any day, from an evidence file alone.
//
// The definitions D1 to D20 that comments cite are those of docs/soak.md.
//
// # How figures are read
//
// A reader fills Figures in three steps, since later queries depend on what
// earlier ones found:
//
//  1. Registers, Kept, Heartbeats and Lateness. Untrusted then names the
//     instances whose clocks are not trusted.
//  2. Everything but Kinds, Tools and StrictHours. RunStarts then tells where each
//     server's current run begins.
//  3. Kinds, Tools and StrictHours, from those starts.
//
// What the reader used is kept in Bounds, and Judge recomputes it: figures read
// by other bounds than the policy demands are unknown, never evidence.
//
// Words used in the comments of the figures:
//
//   - window: event minute in [T - look_back, T), where T is AsOf.Minute; and, but for
//     the reading "all events", minute of arrival before T.
//   - production: environment, trimmed and in lower case, is "production".
//   - trusted: from an instance that Untrusted does not name, and with an event
//     minute at most clocks.ahead after the minute of arrival.
//   - on: option = 'on'. Undeclared counts as off (D2, R89).
//   - since the anchor: event minute at or after the anchor that the policy fixes
//     for the server; without one there is no such bound.
//   - once: each record id once, each call once, as the sealed rollups have it.
//
// A row's key are its text members; rows of the same key add up, and their order
// does not matter. A group that could not be read carries its error, a group
// without rows is read and empty.
package soak
