/** Approval policies of a customer. */
import Type, { type Static } from 'typebox'
import { MEMBER_ROLES } from '../identity/capabilities.ts'
import { APPROVALS_MAX, EXPIRES_HOURS, EXPIRES_HOURS_MAX, POLICY_KINDS, RECIPIENT_MODES, TIERS_MAX } from './policy.ts'
import { CurrencyCode, Nullable, Rail, Timestamp, Uuid, Words } from '../contract/primitives.ts'

/** The most people, and the most teams, that one tier can name: as many as a customer can have. */
const NAMED_MAX = 100

const NotNegative = Type.Object(
  {
    amountMinor: Type.String({
      pattern: '^(0|[1-9][0-9]{0,17})$',
      description: 'Minor units of the currency as text, not below zero.',
    }),
    currency: CurrencyCode,
  },
  { title: 'ThresholdMoney', additionalProperties: false },
)

const MemberRole = Words('MemberRole', MEMBER_ROLES)

const tier = {
  tier: Type.Integer({ minimum: 1, maximum: TIERS_MAX }),
  minAmount: NotNegative,
  maxAmount: Nullable(NotNegative, { description: 'Exclusive; null for no limit.' }),
  requiredApprovals: Type.Integer({ minimum: 1, maximum: APPROVALS_MAX }),
}
const approvers = {
  approverRoles: Type.Array(MemberRole, { maxItems: MEMBER_ROLES.length }),
  approverUserIds: Type.Array(Uuid, { maxItems: NAMED_MAX }),
  approverTeamIds: Type.Array(Uuid, { maxItems: NAMED_MAX }),
  allowSelfApproval: Type.Boolean(),
  distinctTeams: Type.Boolean({ description: 'Each approval must come from a different team.' }),
  expiresAfterHours: Type.Integer({ minimum: 1, maximum: EXPIRES_HOURS_MAX, default: EXPIRES_HOURS }),
}

export const ApprovalTier = Type.Object(
  { ...tier, ...approvers },
  {
    title: 'ApprovalTier',
    additionalProperties: false,
    description: 'Without roles, people and teams, every person with an approver role can decide.',
  },
)

const ApprovalTierWrite = Type.Object(
  {
    ...tier,
    ...(Object.fromEntries(Object.entries(approvers).map(([name, schema]) => [name, Type.Optional(schema)])) as {
      [Name in keyof typeof approvers]: ReturnType<typeof Type.Optional<(typeof approvers)[Name]>>
    }),
  },
  {
    title: 'ApprovalTierWrite',
    additionalProperties: false,
  },
)

const AppliesTo = Type.Object(
  {
    balanceIds: Type.Optional(Nullable(Type.Array(Uuid, { maxItems: NAMED_MAX }))),
    rails: Type.Optional(Nullable(Type.Array(Rail, { maxItems: NAMED_MAX }))),
    recipientIds: Type.Optional(Nullable(Type.Array(Uuid, { maxItems: NAMED_MAX }))),
  },
  { title: 'ApprovalPolicyScope', additionalProperties: false, description: 'All lists that are given must match.' },
)

export const ApprovalPolicy = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    kind: Words('ApprovalPolicyKind', POLICY_KINDS),
    version: Type.Integer({ description: '0 for a policy that was never set.' }),
    enabled: Type.Boolean(),
    currency: CurrencyCode,
    tiers: Type.Array(ApprovalTier),
    appliesTo: Nullable(AppliesTo),
    exemptOwnAccounts: Type.Boolean(),
    recipientMode: Words('RecipientApprovalMode', RECIPIENT_MODES),
    pendingChange: Nullable(
      Type.Object({ approvalId: Uuid, tiers: Type.Array(ApprovalTier) }, { title: 'PendingPolicyChange' }),
    ),
    effectiveFrom: Timestamp,
    updatedBy: Uuid,
    updatedAt: Timestamp,
  },
  { title: 'ApprovalPolicy' },
)
export type ApprovalPolicy = Static<typeof ApprovalPolicy>

export const ApprovalPolicyWrite = Type.Object(
  {
    enabled: Type.Boolean(),
    currency: CurrencyCode,
    tiers: Type.Array(ApprovalTierWrite, { maxItems: TIERS_MAX, description: 'Ascending, without overlap.' }),
    appliesTo: Type.Optional(Nullable(AppliesTo)),
    exemptOwnAccounts: Type.Optional(Type.Boolean()),
    recipientMode: Type.Optional(Words('RecipientApprovalMode', RECIPIENT_MODES)),
  },
  {
    title: 'ApprovalPolicyWrite',
    additionalProperties: false,
    examples: [
      {
        enabled: true,
        currency: 'EUR',
        tiers: [
          {
            tier: 1,
            minAmount: { amountMinor: '100000', currency: 'EUR' },
            maxAmount: null,
            requiredApprovals: 1,
            approverRoles: ['approver'],
          },
        ],
      },
    ],
  },
)
export type ApprovalPolicyWrite = Static<typeof ApprovalPolicyWrite>
