/** The operations on approvals and approval policies for the HTTP layer. */
import type { ApprovalTurn, Approvals } from './approvals.ts'
import { changePolicy } from './change-policy.ts'
import { isCurrencyCode } from '../../lib/base/currency.ts'
import { EXPIRES_HOURS, tiersFault, type PolicyKind, type PolicyTerms } from '../../lib/approvals/policy.ts'
import type { IdSource } from '../../lib/base/ids.ts'
import { refuseField } from '../../lib/base/problems.ts'
import { readDatabase } from '../../storage/db/read-database.ts'
import {
  getApproval,
  getApprovalPolicy,
  listApprovalPolicies,
  listApprovals,
  showApproval,
} from '../../storage/approvals/approval-queries.ts'
import { through } from '../../storage/db/transaction.ts'
import { proofMethod } from '../../storage/identity/identity-sessions.ts'
import type { Caller } from '../../lib/identity/caller.ts'
import { decideOnceIn, isRecorded, type RunOnceDeps } from '../commands/run-once.ts'
import { auditCaller } from '../commands/trail.ts'
import type { ListQuery, ListResult } from '../../lib/contract/list.ts'
import type { Approval, approvalList, DecisionCreate } from '../../lib/approvals/approval-schema.ts'
import type { ApprovalPolicy, ApprovalPolicyWrite } from '../../lib/approvals/approval-policy-schema.ts'
import type { Command, CommandAnswer, Versioned } from '../../lib/commands/command.ts'
import type { Principal, Tenant } from '../../lib/commands/caller.ts'

/** The reads. Null means: no such row in this tenant. */
export interface ApprovalReads {
  listApprovals(query: ListQuery<typeof approvalList>, principal: Principal): Promise<ListResult<Approval>>
  getApproval(tenant: Tenant, id: string, principal: Principal): Promise<Versioned<Approval> | null>
  approvalExists(tenant: Tenant, id: string): Promise<boolean>
  listApprovalPolicies(tenant: Tenant, customerId: string): Promise<readonly ApprovalPolicy[] | null>
  getApprovalPolicy(tenant: Tenant, customerId: string, kind: PolicyKind): Promise<Versioned<ApprovalPolicy> | null>
}

/** The writes. Every refusal is thrown as a problem. */
export interface ApprovalCommands {
  decide(
    by: Caller<'person'>,
    approvalId: string,
    command: Command<DecisionCreate>,
    expected: number | bigint | null,
  ): Promise<CommandAnswer<Approval, 200>>
  remind(by: Caller<'person'>, approvalId: string): Promise<void>
  /** Returns the policy, and the approval that its change waits for; null when the change is effective. */
  changePolicy(
    by: Caller<'person'>,
    kind: PolicyKind,
    body: ApprovalPolicyWrite,
    expected: number | bigint | null,
  ): Promise<{ readonly policy: Versioned<ApprovalPolicy>; readonly approvalId: string | null }>
}

export interface ApprovalDeps extends RunOnceDeps {
  readonly approvals: Approvals
  readonly ids: IdSource
}

/** The capabilities that may read comments: requesters, approvers and the operator's staff. */
const COMMENT_READERS = ['payments.create', 'approvals.decide', 'customers.manage', 'operations.manage'] as const

/** The viewer for checks of existence. */
const NOBODY = { id: '00000000-0000-0000-0000-000000000000', showsComments: false }

/** Describes the viewer of approvals for storage. */
export function viewerOf(principal: Principal) {
  return {
    id: principal.id,
    showsComments: COMMENT_READERS.some((capability) => principal.capabilities.has(capability)),
  }
}

/** Creates the reads of approvals. */
export function createApprovalReads({ database }: Pick<ApprovalDeps, 'database'>): ApprovalReads {
  const db = readDatabase(database)
  const own = (tenant: Tenant, customerId: string) => tenant.kind === 'customer' && tenant.id === customerId
  return {
    listApprovals: (query, principal) => listApprovals(database, db, query, viewerOf(principal)),
    getApproval: (tenant, id, principal) => getApproval(database, db, tenant, id, viewerOf(principal)),
    approvalExists: async (tenant, id) => (await getApproval(database, db, tenant, id, NOBODY)) !== null,
    listApprovalPolicies: async (tenant, customerId) =>
      own(tenant, customerId) ? await listApprovalPolicies(database, customerId) : null,
    getApprovalPolicy: async (tenant, customerId, kind) =>
      own(tenant, customerId) ? await getApprovalPolicy(database, customerId, kind) : null,
  }
}

