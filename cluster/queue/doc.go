// Copyright The Euryale Authors
// SPDX-License-Identifier: Apache-2.0

// Package queue deals the items of a manifest to workers on many machines, by NATS JetStream.
//
// A leader ([Lead]) finds the items that have no result in the store of the run, and publishes them a
// few at a time: each message is worth about half a second, by the time that items took so far. It
// embeds a NATS server, or uses one that is there. Workers ([Work]) fetch messages, do the items, write
// the results into the queue folder of the store, which they share with the leader, and only then
// acknowledge. The leader ends when every item has a result.
//
// The store says what is done, and the server only what somebody is at. A message whose worker died, or
// lost its connection, comes again after the leader's patience; what is done twice gives the same
// results and counts once. If leader and server end at any time, the next leader goes on.
//
// A message that came for the third time may have ended the processes that worked on it. Its items are
// done by processes of their own, and the list is cut into smaller ones until the item is found, which
// then has an error for a result.
package queue
