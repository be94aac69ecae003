/**
 * Every bound of the service, with its unit in the name and its reason beside it (I8). Overload is answered, never queued.
 */
export const LIMITS = {
  /** Commands that may wait for one actor. At 4 000 a second a hot balance drains this in a quarter of a second. */
  mailboxMax: 1_024,
  /** Decisions that may wait for one approval: more people than a customer has. */
  approvalMailboxMax: 128,
  /** Commands that may wait in one lane over all its actors: about two seconds of work. */
  laneBacklogMax: 8_192,
  /**
   * Commands in one commit. Throughput of the hot balance was 1.00 at 64, 1.31 at 128, 1.44 at 256 and 1.45 at 512
   * commands, while the commit's own latency doubles with each step.
   */
  commitCommandsMax: 256,
  /** How often a command is decided again because its decision was stale, before its caller is told to come back. */
  attemptsMax: 12,
  /** A request is answered within this, milliseconds; a command still waiting then is dropped, undecided. */
  requestDeadlineMs: 15_000,
  /** Actors kept in memory per node and kind; the least recently used are forgotten first (I2). */
  activationsMax: { balance: 50_000, payment: 20_000, exchange: 10_000, quote: 10_000 },
  /** An actor that nobody asked for this long is forgotten, milliseconds. */
  activationIdleMs: 60_000,
  /** Payments handed to the partner in one call. */
  partnerBatchMax: 256,
  /** Payments a node keeps in memory on their way to the partner; more wait in Postgres alone. */
  dispatchQueueMax: 10_000,
  /** Partner events taken in one go. */
  partnerEventsMax: 512,
  /** A receiver answers within this, milliseconds: what integrators are told. */
  webhookTimeoutMs: 10_000,
  /** Of a receiver's answer this much is read; nothing in it is needed. */
  webhookAnswerBytesMax: 64 * 1024,
  /** Callbacks under way to one endpoint; and while it fails, because the next one will most likely hang as well. */
  webhookInFlightMax: 10,
  webhookInFlightFailingMax: 2,
  /** Callbacks under way on one node: sockets, of which a process has a few thousand. */
  webhookSocketsMax: 1_024,
  /** Deliveries of one endpoint in memory; more wait in Postgres alone. A fast receiver takes these within a quarter of a second. */
  webhookClaimMax: 256,
  /**
   * From this many on signatures are made in a thread. One takes 7 µs; handing a batch over and back keeps the event loop
   * busy for some 20 µs and 1 µs a callback, so 16 take a third of what they take here. The processors together never gain.
   * The bench prints the table (P8).
   */
  webhookSignBatchMin: 16,
  /** Endpoints of one tenant. */
  webhookEndpointsMax: 10,
} as const
