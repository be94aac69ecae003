/** Reads DDICA: claims of payers under the guarantee of direct debits. Every value is the text of an element. */
import { BankFileError, type ElementPlace } from '../iso20022/bank-file-error.ts'
import type { IndemnityClaim } from './messages.ts'
import {
  accountOf,
  codeOf,
  countOf,
  dayOf,
  penceOf,
  userNumberOf,
  type EmitReportItem,
  type ReportElement,
  type ReportParts,
} from './report-values.ts'

/** Debits of one claim. */
const DEBITS_MAX = 1_000
/** Claims of one group, which are kept until the day of the group stands behind them. */
const CLAIMS_MAX = 100_000
const GROUPS: Readonly<Record<string, { readonly isCancelled: boolean }>> = {
  NewAdvices: { isCancelled: false },
  CancelledAdvices: { isCancelled: true },
}
const ADVICE = 'DDICAdvice'
const COLLECTION = 'DDCollections/DDCollection'

interface OpenClaim {
  readonly values: Map<string, string>
  debit: Map<string, string> | null
  readonly debits: { readonly day: string; readonly amount: bigint }[]
  readonly place: ElementPlace
}

interface OpenGroup {
  readonly isCancelled: boolean
  readonly values: Map<string, string>
  readonly claims: Omit<IndemnityClaim, 'debitedOn'>[]
  claim: OpenClaim | null
}

export class ClaimParts implements ReportParts {
  readonly #emit: EmitReportItem
  #user: string | null = null
  #group: OpenGroup | null = null

  constructor(emit: EmitReportItem) {
    this.#emit = emit
  }

  open(element: ReportElement): void {
    const [group = '', ...below] = element.path.split('/')
    const kind = GROUPS[group]
    if (kind === undefined) return
    if (below.length === 0) {
      if (this.#user === null)
        throw new BankFileError('missing_element', 'The claims stand before the ServiceUserNumber.', element)
      this.#group = { ...kind, values: new Map(), claims: [], claim: null }
    }
    const open = this.#group
    if (open === null) return
    if (below.join('/') === ADVICE) open.claim = { values: new Map(), debit: null, debits: [], place: element }
    else if (below.join('/') === `${ADVICE}/${COLLECTION}` && open.claim !== null) open.claim.debit = new Map()
  }

  close(path: string, text: string, place: ElementPlace): void {
    if (path === 'ServiceUserNumber') {
      this.#user = userNumberOf(text, this.#user, place)
      this.#emit({ kind: 'head', report: 'DDICA', serviceUserNumber: this.#user })
      return
    }
    const [group = '', ...below] = path.split('/')
    if (GROUPS[group] === undefined || this.#group === null) return
    const at = below.join('/')
    if (at === '') this.#endGroup(this.#group, place)
    else if (at === ADVICE) this.#endClaim(this.#group, place)
    else if (at === `${ADVICE}/${COLLECTION}`) endDebit(this.#group.claim, place)
    else if (below.length === 1) this.#group.values.set(at, text)
    else if (below.length === 2) this.#group.claim?.values.set(below[1] as string, text)
    else if (at.startsWith(`${ADVICE}/${COLLECTION}/`)) this.#group.claim?.debit?.set(below.at(-1) as string, text)
  }

  end(): void {
    if (this.#user === null) throw new BankFileError('missing_element', 'The report has no ServiceUserNumber.')
  }

  #endClaim(group: OpenGroup, place: ElementPlace): void {
    const claim = group.claim as OpenClaim
    group.claim = null
    const value = reader(claim.values, claim.place)
    const amount = penceOf(value('TotalAmount'), place)
    const debits = claim.debits.reduce((sum, debit) => sum + debit.amount, 0n)
    if (claim.debits.length > 0 && debits !== amount)
      throw new BankFileError('sum_mismatch', `A claim says ${amount} pence, its debits come to ${debits}.`, place)
    group.claims.push({
      kind: 'indemnity_claim',
      reference: value('SUReference'),
      code: codeOf(value('ReasonCode'), place),
      text: claim.values.get('ReasonCodeMeaning') ?? null,
      claimRef: value('PayingBankReference'),
      isCancelled: group.isCancelled,
      amount,
      debits: claim.debits,
      payer: accountOf(
        textOrNull(claim.values.get('PayerSortCode')),
        textOrNull(claim.values.get('PayerAccount')),
        place,
      ),
    })
    if (group.claims.length > CLAIMS_MAX)
      throw new BankFileError('too_large', `A group has at most ${CLAIMS_MAX} claims.`, place)
  }

  #endGroup(group: OpenGroup, place: ElementPlace): void {
    this.#group = null
    if (group.claims.length === 0) return
    const value = reader(group.values, place)
    const debitedOn = dayOf(value('DateOfDebit'), place)
    const stated = penceOf(value('TotalValueOfDebits'), place)
    const sum = group.claims.reduce((all, { amount }) => all + amount, 0n)
    const number = textOrNull(group.values.get('TotalNumberOfAdvices'))
    const count = number === null ? group.claims.length : countOf(number, place)
    if (stated !== sum || count !== group.claims.length)
      throw new BankFileError(
        'sum_mismatch',
        `The totals say ${count} claims of ${stated} pence, the report lists ${group.claims.length} of ${sum}.`,
        place,
      )
    for (const claim of group.claims) this.#emit({ ...claim, debitedOn })
  }
}

function endDebit(claim: OpenClaim | null, place: ElementPlace): void {
  if (claim?.debit == null) return
  const value = reader(claim.debit, place)
  claim.debits.push({ day: dayOf(value('DateOfDirectDebit'), place), amount: penceOf(value('Amount'), place) })
  claim.debit = null
  if (claim.debits.length > DEBITS_MAX)
    throw new BankFileError('too_large', `A claim is about at most ${DEBITS_MAX} debits.`, place)
}

const textOrNull = (text: string | undefined): string | null => (text === undefined || text === '' ? null : text)

/** Returns a function that gives the text of an element. @throws BankFileError where it has none, or too much */
const reader =
  (values: ReadonlyMap<string, string>, place: ElementPlace) =>
  (name: string): string => {
    const value = textOrNull(values.get(name))
    if (value === null) throw new BankFileError('missing_element', `${place.path} has no ${name}.`, place)
    if (value.length > 140) throw new BankFileError('too_large', `${name} has at most 140 characters.`, place)
    return value
  }
