/** Waiting for something to become true, with a deadline: what tests do instead of sleeping. */

/** Long enough for a machine that runs many other things at the same time. */
const DEADLINE_MS = 30_000
const POLL_MS = 25

export interface UntilOptions {
  readonly deadlineMs?: number | undefined
  readonly pollMs?: number | undefined
}

/**
 * Looks again and again until there is an answer, and returns it.
 *
 * @throws Error naming `what` when the deadline passes, and whatever `look` throws.
 */
export async function until<T>(what: string, look: () => Promise<T | null | undefined | false>, options: UntilOptions = {}): Promise<T> {
  const { deadlineMs = DEADLINE_MS, pollMs = POLL_MS } = options
  const deadline = performance.now() + deadlineMs
  for (;;) {
    const found = await look()
    if (found !== null && found !== undefined && found !== false) return found
    if (performance.now() > deadline) throw new Error(`It did not happen within ${deadlineMs} ms: ${what}.`)
    await new Promise(resolve => setTimeout(resolve, pollMs))
  }
}
