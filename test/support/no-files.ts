/** The ways out to files for adapters that need none. */
import type { PartnerFiles } from '../../actors/providers/adapters/partner-files.ts'

function none(): never {
  throw new Error('There are no files.')
}

export const NO_FILES: PartnerFiles = { place: none, book: none, read: none }
