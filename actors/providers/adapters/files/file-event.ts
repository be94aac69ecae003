/** The events that a bank's files come to, as the inbox keeps them, and their translation to messages. Pure. */
import type { DebitFacts } from '../../../../lib/incoming-debits/decide-debit.ts'
import { MANDATE_SCHEMES } from '../../../../lib/rails/debit-schemes.ts'
import type { CreditFacts } from '../../../../lib/incoming-payments/credit.ts'
import type { InboxMessage, RawProviderEvent } from '../adapter.ts'
import { derivedId } from '../derived-id.ts'

/** The file and the place in it from which an event comes: they make each body different. */
interface Origin {
  readonly file: { readonly id: string; readonly name: string; readonly sha256: string }
  readonly place: number
}

/** The outcome of an order, as a file tells it. Amounts are minor units, as text. */
export interface OrderTold {
  readonly kind: 'order'
  readonly reference: string
  readonly told: 'settled' | 'rejected' | 'returned' | 'unclear'
  /** False where it contradicts what counts more. */
  readonly counts: boolean
  readonly schemeCode: string | null
  readonly amount: string | null
  readonly bankRef: string | null
  /** In words for staff; null where the bank's files agree. */
  readonly contradiction: string | null
  /** The day of the booking, `YYYY-MM-DD`; null in a report. */
  readonly bookedOn?: string | null
  /** Of a collection the file that presented it; absent: the order is a payment. */
  readonly collectionFileId?: string
}

/** Money that came in. */
export interface CreditTold {
  readonly kind: 'credit'
  readonly reference: string
  /** The account that was credited, where it is not the settlement account itself. */
  readonly account: string | null
  readonly credit: Omit<CreditFacts, 'amount' | 'reference'> & { readonly amount: string }
}

/** A direct debit that the bank has taken from the account of a customer. */
export interface DebitTold {
  readonly kind: 'debit'
  readonly reference: string
  readonly account: string
  readonly debit: Omit<DebitFacts, 'amount' | 'reference'> & { readonly amount: string }
}

/** Money of such a debit that came back; the reference is the end-to-end id of the debit. */
export interface DebitBackTold {
  readonly kind: 'debit_back'
  readonly reference: string
  /** The name that tells this booking from any other, the same in each file that tells of it. */
  readonly booking: string
  readonly amount: string
  readonly reasonCode: string | null
}

/** An event from which no message follows. */
export interface Remark {
  readonly kind: 'remark'
  readonly reason: string
  readonly isFault: boolean
}

export type FileNews = OrderTold | CreditTold | DebitTold | DebitBackTold | Remark

/** Writes the body of an event. */
export const eventText = (event: FileNews, origin: Origin): string => JSON.stringify({ ...event, ...origin })

/** Translates an event. */
export function translateFileEvent(connectionId: string, { body }: RawProviderEvent): readonly InboxMessage[] {
  const event = parsed(body)
  switch (event?.kind) {
    case 'order':
      return event.collectionFileId === undefined
        ? orderMessages(connectionId, event)
        : collectionMessages(connectionId, event, event.collectionFileId)
    case 'credit': {
      const { reference, account, credit } = event
      return [
        {
          port: 'credit',
          message: {
            id: derivedId(connectionId, 'credited', reference),
            type: 'account.credited',
            reference,
            connectionId,
            account,
            credit: { ...credit, reference, amount: BigInt(credit.amount) },
          },
        },
      ]
    }
    case 'debit': {
      const { reference, account, debit } = event
      return [
        {
          port: 'incoming_debit',
          message: {
            id: derivedId(connectionId, 'debited', reference),
            type: 'debit.booked',
            reference,
            connectionId,
            account,
            debit: { ...debit, reference, amount: BigInt(debit.amount) },
          },
        },
      ]
    }
    case 'debit_back':
      return [
        {
          port: 'incoming_debit',
          message: {
            id: derivedId(connectionId, 'debit back', event.booking),
            type: 'debit.given_back',
            reference: event.reference,
            reasonCode: event.reasonCode,
            amount: BigInt(event.amount),
          },
        },
      ]
    case 'remark':
      return [{ port: 'none', reason: event.reason, isFault: event.isFault }]
    default:
      return [{ port: 'none', reason: 'The event of a file cannot be read.', isFault: true }]
  }
}

function orderMessages(connectionId: string, event: OrderTold): readonly InboxMessage[] {
  const { reference, told, schemeCode, amount, bankRef, contradiction, counts } = event
  const messages: InboxMessage[] = []
  if (counts)
    messages.push({
      port: 'bank',
      message: {
        id: derivedId(connectionId, 'order', reference, told),
        type: told,
        reference,
        schemeCode,
        amount: told === 'returned' && amount !== null ? BigInt(amount) : null,
        ...(bankRef === null ? {} : { providerRef: bankRef }),
      },
    })
  if (contradiction !== null) messages.push({ port: 'none', reason: contradiction, isFault: true })
  return messages
}

const COLLECTION_TYPES = {
  settled: 'collection.collected',
  rejected: 'collection.rejected',
  returned: 'collection.returned',
  unclear: 'collection.unclear',
} as const

/** Money that came back was credited before, which the inbox concludes by itself. */
function collectionMessages(connectionId: string, event: OrderTold, fileId: string): readonly InboxMessage[] {
  const { reference, told, schemeCode, amount, bankRef, contradiction, counts, bookedOn = null } = event
  const messages: InboxMessage[] = []
  if (counts)
    messages.push({
      port: 'collection',
      message: {
        id: derivedId(connectionId, 'collection', reference, fileId, told),
        type: COLLECTION_TYPES[told],
        reference,
        source: 'partner',
        reasonCode: schemeCode,
        rType: null,
        amount: told === 'returned' && amount !== null ? BigInt(amount) : null,
        bookedOn,
        providerRef: bankRef,
      },
    })
  if (contradiction !== null) messages.push({ port: 'none', reason: contradiction, isFault: true })
  return messages
}

const TOLD: ReadonlySet<unknown> = new Set(['settled', 'rejected', 'returned', 'unclear'])
const isAmount = (value: unknown): boolean => typeof value === 'string' && /^\d{1,18}$/.test(value)

/** Returns the body of an event; null where it has not the form of one. */
function parsed(body: Uint8Array): FileNews | null {
  let value: { readonly [member: string]: unknown } | null
  try {
    value = JSON.parse(Buffer.from(body).toString('utf8')) as typeof value
  } catch {
    // Bytes that are no JSON: the caller tells of it.
    return null
  }
  return value !== null && isWhole(value) ? (value as unknown as FileNews) : null
}

function isWhole(value: { readonly [member: string]: unknown }): boolean {
  const { kind } = value
  if (kind === 'remark') return typeof value['reason'] === 'string'
  if (typeof value['reference'] !== 'string') return false
  switch (kind) {
    case 'credit':
      return isAmount((value['credit'] as { readonly amount?: unknown } | null | undefined)?.amount)
    case 'debit': {
      const debit = value['debit'] as { readonly amount?: unknown; readonly scheme?: unknown } | null | undefined
      return isAmount(debit?.amount) && MANDATE_SCHEMES.some((scheme) => scheme === debit?.scheme)
    }
    case 'debit_back':
      return isAmount(value['amount']) && typeof value['booking'] === 'string'
    case 'order':
      return TOLD.has(value['told']) && (value['amount'] === null || isAmount(value['amount']))
    default:
      return false
  }
}
