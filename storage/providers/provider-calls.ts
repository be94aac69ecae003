/** Calls of banking partners, as rows. */
import { timestamp } from '../../lib/base/clock.ts'
import { PROVIDER_CALLS_KEPT_MS, type ProviderCall } from '../../lib/providers/provider-call.ts'
import { plainArray, textArray } from '../db/array-literal.ts'
import type { Database } from '../db/database.ts'

/** Calls that are removed with one statement. */
const REMOVED_MAX = 5_000

/** Records calls. @throws DatabaseUnavailable and the driver's errors */
export async function insertProviderCalls(database: Database, calls: readonly ProviderCall[]): Promise<void> {
  await database.query({
    name: 'insert_provider_calls',
    text: `insert into provider_call (id, connection_id, operation, method, target, status, fault, message, latency_ms, request_bytes, answer_bytes, request, answer, at)
      select * from unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::smallint[], $7::text[], $8::text[],
        $9::integer[], $10::integer[], $11::integer[], $12::text[], $13::text[], $14::timestamptz[])`,
    values: [
      plainArray(calls.map(({ id }) => id)),
      plainArray(calls.map(({ connectionId }) => connectionId)),
      textArray(calls.map(({ operation }) => operation)),
      textArray(calls.map(({ method }) => method)),
      textArray(calls.map(({ target }) => target)),
      plainArray(calls.map(({ status }) => status)),
      textArray(calls.map(({ fault }) => fault)),
      textArray(calls.map(({ message }) => message)),
      plainArray(calls.map(({ latencyMs }) => latencyMs)),
      plainArray(calls.map(({ requestBytes }) => requestBytes)),
      plainArray(calls.map(({ answerBytes }) => answerBytes)),
      textArray(calls.map(({ request }) => request)),
      textArray(calls.map(({ answer }) => answer)),
      plainArray(calls.map(({ at }) => timestamp(at))),
    ],
  })
}

/** Removes calls that were kept for long enough. @returns how many were removed, of a bounded number */
export async function removeOldProviderCalls(database: Database, now: number): Promise<number> {
  const rows = await database.query({
    name: 'remove_provider_calls',
    values: [timestamp(now - PROVIDER_CALLS_KEPT_MS), REMOVED_MAX],
    text: `delete from provider_call where id in (select id from provider_call where at < $1 order by at limit $2) returning 1`,
  })
  return rows.length
}
