/**
 * No sequence of acts of one person moves money that two must approve.
 *
 * A model of one customer, decided by the service's own functions: Ann acts, Ben has prepared things before and does
 * nothing any more. Ann changes policies, decides what she may, makes things herself and by her API key, changes Ben's
 * schedules, drafts, files and recipients, and approves. Whatever goes through is compared with the rules that held at
 * the beginning.
 *
 *   SEED=123 npm test -- test/lib/approvals/one-person.test.ts
 *
 * The same model with one rule left out has to fail: so the property is able to.
 */
import fc from 'fast-check'
import t from 'tap'
import {
  loosens,
  rulesInEffect,
  tierInEffect,
  type RulesInEffect,
  type StoredPolicies,
} from '../../../lib/approvals/in-effect.ts'
import {
  POLICY_KINDS,
  RECIPIENT_MODES,
  type Convert,
  type PolicySubject,
  type PolicyKind,
  type PolicyTerms,
  type RecipientMode,
  type Tier,
} from '../../../lib/approvals/policy.ts'
import {
  approvalsThatCount,
  editorsSince,
  requestersOf,
  withEditor,
  type Editor,
} from '../../../lib/approvals/requesters.ts'
import { AMOUNT_MAX, BALANCES, CURRENCIES, RECIPIENTS, stored, termsOfKind } from './policies.ts'

const [ANN, ANNS_KEY, BEN] = ['ann', 'key of ann', 'ben']
const CONVERT: Convert = (amount, from, to) => (from === to ? amount : from === 'BGN' || to === 'BGN' ? null : amount)
const MONEY_KINDS = ['payment', 'bulk_payment', 'exchange'] as const satisfies readonly PolicyKind[]

/** A rule that is left out of the model. */
type Flaw =
  | 'compares the stored row'
  | 'the creator alone is the requester'
  | 'a key is another person'
  | 'requesters decide on their changes'
  | null

interface Terms extends PolicySubject {
  readonly amount: bigint
  readonly currency: string
  readonly balanceId: string
  readonly recipientId: string
  readonly toOwnAccount: boolean
}

/** A schedule, draft or file, before it is submitted. */
interface Plan {
  readonly kind: (typeof MONEY_KINDS)[number]
  readonly createdBy: string
  readonly createdAt: number
  terms: Terms
  editors: readonly Editor[]
}

interface Waiting {
  readonly plan: Plan
  readonly terms: Terms
  readonly tier: Tier
  readonly requesters: readonly string[]
  /** Whether the terms are Ben's own, as Ben left them. */
  readonly bens: boolean
  approvals: readonly string[]
}

interface Change {
  readonly kind: PolicyKind
  readonly terms: PolicyTerms
  readonly tier: Tier
  readonly requestedBy: string
}

type Act =
  | { readonly do: 'put'; readonly kind: PolicyKind; readonly terms: PolicyTerms }
  | { readonly do: 'decide change' | 'submit' | 'approve' | 'restart'; readonly nth: number }
  | { readonly do: 'make'; readonly kind: Plan['kind']; readonly terms: Terms; readonly byKey: boolean }
  | { readonly do: 'edit'; readonly nth: number; readonly terms: Terms }
  | { readonly do: 'edit recipient'; readonly recipientId: string }

class Model {
  readonly #first: RulesInEffect
  readonly #mode: RecipientMode
  readonly #flaw: Flaw
  readonly #plans: Plan[]
  #stored: StoredPolicies
  #waiting: Waiting[] = []
  #changes: Change[] = []
  #recipients = new Map<string, readonly Editor[]>()
  #now = 1
  /** Counts of subjects that passed and were stopped, so that a run that stops none is noticed. */
  readonly counts = { through: 0, alone: 0, refused: 0 }

  constructor(
    policies: StoredPolicies,
    mode: RecipientMode,
    plans: readonly Pick<Plan, 'kind' | 'terms'>[],
    flaw: Flaw,
  ) {
    this.#stored = policies
    this.#mode = mode
    this.#flaw = flaw
    this.#first = rulesInEffect(policies, mode)
    this.#plans = plans.map(({ kind, terms }) => ({ kind, terms, createdBy: BEN, createdAt: 0, editors: [] }))
  }

