/** Schemas of a customer's people: members, teams and invitations. */
import Type, { type Static } from 'typebox'
import { MEMBER_ROLES, STAFF_ROLES } from './capabilities.ts'
import { list } from '../contract/list.ts'
import { LimitsShown, LimitsWrite } from '../customers/customer-limits-schema.ts'
import { Email, Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'
import { Password } from './session-schema.ts'

const MEMBER_STATUSES = ['active', 'suspended', 'removed'] as const
const INVITATION_STATUSES = ['pending', 'accepted', 'expired', 'revoked'] as const
/** The largest number of members of a customer. */
const PEOPLE_MAX = 100
const TEAMS_MAX = 50

const Role = Words('MemberRole', MEMBER_ROLES)
const Teams = Type.Array(Uuid, { maxItems: TEAMS_MAX })

export const Member = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    userId: Uuid,
    email: Type.String(),
    name: Type.String(),
    role: Role,
    status: Words('MembershipStatus', MEMBER_STATUSES),
    isPrimaryOwner: Type.Boolean(),
    teamIds: Type.Array(Uuid),
    limits: Nullable(LimitsShown, {
      description:
        "The limits of payments in the name of the member, in addition to the customer's limits. Null: no " +
        'additional limit.',
    }),
    mfaEnabled: Type.Boolean(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Member' },
)
export type Member = Static<typeof Member>

export const MemberUpdate = Type.Object(
  {
    role: Type.Optional(Role),
    status: Type.Optional(Type.Enum(['active', 'suspended'])),
    teamIds: Type.Optional(Teams),
    limits: Type.Optional(
      Nullable(LimitsWrite, {
        description:
          'Replaces the previous limits. Payments already made on the running day and month count against ' +
          'them. Null: no limits.',
      }),
    ),
  },
  {
    title: 'MemberUpdate',
    additionalProperties: false,
    examples: [{ limits: [{ currency: 'EUR', daily: { amountMinor: '1000000', currency: 'EUR' } }] }],
  },
)
export type MemberUpdate = Static<typeof MemberUpdate>

export const memberList = list({
  filters: {
    status: { kind: 'words', values: MEMBER_STATUSES, default: ['active', 'suspended'] },
    role: { kind: 'words', values: MEMBER_ROLES },
    teamId: { kind: 'ids' },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})

export const PrimaryOwner = Type.Object(
  { membershipId: Uuid },
  { title: 'PrimaryOwnerTransfer', additionalProperties: false },
)

export const Team = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    name: Type.String(),
    membershipIds: Type.Array(Uuid),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'Team' },
)
export type Team = Static<typeof Team>

const Members = Type.Array(Uuid, { maxItems: PEOPLE_MAX })
export const TeamCreate = Type.Object(
  { name: Text(1, 60), membershipIds: Type.Optional(Members) },
  { title: 'TeamCreate', additionalProperties: false },
)
export type TeamCreate = Static<typeof TeamCreate>
export const TeamUpdate = Type.Object(
  { name: Type.Optional(Text(1, 60)), membershipIds: Type.Optional(Members) },
  { title: 'TeamUpdate', additionalProperties: false },
)
export type TeamUpdate = Static<typeof TeamUpdate>

export const teamList = list({
  filters: { createdFrom: { kind: 'timeFrom' }, createdTo: { kind: 'timeTo' } },
  sorts: ['-createdAt', 'createdAt'],
})

export const Invitation = Type.Object(
  {
    id: Uuid,
    customerId: Uuid,
    email: Type.String(),
    role: Role,
    teamIds: Type.Array(Uuid),
    status: Words('InvitationStatus', INVITATION_STATUSES),
    invitedBy: Uuid,
    invitedByName: Type.String(),
    expiresAt: Timestamp,
    acceptedAt: Nullable(Timestamp),
    createdAt: Timestamp,
  },
  { title: 'Invitation' },
)
export type Invitation = Static<typeof Invitation>

export const InvitationCreate = Type.Object(
  { email: Email, role: Role, teamIds: Type.Optional(Teams) },
  {
    title: 'InvitationCreate',
    additionalProperties: false,
    examples: [{ email: 'ann@example.com', role: 'approver' }],
  },
)
export type InvitationCreate = Static<typeof InvitationCreate>

export const invitationList = list({
  filters: {
    status: { kind: 'words', values: INVITATION_STATUSES },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})

export const OpenInvitation = Type.Object(
  {
    customerName: Nullable(Type.String(), { description: 'The inviting customer; null for staff of the operator.' }),
    operatorName: Type.String(),
    email: Type.String(),
    name: Nullable(Type.String(), {
      description:
        'The name of the invited person, unless the acceptance has another; null: a new person must give it.',
    }),
    role: Type.Union([Role, Words('StaffRole', STAFF_ROLES)]),
    invitedByName: Type.String(),
    expiresAt: Timestamp,
    knownPerson: Type.Boolean({
      description:
        'Whether a person with the address exists: that person must send their password, and chooses no new one.',
    }),
  },
  { title: 'OpenInvitation' },
)
export type OpenInvitation = Static<typeof OpenInvitation>

export const InvitationAccept = Type.Object(
  {
    name: Type.Optional(
      Text(1, 100, { description: 'The name of a new person; without it, the name in the invitation.' }),
    ),
    password: Password,
  },
  { title: 'InvitationAccept', additionalProperties: false },
)
export type InvitationAccept = Static<typeof InvitationAccept>

export const AcceptedInvitation = Type.Object(
  {
    membershipId: Uuid,
    customerId: Nullable(Uuid, { description: 'Null for staff of the operator.' }),
    operatorId: Uuid,
    email: Type.String(),
  },
  { title: 'AcceptedInvitation' },
)
export type AcceptedInvitation = Static<typeof AcceptedInvitation>
