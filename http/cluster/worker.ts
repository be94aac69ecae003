/** A worker: one of the processes that serve one port. It talks with its primary (`primary.ts`) and nobody else. */
import cluster from 'node:cluster'

/** The variable that tells a worker its number. */
export const WORKER_VARIABLE = 'VOSTRO_WORKER'

/** The message of a worker to its primary when it takes requests. */
export interface Listening {
  readonly kind: 'listening'
  /** The text that the start prints. */
  readonly greeting: string
}

/** Returns the number of this worker, from 1 on. `null`: this process is no worker. */
export function workerNumber(env: NodeJS.ProcessEnv): number | null {
  return cluster.isWorker ? Number(env[WORKER_VARIABLE]) : null
}

/** Tells the primary that this worker takes requests. */
export function tellListening(greeting: string): void {
  process.send?.({ kind: 'listening', greeting } satisfies Listening)
}

/** Lets the process of a worker end as soon as nothing is left to do: its channel to the primary would keep it. */
export function leaveCluster(): void {
  cluster.worker?.disconnect()
}