/** Creates the commands of approvals. */
export function createApprovalCommands(deps: ApprovalDeps, reads: ApprovalReads): ApprovalCommands {
  const { approvals } = deps
  return {
    async decide(by, approvalId, command, expected) {
      const { decision, comment = null, recipientMaskedIdentifier = null, amount = null } = command.body
      if (decision === 'rejected' && comment === null && !(await isRecorded(deps, command)))
        refuseField('/comment', 'required', 'A rejection needs a comment with its reason.')
      return await decideOnceIn(
        deps,
        (work) => approvals.inTurn(approvalId, work),
        command,
        200,
        async (turn: ApprovalTurn) => {
          const refused = await approvals.decide(turn, {
            approvalId,
            customerId: by.tenant.id,
            userId: by.session.userId,
            userName: by.session.name,
            decision,
            comment,
            stepUpMethod: await proofMethod(through(turn.client), {
              sessionId: by.session.id,
              tenantId: by.tenant.id,
              action: 'approval.decide',
              subjectId: approvalId,
              bound: true,
              // Whether the proof is fresh was decided when the request came; it may have waited for its turn since.
              since: 0,
            }),
            expected,
            shown: { recipientMaskedIdentifier, amount },
            by: auditCaller(by),
          })
          if (refused !== null) return { refused }
          return { shown: await showApproval(turn.client, by.tenant, approvalId, viewerOf(by.principal)), tagged: true }
        },
      )
    },
    remind: (by, approvalId) => approvals.remind({ approvalId, customerId: by.tenant.id }),
    async changePolicy(by, kind, body, expected) {
      const customerId = by.tenant.id
      const approvalId = await changePolicy(deps, {
        customerId,
        kind,
        terms: termsOfBody(kind, body),
        expected,
        by: auditCaller(by),
      })
      return { policy: await found(reads.getApprovalPolicy(by.tenant, customerId, kind), kind), approvalId }
    },
  }
}

async function found<View>(reading: Promise<View | null>, what: string): Promise<View> {
  const view = await reading
  if (view === null) throw new Error(`${what} has vanished.`)
  return view
}

/** Reads a policy from a request body, with defaults for absent members. */
function termsOfBody(kind: PolicyKind, body: ApprovalPolicyWrite): PolicyTerms {
  const { enabled, currency, appliesTo, exemptOwnAccounts = true, recipientMode = 'none' } = body
  if (!isCurrencyCode(currency)) refuseField('/currency', 'invalid_value', 'No such currency.')
  if (kind !== 'recipient' && recipientMode !== 'none')
    refuseField('/recipientMode', 'not_applicable', 'Only the policy for recipients has a mode.')
  const tiers = body.tiers.map((tier) => ({
    tier: tier.tier,
    minAmount: BigInt(tier.minAmount.amountMinor),
    maxAmount: tier.maxAmount === null ? null : BigInt(tier.maxAmount.amountMinor),
    requiredApprovals: tier.requiredApprovals,
    approverRoles: tier.approverRoles ?? [],
    approverUserIds: lower(tier.approverUserIds),
    approverTeamIds: lower(tier.approverTeamIds),
    allowSelfApproval: tier.allowSelfApproval ?? false,
    distinctTeams: tier.distinctTeams ?? false,
    expiresAfterHours: tier.expiresAfterHours ?? EXPIRES_HOURS,
  }))
  const fault = tiersFault(
    { enabled, tiers, currency },
    body.tiers.flatMap(({ minAmount, maxAmount }) => [
      minAmount.currency,
      ...(maxAmount === null ? [] : [maxAmount.currency]),
    ]),
  )
  if (fault !== null) refuseField(fault.field, fault.code, fault.message)
  const scope = appliesTo ?? null
  return {
    enabled,
    currency,
    tiers,
    exemptOwnAccounts,
    recipientMode,
    appliesTo:
      scope === null
        ? null
        : { balanceIds: list(scope.balanceIds), rails: scope.rails ?? null, recipientIds: list(scope.recipientIds) },
  }
}

const lower = (ids: readonly string[] | undefined): string[] => [...new Set(ids?.map((id) => id.toLowerCase()) ?? [])]
const list = (ids: readonly string[] | null | undefined): string[] | null =>
  ids === undefined || ids === null ? null : lower(ids)