  act(act: Act): void {
    this.#now += 1
    switch (act.do) {
      case 'put':
        return this.#put(act.kind, act.terms)
      case 'decide change':
        return this.#decideChange(act.nth)
      case 'make':
        return void this.#plans.push({
          kind: act.kind,
          terms: act.terms,
          createdBy: act.byKey ? ANNS_KEY : ANN,
          createdAt: this.#now,
          editors: [],
        })
      case 'edit':
        return this.#edit(act.nth, act.terms)
      case 'edit recipient':
        return this.#editRecipient(act.recipientId)
      case 'submit':
        return this.#submit(act.nth)
      case 'approve':
        return this.#approve(act.nth)
      case 'restart':
        return this.#restart(act.nth)
      default:
        act satisfies never
    }
  }

  #put(kind: PolicyKind, terms: PolicyTerms): void {
    this.#changes = this.#changes.filter((change) => change.kind !== kind)
    const before = this.#flaw === 'compares the stored row' ? onlyRow(this.#stored, kind) : this.#stored
    if (!loosens(rulesInEffect(before, this.#mode), rulesInEffect({ ...before, [kind]: terms }, this.#mode))) {
      this.#stored = { ...this.#stored, [kind]: terms }
      return
    }
    const { tier } = tierInEffect(rulesInEffect(this.#stored, this.#mode).rules.policy_change, {
      amount: null,
      currency: null,
    })!
    this.#changes.push({ kind, terms, tier, requestedBy: ANN })
  }

  #decideChange(nth: number): void {
    const change = at(this.#changes, nth)
    if (
      change === undefined ||
      this.#flaw !== 'requesters decide on their changes' ||
      !change.tier.allowSelfApproval ||
      change.tier.requiredApprovals > 1
    ) {
      this.counts.refused += change === undefined ? 0 : 1
      return
    }
    this.#changes = this.#changes.filter((one) => one !== change)
    this.#stored = { ...this.#stored, [change.kind]: change.terms }
  }

  #edit(nth: number, terms: Terms): void {
    const plan = at(this.#plans, nth)
    if (plan === undefined) return
    plan.terms = { ...terms, toOwnAccount: plan.terms.toOwnAccount, recipientId: plan.terms.recipientId }
    plan.editors = withEditor(plan.editors, ANN, this.#now)
  }

  /** Withdraws the subjects that wait to pay the recipient, as the service does. */
  #editRecipient(recipientId: string): void {
    this.#recipients.set(recipientId, withEditor(this.#recipients.get(recipientId) ?? [], ANN, this.#now))
    this.#waiting = this.#waiting.filter(({ terms }) => terms.recipientId !== recipientId)
  }

  #submit(nth: number): void {
    const plan = at(this.#plans, nth)
    if (plan === undefined) return
    const { createdBy, createdAt, editors, kind, terms } = plan
    const tier = tierInEffect(rulesInEffect(this.#stored, this.#mode).rules[kind], terms, CONVERT)?.tier ?? null
    const requesters =
      this.#flaw === 'the creator alone is the requester'
        ? [createdBy]
        : requestersOf(
            [createdBy],
            editors.map(({ id }) => id),
            editorsSince(this.#recipients.get(terms.recipientId) ?? [], createdAt),
          )
    const recipientChanged = editorsSince(this.#recipients.get(terms.recipientId) ?? [], createdAt).length > 0
    const waiting = {
      plan,
      terms,
      tier: tier!,
      requesters,
      bens: createdBy === BEN && editors.length === 0 && !recipientChanged,
      approvals: [],
    }
    if (tier === null) this.#through(waiting)
    else this.#waiting.push(waiting)
  }

  #approve(nth: number): void {
    const waiting = at(this.#waiting, nth)
    if (waiting === undefined) return
    const shaped = requestersOf(
      waiting.requesters,
      this.#flaw !== 'a key is another person' && waiting.requesters.includes(ANNS_KEY!) ? [ANN!] : [],
    )
    if ((shaped.includes(ANN!) && !waiting.tier.allowSelfApproval) || waiting.approvals.includes(ANN!)) {
      this.counts.refused += 1
      return
    }
    waiting.approvals = [...waiting.approvals, ANN!]
    const counted = approvalsThatCount(
      waiting.approvals.map((decisionId) => ({ decisionId, stands: true, teamIds: [] })),
      waiting.tier,
    )
    if (counted.length < waiting.tier.requiredApprovals) return
    this.#waiting = this.#waiting.filter((one) => one !== waiting)
    this.#through(waiting)
  }

  /** Other documents: the approvals start anew. */
  #restart(nth: number): void {
    const waiting = at(this.#waiting, nth)
    if (waiting !== undefined) waiting.approvals = []
  }

  #through({ plan, terms, bens, approvals }: Waiting): void {
    this.counts.through += 1
    const asked = tierInEffect(this.#first.rules[plan.kind], terms, CONVERT)?.tier ?? null
    if (asked === null) return
    const people = bens ? 2 : 1
    if (approvals.length < asked.requiredApprovals)
      throw new Error(
        `${plan.kind} of ${terms.amount} ${terms.currency} went through with ${approvals.length} of ${asked.requiredApprovals} approvals`,
      )
    if (!asked.allowSelfApproval && people < 2)
      throw new Error(`${plan.kind} of ${terms.amount} ${terms.currency} went through by one person`)
    this.counts.alone += people === 1 ? 1 : 0
  }
}

const at = <Value>(values: readonly Value[], nth: number): Value | undefined =>
  values.length === 0 ? undefined : values[nth % values.length]
const onlyRow = (policies: StoredPolicies, kind: PolicyKind): StoredPolicies =>
  policies[kind]?.enabled === true ? { [kind]: policies[kind] } : {}

const terms: fc.Arbitrary<Terms> = fc.record({
  amount: fc.bigInt({ min: 1n, max: BigInt(AMOUNT_MAX) + 10n }),
  currency: fc.constantFrom(...CURRENCIES),
  balanceId: fc.constantFrom(...BALANCES),
  recipientId: fc.constantFrom(...RECIPIENTS),
  toOwnAccount: fc.boolean(),
})
const kind = fc.constantFrom(...MONEY_KINDS)
const nth = fc.nat({ max: 20 })
const act: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc
      .constantFrom(...POLICY_KINDS)
      .chain((of) => fc.record({ do: fc.constant('put' as const), kind: fc.constant(of), terms: termsOfKind(of) })),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('decide change' as const), nth }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('make' as const), kind, terms, byKey: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('edit' as const), nth, terms }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('edit recipient' as const), recipientId: fc.constantFrom(...RECIPIENTS) }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('submit' as const), nth }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('approve' as const), nth }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const), nth }) },
)

