/** The collections and instructions of a file as its format says them. Pure. */
import { dateIn } from '../../base/clock.ts'
import type { BacsAccount, BacsCode, BacsHead, BacsItem } from '../../providers/bacs/messages.ts'
import { bacsItemFault } from '../../providers/bacs/standard18.ts'
import { collectionFault } from '../../providers/iso20022/direct-debits.ts'
import type {
  FileCollection,
  FileHead,
  MandateAmendment,
  MessageAccount,
  MessageAgent,
  OrderFault,
} from '../../providers/iso20022/messages.ts'
import { CANADIAN_CLEARING, canadianMember } from '../../rails/clearing-systems.ts'
import type { CounterpartyAccount, MandateCounterparty, MandateOriginals } from '../mandate.ts'
import { DEBIT_SCHEMES } from '../schemes.ts'
import type { CollectionGroup } from './collection-file.ts'

/** A line of a file: a collection with its mandate, or a mandate that is lodged. */
export interface FileLine {
  /** The id of the collection, or of the mandate that is lodged. */
  readonly id: string
  readonly amount: bigint
  readonly endToEndId: string
  /** The text for the payer. */
  readonly reference: string
  readonly mandateReference: string
  /** Epoch milliseconds; null: the day of the mandate's creation stands for it. */
  readonly signedAt: number | null
  readonly mandateCreatedAt: number
  readonly counterparty: MandateCounterparty
  /** The values before a change that no file has told yet; null: nothing has changed. */
  readonly amendment: MandateOriginals | null
  /** The collection was presented before and came back for lack of funds. */
  readonly isRepresented: boolean
  /** Of a file of instructions: what is lodged. */
  readonly instruction: 'new' | 'cancelled' | 'converted' | null
}

/** Who collects, and the account that is credited. */
export interface FileCreditor {
  /** The operator as its bank knows it, which sends the file. */
  readonly initiator: FileHead['initiator']
  readonly account: MessageAccount
  readonly agent: MessageAgent
  /** The account in the form of Bacs; null where it has none. */
  readonly bacs: BacsAccount | null
}

const NO_AGENT: MessageAgent = { bic: null, clearing: null, name: null, country: null }
const agent = (system: string, member: string, country: string): MessageAgent => ({
  ...NO_AGENT,
  clearing: { system, member },
  country,
})

/** Returns the account of a payer as the messages of ISO 20022 name it. @throws RangeError for an account without a number */
export function debtorAccount(account: CounterpartyAccount): MessageAccount {
  const { iban, accountNumber, accountType } = account
  if (iban !== undefined) return { iban }
  if (accountNumber === undefined) throw new RangeError('The account has no number.')
  // Banks of the United States ask for the kind of the account with its number.
  const type =
    accountType === undefined ? {} : { type: accountType === 'savings' ? ('SVGS' as const) : ('CACC' as const) }
  return { number: accountNumber, scheme: null, ...type }
}

/** Returns the bank of a payer; null where its account number tells it. */
export function debtorAgent(account: CounterpartyAccount): MessageAgent | null {
  const { bic, sortCode, routingNumber, bsb, institutionNumber, transitNumber } = account
  if (bic !== undefined) return { ...NO_AGENT, bic }
  if (sortCode !== undefined) return agent('GBDSC', sortCode, 'GB')
  if (routingNumber !== undefined) return agent('USABA', routingNumber, 'US')
  if (bsb !== undefined) return agent('AUBSB', bsb.replaceAll('-', ''), 'AU')
  if (institutionNumber !== undefined && transitNumber !== undefined)
    return agent(CANADIAN_CLEARING, canadianMember(institutionNumber, transitNumber), 'CA')
  return null
}

