/** Links of invitations: a token of 256 random bits, valid once and for seven days, of which only the hash is stored. */
import { DAY_MS } from '../base/clock.ts'
import { hash } from 'node:crypto'
import type { NewMail } from '../notices/mail.ts'

/** An invitation ends this long after it was sent. */
export const INVITATION_MS = 7 * DAY_MS

const TOKEN_BYTES = 32

/** Makes a token. `random` returns as many random bytes as asked, from a generator fit for secrets. */
export function generateInvitationToken(random: (bytes: number) => Uint8Array): string {
  return `inv_${Buffer.from(random(TOKEN_BYTES)).toString('base64url')}`
}

/** Computes the stored form of a token: SHA-256, 64 lower-case hex digits. */
export function invitationTokenHash(token: string): string {
  return hash('sha256', token, 'hex')
}

/** The path of the page where an invitation is accepted. */
export const invitationPath = (token: string): string => `/invitations/${token}`

/** A new link: its token, and what is stored of it. */
export interface InvitationLink {
  readonly token: string
  readonly tokenSha256: string
}

/** Makes a link; `random` as for a token. */
export function newLink(random: (bytes: number) => Uint8Array): InvitationLink {
  const token = generateInvitationToken(random)
  return { token, tokenSha256: invitationTokenHash(token) }
}

/** Writes the mail of a link that is made `now`, epoch milliseconds: it is not sent after the end of the link. */
export const invitationMail = ({
  email,
  tenantName,
  byName,
  token,
  origin,
  tenantId,
  now,
}: {
  readonly email: string
  readonly tenantName: string
  /** The name of the person or key that invites. */
  readonly byName: string
  readonly token: string
  /** The public address of the service. */
  readonly origin: string
  /** The inviting customer or operator. */
  readonly tenantId: string
  readonly now: number
}): NewMail => ({
  tenantId,
  validUntil: now + INVITATION_MS,
  to: email,
  subject: `${byName} invites you to ${tenantName}`,
  text: [
    `${byName} invites you to work for ${tenantName}. Accept on this page within seven days:`,
    '',
    `  ${origin}${invitationPath(token)}`,
  ].join('\r\n'),
})
