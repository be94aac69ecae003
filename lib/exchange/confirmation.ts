/** The content of the confirmation of an exchange. */
import {
  at,
  day,
  grouped,
  linesOf,
  moment,
  timesNote,
  type Confirmation,
  type ConfirmationParty,
} from '../documents/confirmation-page.ts'
import { formatRate, formatRateInFull, inverseOf } from './rate.ts'
import type { ExchangeKind, ExchangeRecord } from './exchange.ts'

const KIND_NAMES: Readonly<Record<ExchangeKind, string>> = {
  spot: 'Spot',
  forward: 'Forward contract',
  held_rate: 'Held rate',
  drawdown: 'Drawdown',
}

/** Whether an exchange is completed, so that a confirmation exists. */
export function isExchangeConfirmed({ status }: Pick<ExchangeRecord, 'status'>): boolean {
  return status === 'completed'
}

/** The two balances of an exchange, as the confirmation names them. */
export interface ExchangeParties {
  readonly sell: ConfirmationParty
  readonly buy: ConfirmationParty
}

/**
 * Builds the confirmation of a completed exchange. For a contract it shows the agreed amounts, for a drawdown the
 * exchanged amounts.
 */
export function exchangeConfirmation(exchange: ExchangeRecord, { sell, buy }: ExchangeParties): Confirmation {
  const { sellCurrency, buyCurrency } = exchange
  const { timezone } = sell
  const sold = (minor: bigint): string => grouped(minor, sellCurrency)
  const bought = grouped(exchange.buyAmount, buyCurrency)
  return {
    issuer: sell.operatorName,
    title: 'Exchange confirmation',
    headline: `${bought} for ${sold(exchange.sellAmount)}`,
    status: `Completed on ${day(at(exchange.settledAt ?? exchange.updatedAt, timezone))}`,
    sections: [
      { title: 'Customer', lines: linesOf(['Name', sell.customerName]) },
      {
        title: 'Sold',
        lines: linesOf(
          ['Amount', sold(exchange.sellAmount)],
          ['Fee', exchange.fee === 0n ? null : sold(exchange.fee)],
          ['Total debit', exchange.fee === 0n ? null : sold(exchange.sellAmount + exchange.fee)],
          ['Account', sell.account],
          ['Account name', sell.accountName],
        ),
      },
      {
        title: 'Bought',
        lines: linesOf(['Amount', bought], ['Account', buy.account], ['Account name', buy.accountName]),
      },
      {
        title: 'Exchange',
        lines: linesOf(
          ['Order number', exchange.number],
          ['Kind', KIND_NAMES[exchange.kind]],
          ['Rate', `1 ${sellCurrency} = ${formatRate(exchange.rate)} ${buyCurrency}`],
          ['Inverse rate', `1 ${buyCurrency} = ${formatRateInFull(inverseOf(exchange.rate))} ${sellCurrency}`],
          ['Reference', exchange.reference],
        ),
      },
      {
        title: 'Dates',
        lines: linesOf(
          ['Ordered', moment(at(exchange.createdAt, timezone))],
          ['Trade date', day(exchange.tradeDate)],
          ['Settlement date', day(exchange.settlementDate)],
          ['Settled', moment(at(exchange.settledAt, timezone))],
        ),
      },
    ],
    footer: `Issued electronically by ${sell.operatorName}; valid without a signature. Exchange ${exchange.id}. ${timesNote(timezone)}`,
    createdAt: exchange.updatedAt,
  }
}
