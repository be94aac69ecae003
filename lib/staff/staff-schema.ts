/** Schemas of an operator's staff and of the invitations to join it. */
import Type, { type Static } from 'typebox'
import { STAFF_ROLES } from '../identity/capabilities.ts'
import { list } from '../contract/list.ts'
import { Email, Nullable, Text, Timestamp, Uuid, Words } from '../contract/primitives.ts'

const STATUSES = ['active', 'suspended', 'removed'] as const
const INVITATION_STATUSES = ['pending', 'accepted', 'expired', 'revoked'] as const
const NAME_MAX = 100

const Role = Words('StaffRole', STAFF_ROLES)
const Name = Nullable(Text(1, NAME_MAX), { description: 'The name of the invited person; null: the person gives it.' })

export const StaffMember = Type.Object(
  {
    id: Uuid,
    operatorId: Uuid,
    userId: Uuid,
    email: Type.String(),
    name: Type.String(),
    role: Role,
    status: Words('MembershipStatus', STATUSES),
    mfaEnabled: Type.Boolean(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  },
  { title: 'StaffMember' },
)
export type StaffMember = Static<typeof StaffMember>

export const StaffUpdate = Type.Object(
  { role: Type.Optional(Role), status: Type.Optional(Type.Enum(['active', 'suspended'])) },
  { title: 'StaffUpdate', additionalProperties: false, examples: [{ role: 'compliance' }] },
)
export type StaffUpdate = Static<typeof StaffUpdate>

export const staffList = list({
  filters: {
    status: { kind: 'words', values: STATUSES, default: ['active', 'suspended'] },
    role: { kind: 'words', values: STAFF_ROLES },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})

export const StaffInvitation = Type.Object(
  {
    id: Uuid,
    operatorId: Uuid,
    email: Type.String(),
    name: Name,
    role: Role,
    status: Words('InvitationStatus', INVITATION_STATUSES),
    invitedBy: Uuid,
    invitedByName: Type.String(),
    expiresAt: Timestamp,
    acceptedAt: Nullable(Timestamp),
    createdAt: Timestamp,
  },
  { title: 'StaffInvitation' },
)
export type StaffInvitation = Static<typeof StaffInvitation>

export const StaffInvitationCreate = Type.Object(
  { email: Email, role: Role, name: Type.Optional(Name) },
  {
    title: 'StaffInvitationCreate',
    additionalProperties: false,
    examples: [{ email: 'kim@bank.example', role: 'support', name: 'Kim Lee' }],
  },
)
export type StaffInvitationCreate = Static<typeof StaffInvitationCreate>

export const StaffInvitationUpdate = Type.Object(
  { role: Type.Optional(Role), name: Type.Optional(Name) },
  { title: 'StaffInvitationUpdate', additionalProperties: false, examples: [{ role: 'operations' }] },
)
export type StaffInvitationUpdate = Static<typeof StaffInvitationUpdate>

export const staffInvitationList = list({
  filters: {
    status: { kind: 'words', values: INVITATION_STATUSES },
    createdFrom: { kind: 'timeFrom' },
    createdTo: { kind: 'timeTo' },
  },
  sorts: ['-createdAt', 'createdAt'],
})
