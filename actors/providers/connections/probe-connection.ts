/** Tries connections with their partners: at the request of staff, and by time. */
import { MINUTE_MS } from '../../../lib/base/clock.ts'
import { refuse, refuseNotFound, refuseTransition } from '../../../lib/base/problems.ts'
import type { Caller } from '../../../lib/identity/caller.ts'
import { descriptionOf } from '../../../lib/providers/connection-faults.ts'
import {
  CONNECTION_STATUSES,
  credentialsContext,
  statusAfterProbe,
  webhookSecretContext,
  type ProbeResult,
  type ProviderConnectionRecord,
} from '../../../lib/providers/connection.ts'
import { redactor, textsIn } from '../../../lib/providers/redaction.ts'
import { findConnection, readConnection } from '../../../storage/providers/provider-connections.ts'
import { readProbesDue } from '../../../storage/providers/provider-health.ts'
import type { Task } from '../../runtime/tasks.ts'
import type { ConnectionDeps } from './connection-deps.ts'
import { applyChange, changeLocked } from './record-connection.ts'

/** The statuses in which a connection can be probed. */
const OPEN = CONNECTION_STATUSES.filter((status) => status !== 'retired')

/** The time between two probes of a healthy connection. One that is not healthy is probed each minute. */
const PROBE_EVERY_MS = 5 * MINUTE_MS
/** Taken off both times, so that a calendar that runs a moment early does not skip a minute. */
const EARLY_MS = 5_000
/** Connections that one run probes, and how many at a time: a partner that is silent holds up a few others at most. */
const PROBES_MAX = 200
const AT_ONCE = 8

/**
 * Verifies a connection by a live probe (Y2). The partner is called outside of the transaction. A connection that works
 * for customers goes on, whatever the probe says; its health shows it.
 *
 * @throws ProblemError `not-found`, `invalid-transition`; `precondition-failed` when it was changed meanwhile
 */
export async function verifyConnection(
  deps: ConnectionDeps,
  by: Caller<'person'>,
  id: string,
): Promise<ProviderConnectionRecord> {
  const tried = await openConnection(deps, by, id)
  const probe = await probeOf(deps, tried)
  await deps.health.probed(id, probe)
  return await changeLocked(deps, by, id, async (tx, { before }) => {
    if (before.version !== tried.version)
      refuse('precondition-failed', 'The connection was changed while it was being verified.')
    return await applyChange(tx, by, 'verified', before, {
      status: statusAfterProbe(before.status, probe.ok),
      ...(probe.ok ? { verifiedAt: tx.now } : {}),
    })
  })
}

/**
 * Probes a connection and records its health; its status stays.
 *
 * @throws ProblemError `not-found`, `invalid-transition`
 */
export async function checkHealth(
  deps: ConnectionDeps,
  by: Caller<'person'>,
  id: string,
): Promise<ProviderConnectionRecord> {
  await deps.health.probed(id, await probeOf(deps, await openConnection(deps, by, id)))
  return (await readConnection(deps.database.pool, by.tenant.id, id)) ?? refuseNotFound()
}

async function openConnection(
  { database }: ConnectionDeps,
  by: Caller<'person'>,
  id: string,
): Promise<ProviderConnectionRecord> {
  const found = (await readConnection(database.pool, by.tenant.id, id)) ?? refuseNotFound()
  if (found.status === 'retired') refuseTransition('The connection is retired.', found.status, OPEN)
  return found
}

/** Probes a connection. What went wrong is told in words for staff that hold no secret. */
async function probeOf(
  { probe, secrets, onError, clock }: ConnectionDeps,
  { id, operatorId, provider, environment, settings, credentials, webhookSecret }: ProviderConnectionRecord,
): Promise<ProbeResult> {
  const description = descriptionOf(provider)
  if (description === null) return failed(`There is no adapter for ${provider} here.`)
  const opened = credentials === null ? null : secrets.open(credentials, credentialsContext(id))
  if (description.credentials !== null && credentials === null) return failed('The connection has no credentials.')
  if (credentials !== null && opened === null)
    return failed('The credentials were sealed with another key of the service; set them again.')
  // The partner knows nothing of it, and without it no order and no event of the connection gets through.
  if (webhookSecret !== null && secrets.open(webhookSecret, webhookSecretContext(id)) === null)
    return failed('The webhook secret cannot be opened with the key of this service; set it again.')
  const secret = opened === null ? null : (JSON.parse(opened) as unknown)
  const redact = redactor(textsIn(secret))
  const began = clock.now()
  try {
    const tried = await probe({ id, operatorId, provider, environment, config: settings, credentials: secret })
    const { ok, latencyMs, message } = tried
    return { ok, latencyMs: Math.max(0, Math.round(latencyMs)), message: message === null ? null : redact(message) }
  } catch (error) {
    const latencyMs = Math.max(0, clock.now() - began)
    // An adapter refuses a configuration by an error in words for staff; any other error is a bug.
    if (error instanceof Error && error.name === 'Error') return { ...failed(redact(error.message)), latencyMs }
    onError(error, `the probe of connection ${id}`)
    return { ...failed('The connection could not be opened.'), latencyMs }
  }
}

const failed = (message: string): ProbeResult => ({ ok: false, latencyMs: 0, message })

/** The task that probes the connections that work, by time. */
export function probeTask(deps: ConnectionDeps): Task {
  return {
    name: 'providers.probe',
    cron: '* * * * *',
    workers: 'outward',
    run: (_, { signal }) => probeDue(deps, signal),
  }
}

/** Probes the connections whose probe is due. */
export async function probeDue(deps: ConnectionDeps, signal: AbortSignal): Promise<void> {
  const { database, clock, health } = deps
  const now = clock.now() + EARLY_MS
  const due = await readProbesDue(database, {
    before: now - PROBE_EVERY_MS,
    unhealthyBefore: now - MINUTE_MS,
    max: PROBES_MAX,
  })
  const waiting = [...due]
  const work = async () => {
    for (let id = waiting.pop(); id !== undefined && !signal.aborted; id = waiting.pop()) {
      const connection = await findConnection(database.pool, id)
      if (connection === null || connection.status === 'retired') continue
      await health.probed(id, await probeOf(deps, connection))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
}
