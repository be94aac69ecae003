/**
 * The types of the package `redlock` that this service uses. The package has its own, but its export map leaves them
 * out, so that they cannot be imported by its name.
 */
declare module 'redlock' {
  import type { Cluster, Redis } from 'ioredis'

  /** One attempt on all servers: how many there are, how many had to agree, and why others did not. */
  export interface ExecutionStats {
    readonly membershipSize: number
    readonly quorumSize: number
    readonly votesFor: ReadonlySet<Redis | Cluster>
    readonly votesAgainst: ReadonlyMap<Redis | Cluster, Error>
  }

  /** A lock that is held until `expiration`, epoch milliseconds; a passed one is not extended. */
  export interface Lock {
    readonly resources: readonly string[]
    readonly value: string
    expiration: number
    release(): Promise<unknown>
  }

  /** Another holder has the lock. */
  export class ResourceLockedError extends Error {}

  /** No attempt succeeded. */
  export class ExecutionError extends Error {
    readonly attempts: readonly Promise<ExecutionStats>[]
  }

  /** Takes locks on a majority of the servers. */
  export default class Redlock {
    constructor(
      clients: Iterable<Redis | Cluster>,
      settings?: { readonly retryCount?: number; readonly driftFactor?: number },
    )
    /** Takes a lock for `duration` milliseconds. @throws ExecutionError */
    acquire(resources: readonly string[], duration: number): Promise<Lock>
    /** Prolongs a lock to `duration` milliseconds from now. @throws ExecutionError */
    extend(lock: Lock, duration: number): Promise<Lock>
  }
}
