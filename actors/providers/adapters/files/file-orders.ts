/** Orders as a file says them: from the orders of payments, and to and from the text that the book keeps. Pure. */
import type { CurrencyCode } from '../../../../lib/base/currency.ts'
import type { FilesConfig } from '../../../../lib/providers/files/files-config.ts'
import { orderFault } from '../../../../lib/providers/iso20022/credit-transfers.ts'
import type { FileOrder, MessageAccount, MessageRemittance } from '../../../../lib/providers/iso20022/messages.ts'
import { accountOf, agentOf } from '../../../../lib/providers/iso20022/parties.ts'
import type { PaymentOrder } from '../../bank.ts'

/** The scheme's codes of orders that no file can carry. */
const WRONG_ACCOUNT = 'AC03'
const NOT_SUPPORTED = 'AG03'
const WRONG_CURRENCY = 'AM03'
/** A creditor reference of ISO 11649. */
const CREDITOR_REFERENCE = /^RF\d{2}[A-Z0-9]{1,21}$/i
/** The form of an IBAN. */
const IBAN = /^[A-Z]{2}\d{2}[A-Z0-9]{10,30}$/

/** An order for a file, or the scheme's code of why no file can carry it. */
export type MadeOrder = { readonly order: FileOrder } | { readonly refusal: string }

/** Returns the account that the reference of a settlement account means. */
export function settlementAccount(accountRef: string): MessageAccount {
  const compact = accountRef.replaceAll(' ', '')
  return IBAN.test(compact) ? { iban: compact } : { number: accountRef, scheme: null }
}

/**
 * Makes an order for a file. The operator's settlement account pays, on behalf of the customer, who is the ultimate
 * debtor.
 */
export function fileOrderOf(
  { reference, rail, currency, amount, remittance, parties }: PaymentOrder,
  { settlementAccounts, initiatingParty }: Pick<FilesConfig, 'settlementAccounts' | 'initiatingParty'>,
): MadeOrder {
  const settlement = settlementAccounts.find((account) => account.currency === currency)
  if (settlement === undefined) return { refusal: WRONG_CURRENCY }
  if (parties === undefined) throw new Error(`The order ${reference} has no parties.`)
  const { debtor, creditor, chargeBearer, endToEndId, executionDate, purposeCode, uetr } = parties
  const creditorAccount = accountOrNull(creditor.account, creditor.bankCountry)
  if (creditorAccount === null) return { refusal: WRONG_ACCOUNT }
  const { intermediaryBic } = creditor.account
  const order: FileOrder = {
    reference,
    rail,
    currency: currency as CurrencyCode,
    amount,
    executionDate,
    endToEndId,
    uetr,
    chargeBearer,
    purpose: purposeCode === null ? null : { code: purposeCode },
    categoryPurpose: null,
    debtor: { name: initiatingParty.name, address: null, id: identifierOf(initiatingParty.id) },
    debtorAccount: settlementAccount(settlement.accountRef),
    debtorAgent: { bic: settlement.bic ?? null, clearing: null, name: null, country: null },
    ultimateDebtor: { name: debtor.name, address: debtor.address, id: null },
    intermediaryAgent:
      intermediaryBic === undefined ? null : { bic: intermediaryBic, clearing: null, name: null, country: null },
    creditor: { name: creditor.name, address: creditor.address, id: null },
    creditorAccount,
    creditorAgent: agentOf(creditor.account, creditor.bankCountry),
    ultimateCreditor: null,
    remittance: remittanceOf(remittance),
  }
  return orderFault(order) === null ? { order } : { refusal: NOT_SUPPORTED }
}

function accountOrNull(...[bank, country]: Parameters<typeof accountOf>): MessageAccount | null {
  try {
    return accountOf(bank, country)
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

/** Returns an identifier that a bank has given: ISO 20022 knows it as that of an organisation. */
export const identifierOf = (id: string | undefined) =>
  id === undefined ? null : { value: id, scheme: null, isPrivate: false }

function remittanceOf(text: string): MessageRemittance {
  const compact = text.replaceAll(' ', '')
  return CREDITOR_REFERENCE.test(compact)
    ? { unstructured: [], creditorReference: compact.toUpperCase() }
    : { unstructured: text === '' ? [] : [text], creditorReference: null }
}

/** Writes an order as the text that the book keeps. */
export const orderText = (order: FileOrder): string => JSON.stringify({ ...order, amount: order.amount.toString() })

/** Reads the text of an order. */
export function orderOfText(text: string): FileOrder {
  const kept = JSON.parse(text) as Omit<FileOrder, 'amount'> & { readonly amount: string }
  return { ...kept, amount: BigInt(kept.amount) }
}

/** Sorts orders so that those that have the terms of a block in common are neighbours. */
export function inBlocks(orders: readonly FileOrder[]): readonly FileOrder[] {
  const terms = (order: FileOrder): string => `${order.executionDate} ${order.chargeBearer} ${order.categoryPurpose}`
  const keyed = orders.map((order, place) => ({ order, place, key: terms(order) }))
  keyed.sort((one, other) => (one.key < other.key ? -1 : one.key > other.key ? 1 : one.place - other.place))
  return keyed.map(({ order }) => order)
}
