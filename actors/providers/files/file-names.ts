/** Names of files at places that others write to. */
import { PlaceUnreachable } from '../adapters/partner-files.ts'

/** Names that programs give to files which they have not finished. */
const UNFINISHED = /\.(part|tmp|temp|filepart|partial|swp|writing)$/i
const NAME_LENGTH_MAX = 255

/** Whether a file of this name is meant to be read: it is neither hidden nor unfinished. */
export function isOffered(name: string): boolean {
  return !name.startsWith('.') && !UNFINISHED.test(name) && isPlain(name)
}

/** Returns the name of a file in a folder. @throws PlaceUnreachable for a name that is a path */
export function plainName(name: string): string {
  if (!isPlain(name)) throw new PlaceUnreachable('The name of a file is a path.')
  return name
}

function isPlain(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && name.length <= NAME_LENGTH_MAX && !/[/\\\x00-\x1f]/.test(name)
}
