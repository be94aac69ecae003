/**
 * Every bound of the service, with its unit in the name and its reason beside it (I8). Overload is answered, never queued.
 */
export const LIMITS = {
  /** Commands that may wait for one actor. At 4 000 a second a hot balance drains this in a quarter of a second. */
  mailboxMax: 1_024,
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
  activationsMax: { balance: 50_000, payment: 20_000 },
  /** An actor that nobody asked for this long is forgotten, milliseconds. */
  activationIdleMs: 60_000,
  /** Payments handed to the partner in one call. */
  partnerBatchMax: 256,
  /** Payments a node keeps in memory on their way to the partner; more wait in Postgres alone. */
  dispatchQueueMax: 10_000,
  /** Partner events taken in one go. */
  partnerEventsMax: 512,
} as const