/** Makes a collection for a file of pain.008. @throws RangeError for an account without a number */
export function fileCollectionOf(line: FileLine, group: CollectionGroup, creditor: FileCreditor): FileCollection {
  const { scheme, sequenceType, settlementDate, currency, creditorId, creditorName } = group
  const { counterparty, mandateReference, signedAt, mandateCreatedAt } = line
  return {
    reference: line.id,
    scheme,
    sequence: sequenceType ?? 'recurring',
    dueDate: settlementDate,
    currency,
    amount: line.amount,
    endToEndId: line.endToEndId,
    purpose: null,
    creditor: { name: creditorName, address: null, id: null },
    creditorAccount: creditor.account,
    creditorAgent: creditor.agent,
    creditorId,
    ultimateCreditor: null,
    mandate: {
      id: mandateReference,
      signedOn: dateIn(signedAt ?? mandateCreatedAt, DEBIT_SCHEMES[scheme].zone),
      amendment: line.amendment === null ? null : amendmentOf(line.amendment, counterparty),
    },
    debtor: { name: counterparty.name, address: addressOf(counterparty), id: null },
    debtorAccount: debtorAccount(counterparty),
    debtorAgent: debtorAgent(counterparty),
    ultimateDebtor: null,
    remittance: { unstructured: line.reference === '' ? [] : [line.reference], creditorReference: null },
  }
}

/**
 * Returns what a file says of an amendment. An account at another bank is told as such (`SMNDA`), and its number is not;
 * accounts without an IBAN have no form for it, so their numbers are told.
 */
function amendmentOf(
  { reference, creditorId, creditorName, account }: MandateOriginals,
  now: CounterpartyAccount,
): MandateAmendment | null {
  const isOtherBank =
    account?.iban !== undefined &&
    now.iban !== undefined &&
    (account.iban.slice(0, 2) !== now.iban.slice(0, 2) || (account.bic ?? null) !== (now.bic ?? null))
  const amendment: MandateAmendment = {
    mandateId: reference ?? null,
    creditorId: creditorId ?? null,
    creditorName: creditorName ?? null,
    debtorAccount: account === undefined ? null : isOtherBank ? 'other_bank' : debtorAccount(account),
  }
  return Object.values(amendment).every((value) => value === null) ? null : amendment
}

function addressOf({ address }: MandateCounterparty): FileCollection['debtor']['address'] {
  if (address === undefined) return null
  const { line1, line2 = null, city, postalCode = null, state = null, country } = address
  return { line1, line2, buildingNumber: null, city, postalCode, state, country }
}

/** Makes a record for a file of Standard 18. @throws RangeError for an account without a number */
export function bacsItemOf(line: FileLine, { sequenceType }: Pick<CollectionGroup, 'sequenceType'>): BacsItem {
  const { sortCode, accountNumber, name } = line.counterparty
  if (sortCode === undefined || accountNumber === undefined) throw new RangeError('The account has no sort code.')
  return {
    reference: line.id,
    code: bacsCodeOf(line, sequenceType),
    amount: line.instruction === null ? line.amount : 0n,
    payer: { sortCode, accountNumber, name },
    text: line.mandateReference,
  }
}

function bacsCodeOf(
  { instruction, isRepresented }: Pick<FileLine, 'instruction' | 'isRepresented'>,
  sequence: CollectionGroup['sequenceType'],
): BacsCode {
  const { sequenceCodes, lodgingCodes } = DEBIT_SCHEMES.bacs_dd
  const code =
    instruction !== null
      ? lodgingCodes?.[instruction]
      : sequenceCodes[isRepresented ? 'represented' : (sequence ?? 'recurring')]
  return code as BacsCode
}

/** Returns why the format of a group cannot carry a line; null where it can. */
export function lineFault(line: FileLine, group: CollectionGroup, creditor: FileCreditor): OrderFault | null {
  try {
    return group.scheme === 'bacs_dd'
      ? bacsItemFault(bacsItemOf(line, group))
      : collectionFault(fileCollectionOf(line, group, creditor))
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { field: 'counterparty', message: error.message }
  }
}

/** Makes the head of a file of Standard 18. @throws RangeError for a creditor whose account Bacs does not know */
export function bacsHeadOf(
  group: CollectionGroup,
  creditor: FileCreditor,
  given: Pick<BacsHead, 'serialNumber' | 'createdOn' | 'processingDay'>,
): BacsHead {
  if (creditor.bacs === null) throw new RangeError('The settlement account has no sort code and account number.')
  return {
    ...given,
    fileNumber: 1,
    serviceUserNumber: group.creditorId,
    userName: group.creditorName,
    account: creditor.bacs,
  }
}
