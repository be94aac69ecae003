/**
 * Every bound of the service, with its unit in the name and its reason beside it (I8). Overload is refused quickly and
 * never queued.
 */
import { MINUTE_MS } from './clock.ts'

export const LIMITS = {
  /**
   * Commands that may wait for one actor. At 4 000 a second the actor of a hot balance processes them in a quarter of a
   * second.
   */
  mailboxMax: 1_024,
  /** Requests that may wait for their turn on one draft, contract or approval: more than the members of any customer. */
  turnsMax: 128,
  /** Commands that may wait in one lane, over all its actors: about two seconds of work. */
  laneBacklogMax: 8_192,
  /**
   * Commands in one commit. Throughput of the hot balance was 1.00 at 64, 1.31 at 128, 1.44 at 256 and 1.45 at 512
   * commands, while the commit's own latency doubles with each step.
   */
  commitCommandsMax: 256,
  /**
   * How often a command is decided again because its decision was stale, before its caller is told to try again later.
   */
  attemptsMax: 12,
  /**
   * Attempts of a request whose commands meet conflicts that it resolves itself. Another node that works off a queue on
   * the same contract wins more races than it loses: of 50 drawdowns on two nodes one lost twelve in a row.
   */
  conflictAttemptsMax: 64,
  /** Deadline of a request, milliseconds. A command that still waits then is dropped undecided. */
  requestDeadlineMs: 15_000,
  /** Actors kept in memory per node and kind; the least recently used are removed first (I2). */
  activationsMax: { balance: 50_000, payment: 20_000, exchange: 10_000, quote: 10_000, mandate: 20_000 },
  /** An actor that received no command for this long is removed from memory, milliseconds. */
  activationIdleMs: MINUTE_MS,
  /** Payments handed to the partner in one call. */
  partnerBatchMax: 256,
  /** Payments that a node keeps in memory on their way to the partner; more wait in Postgres only. */
  dispatchQueueMax: 10_000,
  /** Partner events processed in one batch. */
  partnerEventsMax: 512,
  /** Deadline of a webhook receiver's answer, milliseconds; documented to integrators. */
  webhookTimeoutMs: 10_000,
  /** Bytes of a receiver's answer that are read; the service uses nothing of the content. */
  webhookAnswerBytesMax: 64 * 1024,
  /**
   * Concurrent callbacks to one endpoint. Fewer while it fails, because the next callback will most likely hang as
   * well.
   */
  webhookInFlightMax: 10,
  webhookInFlightFailingMax: 2,
  /** Concurrent callbacks of one node: each uses a socket, of which a process has a few thousand. */
  webhookSocketsMax: 1_024,
  /**
   * Deliveries of one endpoint in memory; more wait in Postgres only. A fast receiver takes these within a quarter of a
   * second.
   */
  webhookClaimMax: 256,
  /**
   * Batches of at least this many callbacks are signed in a worker thread. One signature takes 7 µs; handing a batch
   * over and back keeps the event loop busy for some 20 µs and 1 µs for each callback, so 16 callbacks cost the event
   * loop a third of signing them there. In total processor time the worker thread never gains. The bench prints the
   * table (P8).
   */
  webhookSignBatchMin: 16,
  /** Webhook endpoints of one tenant. */
  webhookEndpointsMax: 10,
} as const
