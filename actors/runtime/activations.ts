/**
 * The activations of one kind in memory, bounded. Those asked recently are kept in a young map, those before them in an
 * old one; when the young one is full it becomes the old one, and what nobody has asked since is forgotten.
 *
 * Not one map in the order of use: taking an entry out and putting it back for every ask leaves holes behind that every
 * look for the oldest walks over again, 3 % of the node's time at twenty thousand payments.
 */
import type { Activation } from './activation.ts'

export class Activations {
  #young = new Map<string, Activation>()
  #old = new Map<string, Activation>()
  readonly #max: number

  /** Keeps at most `max`, and those that are at work. */
  constructor(max: number) { this.#max = max }

  get size(): number { return this.#young.size + this.#old.size }

  get(id: string): Activation | undefined {
    const young = this.#young.get(id)
    if (young !== undefined) return young
    const old = this.#old.get(id)
    if (old !== undefined) {
      this.#old.delete(id)
      this.add(id, old)
    }
    return old
  }

  /** Looks without counting as a use. */
  peek(id: string): Activation | undefined {
    return this.#young.get(id) ?? this.#old.get(id)
  }

  add(id: string, activation: Activation): void {
    if (this.#young.size >= this.#max / 2) this.#age()
    this.#young.set(id, activation)
  }

  /** Forgets one that is not at work. */
  forget(id: string): void {
    const map = this.#young.has(id) ? this.#young : this.#old
    if (map.get(id)?.scheduled === false) map.delete(id)
  }

  /** Forgets what nobody has asked since then, epoch milliseconds. */
  forgetIdle(before: number): void {
    for (const map of [this.#young, this.#old]) {
      for (const [id, activation] of map) if (activation.lastAskedAt < before && !activation.scheduled) map.delete(id)
    }
  }

  /** Lets those that are chosen load again before they decide. */
  forgetStates(chosen: (activation: Activation) => boolean): void {
    for (const map of [this.#young, this.#old]) for (const activation of map.values()) if (chosen(activation)) activation.state = undefined
  }

  #age(): void {
    const working = [...this.#old].filter(([, activation]) => activation.scheduled)
    this.#old = this.#young
    this.#young = new Map(working)
  }
}
