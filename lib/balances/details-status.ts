/** Statuses of the account details of a balance. */

export const ACCOUNT_DETAILS_STATUSES = ['pending', 'active', 'replaced', 'closing', 'closed', 'failed'] as const
