/** Approvals: the subject that waits for approval, and the decisions made on it. */
import Type, { type Static } from 'typebox'
import { StepUpMethod } from '../identity/step-up-schema.ts'
import { APPROVAL_STATUSES, SUBJECT_TYPES } from './opening.ts'
import { POLICY_KINDS } from './policy.ts'
import { list } from '../contract/list.ts'
import { ApprovalTier } from './approval-policy-schema.ts'
import { Money, Nullable, Rail, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'

export const ApprovalDecision = Words('ApprovalDecision', ['approved', 'rejected'])

export const Approval = Type.Object(
  {
    id: Uuid,
    subjectType: Words('ApprovalSubjectType', SUBJECT_TYPES),
    subjectId: Uuid,
    subjectSummary: Type.Object(
      {
        title: Type.String(),
        amount: Nullable(Money),
        recipientName: Nullable(Type.String()),
        sourceBalanceId: Nullable(Uuid),
        sourceBalanceName: Nullable(Type.String()),
        rail: Nullable(Rail),
        itemCount: Nullable(Type.Integer()),
        recipientMaskedIdentifier: Nullable(Type.String()),
      },
      { title: 'ApprovalSubjectSummary', description: 'The subject at the opening of the approval.' },
    ),
    tier: Type.Integer(),
    status: Words('ApprovalStatus', APPROVAL_STATUSES),
    requiredApprovals: Type.Integer(),
    received: Type.Integer({ description: 'Approvals that counted at the last decision.' }),
    decisions: Type.Array(
      Type.Object(
        {
          id: Uuid,
          userId: Uuid,
          userName: Type.String(),
          decision: ApprovalDecision,
          comment: Type.Optional(Nullable(Type.String({ description: 'Shown to creators, approvers and staff.' }))),
          decidedAt: Timestamp,
          stepUpMethod: Nullable(StepUpMethod, { description: 'Null for the approver of the sandbox.' }),
          counted: Type.Boolean({
            description:
              'False for an approval given before a change that voided all approvals, or by a person who ' +
              'could no longer approve at the last decision.',
          }),
        },
        { title: 'ApprovalDecisionRecord' },
      ),
    ),
    requestedBy: Uuid,
    requestedByName: Type.String(),
    requesters: Type.Array(Uuid, {
      description:
        'The people and API keys that shaped the terms, and the creators of those keys. They cannot decide ' +
        'unless the tier allows self-approval.',
    }),
    subjectChanges: Type.Array(
      Type.Object(
        {
          changedBy: Uuid,
          changedByName: Type.String(),
          changedAt: Timestamp,
          paymentId: Uuid,
          members: Type.Array(Type.String()),
          restarted: Type.Boolean({ description: 'The change voided the approvals given before it.' }),
        },
        { title: 'ApprovalSubjectChange' },
      ),
      { description: 'The changes made while the approval waited, oldest first; at most the last 100.' },
    ),
    canDecide: Type.Boolean({ description: 'Whether the caller may decide now.' }),
    expiresAt: Nullable(Timestamp),
    createdAt: Timestamp,
    policy: Type.Object(
      {
        kind: Nullable(Words('ApprovalPolicyKind', POLICY_KINDS)),
        source: Words('ApprovalPolicySource', ['snapshot', 'policy', 'default', 'recipient']),
        tier: ApprovalTier,
        issues: Type.Array(
          Type.Object({
            code: Words('ApprovalIssueCode', [
              'not_enough_approvers',
              'requester_only_approver',
              'approver_suspended',
              'rate_unavailable',
              'policy_changed',
            ]),
            message: Type.String(),
          }),
        ),
      },
      { title: 'ApprovalEffectivePolicy', description: 'The policy that the approval follows.' },
    ),
  },
  { title: 'Approval' },
)
export type Approval = Static<typeof Approval>

export const DecisionCreate = Type.Object(
  {
    decision: ApprovalDecision,
    comment: Type.Optional(Nullable(Text(1, 500, { description: 'Required to reject.' }))),
    recipientMaskedIdentifier: Type.Optional(
      Nullable(
        Text(0, 64, {
          description:
            'The account of the recipient as the person saw it; the decision is refused when it has changed.',
        }),
      ),
    ),
    amount: Type.Optional(
      Nullable(Money, {
        description: 'The amount as the person saw it; the decision is refused when it has changed.',
      }),
    ),
  },
  { title: 'ApprovalDecisionCreate', additionalProperties: false, examples: [{ decision: 'approved' }] },
)
export type DecisionCreate = Static<typeof DecisionCreate>

export const approvalList = list({
  filters: {
    status: { kind: 'words', values: APPROVAL_STATUSES, default: ['pending'] },
    subjectType: { kind: 'words', values: SUBJECT_TYPES },
    subjectId: { kind: 'ids' },
    mine: { kind: 'boolean' },
    requestedByMe: { kind: 'boolean' },
    customerId: { kind: 'ids', operatorOnly: true },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})
