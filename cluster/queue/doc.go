// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package queue distributes the items of a manifest among workers on many machines, through NATS
// JetStream.
//
// A leader ([Lead]) finds the items that have no result in the store of the run, and publishes them a
// few at a time: each message holds about half a second of work, judging by the items finished so far.
// The leader embeds a NATS server or uses an existing one. Workers ([Work]) fetch messages, process the
// items, write the results into the queue folder of the store, which they share with the leader, and
// only then acknowledge the message. The leader ends when every item has a result.
//
// The store records what is finished; the server records only what is being worked on. If a worker dies
// or loses its connection, its message is delivered again once the leader's patience has run out. Items
// that are processed twice give the same results and count once. The leader and the server may stop at
// any time: the next leader continues from the store.
//
// A message that is delivered for the third time may have crashed the processes that worked on it. Its
// items are then processed in separate processes, and the list of items is split until the one that
// crashes is found. The result of that item is an error.
package queue