const counts = { through: 0, alone: 0, refused: 0 }
const property = (flaw: Flaw) =>
  fc.property(
    stored,
    fc.constantFrom(...RECIPIENT_MODES),
    fc.array(fc.record({ kind, terms }), { minLength: 1, maxLength: 4 }),
    fc.array(act, { minLength: 1, maxLength: 40 }),
    (policies, mode, plans, acts) => {
      const model = new Model(policies, mode, plans, flaw)
      for (const one of acts) model.act(one)
      for (const name of ['through', 'alone', 'refused'] as const) counts[name] += model.counts[name]
    },
  )

t.test('no sequence of acts of one person moves money that two must approve', (t) => {
  const seed = Number(process.env['SEED'] ?? 1)
  fc.assert(property(null), { numRuns: 3_000, seed })
  t.comment(`seed ${seed}: ${JSON.stringify(counts)}`)
  t.ok(counts.through > 1_000, 'things went through')
  t.ok(counts.alone > 5, `${counts.alone} by one person alone, where the policy lets one person`)
  t.ok(counts.refused > 300, `Ann was refused ${counts.refused} times`)
  t.end()
})

const flaws: readonly Exclude<Flaw, null>[] = [
  'compares the stored row',
  'the creator alone is the requester',
  'a key is another person',
  'requesters decide on their changes',
]
for (const flaw of flaws) {
  t.test(`the property finds a service in which: ${flaw}`, (t) => {
    const { failed } = fc.check(property(flaw), { numRuns: 20_000, seed: 1, endOnFailure: true })
    t.ok(failed)
    t.end()
  })
}
