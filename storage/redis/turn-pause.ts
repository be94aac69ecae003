/** The pause between two turns of the shards, which news of other nodes and the stop of this node can end. */
export class TurnPause {
  /** Whether news have arrived since the turn that set this to false. */
  news = false
  #stopped = false
  #wake: () => void = () => undefined

  /** Receives news of a change on another node: the next turn runs now. */
  hear(): void {
    this.news = true
    this.#wake()
  }

  /** Ends the present pause, and all later ones at once. */
  stop(): void {
    this.#stopped = true
    this.#wake()
  }

  /** Waits for `ms`; with `throughNews`, news do not end the pause. */
  wait(ms: number, throughNews: boolean): Promise<void> {
    if (ms <= 0 || this.#stopped) return Promise.resolve()
    return new Promise((resolve) => {
      const done = (): void => {
        clearTimeout(timer)
        this.#wake = () => undefined
        resolve()
      }
      const timer = setTimeout(done, ms)
      this.#wake = () => {
        if (!throughNews || this.#stopped) done()
      }
    })
  }
}
