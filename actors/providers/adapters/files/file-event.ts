/** The events that a bank's files come to, as the inbox keeps them, and their translation to messages. Pure. */
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
}

/** Money that came in. */
export interface CreditTold {
  readonly kind: 'credit'
  readonly reference: string
  /** The account that was credited, where it is not the settlement account itself. */
  readonly account: string | null
  readonly credit: Omit<CreditFacts, 'amount' | 'reference'> & { readonly amount: string }
}

/** What no message follows from. */
export interface Remark {
  readonly kind: 'remark'
  readonly reason: string
  readonly isFault: boolean
}

export type FileNews = OrderTold | CreditTold | Remark

/** Writes the body of an event. */
export const eventText = (event: FileNews, origin: Origin): string => JSON.stringify({ ...event, ...origin })

/** Translates an event. */
export function translateFileEvent(connectionId: string, { body }: RawProviderEvent): readonly InboxMessage[] {
  const event = parsed(body)
  switch (event?.kind) {
    case 'order':
      return orderMessages(connectionId, event)
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
  const credit = value?.['credit'] as { readonly amount?: unknown } | null | undefined
  const isWhole =
    value?.['kind'] === 'remark'
      ? typeof value['reason'] === 'string'
      : typeof value?.['reference'] === 'string' &&
        (value['kind'] === 'credit'
          ? isAmount(credit?.amount)
          : value['kind'] === 'order' &&
            TOLD.has(value['told']) &&
            (value['amount'] === null || isAmount(value['amount'])))
  return isWhole ? (value as unknown as FileNews) : null
}
