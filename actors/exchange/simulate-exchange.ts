/** The simulations of the sandbox: the status of an exchange, and a rate. */
import type { SimulationResult } from '../../lib/contract/simulation.ts'
import { MINUTE_MS } from '../../lib/base/clock.ts'
import type { ExchangeDeps } from './create-exchange.ts'
import { deskOf } from './create-quote.ts'
import type { SandboxFx } from '../sandbox/sandbox-fx.ts'
import type { CurrencyCode } from '../../lib/base/currency.ts'
import { MARKET_CURRENCIES } from '../../lib/exchange/market.ts'
import { formatRate, formatRateInFull, inverseOf, rateOf } from '../../lib/exchange/rate.ts'
import { refuse, refuseField, refuseNotFound } from '../../lib/base/problems.ts'
import { findExchange } from '../../storage/exchange/exchanges.ts'
import { findConnection, type ConnectionRow } from '../../storage/sandbox/sandbox-connection.ts'
import { through } from '../../storage/db/transaction.ts'
import { decideOnce, type RunOnceDeps } from '../commands/run-once.ts'
import type { SimExchangeStatus, SimFxRate } from '../../lib/exchange/exchange-schema.ts'
import type { Command, CommandAnswer } from '../../lib/commands/command.ts'

type Asked<Body> = Pick<Command<Body>, 'tenantId' | 'body' | 'idempotency' | 'requestId' | 'instance'>
/** The dependencies of the simulations, and of the other commands of exchanges. */
export type SimulationDeps = ExchangeDeps &
  RunOnceDeps & {
    readonly problemBase: string
    readonly partner: SandboxFx
    readonly heard: (connectionId: string) => Promise<unknown>
  }

/** Makes the sandbox report a status of an exchange. @throws ProblemError `not-found`, `simulation-not-possible` */
export async function simulateStatus(
  deps: SimulationDeps,
  command: Asked<SimExchangeStatus>,
  exchangeId: string,
): Promise<CommandAnswer<SimulationResult, 202>> {
  const { database, ids, partner } = deps
  const found = await findExchange(database, exchangeId)
  if (found === null || found.customerId !== command.tenantId) refuseNotFound()
  return await decideOnce(deps, command, 202, async (client) => {
    const queries = through(client)
    const { status, reason, delaySeconds = 0 } = command.body
    if (reason !== undefined && status !== 'failed')
      refuseField('/reason', 'not_applicable', 'Only a failure has a reason.')
    const connection = await findConnection(queries, { connectionId: found.connectionId })
    const allowed =
      found.status === 'processing'
        ? ['completed', 'failed', 'exception']
        : found.status === 'exception'
          ? ['completed', 'failed']
          : []
    if (!allowed.includes(status) || connection?.provider !== 'sandbox') notPossible(found.status, allowed, connection)
    const event = ({ completed: 'settled', failed: 'refused', exception: 'unclear' } as const)[status]
    const messageId = await partner.simulate(queries, found.id, {
      event,
      reason: reason ?? null,
      delayMs: delaySeconds * 1_000,
    })
    if (messageId === null) notPossible(found.status, allowed, connection)
    const view: SimulationResult = {
      simulationId: ids.next(),
      kind: 'exchange_status',
      status: 'queued',
      provider: 'sandbox',
      providerEventIds: [messageId],
      providerReference: found.id,
      details: { status, reason: reason ?? null },
    }
    return { shown: { version: 1, view } }
  })
}

/** Makes the sandbox quote another rate. @throws ProblemError `validation-error` */
export async function simulateRate(
  deps: SimulationDeps,
  command: Asked<SimFxRate>,
): Promise<CommandAnswer<SimulationResult, 202>> {
  const { ids, clock, partner } = deps
  let shifted: string | null = null
  const answer = await decideOnce(deps, command, 202, async (client) => {
    const { sellCurrency, buyCurrency, shiftBps, durationMinutes } = command.body
    for (const [field, code] of [
      ['/sellCurrency', sellCurrency],
      ['/buyCurrency', buyCurrency],
    ] as const) {
      if (!MARKET_CURRENCIES.includes(code as CurrencyCode))
        refuseField(field, 'invalid_value', `${code} is not quoted.`)
    }
    if (sellCurrency === buyCurrency)
      refuseField('/buyCurrency', 'invalid_value', 'The two currencies must be different.')
    const { connectionId } = await deskOf({ desks: deps.desks.within(client) }, command.tenantId)
    const mid = await partner.shift(client, connectionId, {
      sellCurrency,
      buyCurrency,
      shiftBps,
      until: durationMinutes === undefined ? null : clock.now() + durationMinutes * MINUTE_MS,
    })
    shifted = connectionId
    const rate = rateOf(mid!)
    const view: SimulationResult = {
      simulationId: ids.next(),
      kind: 'fx_rate',
      status: 'applied',
      provider: 'sandbox',
      providerEventIds: [],
      providerReference: null,
      details: { rate: formatRate(rate), inverseRate: formatRateInFull(inverseOf(rate)), shiftBps },
    }
    return { shown: { version: 1, view } }
  })
  // Nodes learn of the new rate when the transaction has committed; the answer is sent once they quote it.
  if (shifted !== null) {
    await partner.readShifts()
    await deps.heard(shifted)
  }
  return answer
}

function notPossible(currentStatus: string, allowed: readonly string[], connection: ConnectionRow | null): never {
  refuse(
    'simulation-not-possible',
    allowed.length === 0
      ? `The exchange is ${currentStatus}.`
      : `An exchange that is ${currentStatus} can be made ${allowed.join(', ')}, once the sandbox has it.`,
    {
      extra: { currentStatus, connectionProvider: connection?.provider ?? null },
    },
  )
}
