/** Wakes for pollers without a node: no other node is heard of. */
import { Wakes, type WakesOptions } from '../../actors/runtime/wakes.ts'
import type { ActorSystem } from '../../actors/runtime/system.ts'

export function createWakes(options: Omit<WakesOptions, 'listener'>, system?: Pick<ActorSystem, 'onCommitted'>): Wakes {
  const wakes = new Wakes({ ...options, listener: { subscribe: () => ({ heard: async () => true }) } })
  system?.onCommitted(() => wakes.wake('events'))
  return wakes
}
