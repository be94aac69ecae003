/** Reads the facts that the first bytes of a pain.001 message state: its id and its version. */
import { BulkFileError, unusable } from '../../lib/bulk-payments/file-error.ts'
import { XmlReader, type XmlHandler } from '../../lib/base/xml-reader.ts'

/** Characters of the ids that a sender gives to messages and to their blocks. */
export const ID_MAX = 35
/** Bytes that are parsed between two checks whether the message id was found. */
const STEP_BYTES = 1024

/**
 * Reads the sender's id of a message (MsgId) from its first bytes; null when they do not contain it, or are no message.
 * Cheap: parsing stops at the id.
 */
export function messageIdOf(beginning: Uint8Array): string | null {
  let found: string | null = null
  const path: string[] = []
  const handler: XmlHandler = {
    open: ({ name }) => void path.push(name),
    close: (name, text) => {
      if (found === null && path.length === 4 && path[2] === 'GrpHdr' && name === 'MsgId') found = messageIdText(text)
      path.pop()
    },
  }
  const xml = new XmlReader(handler, unusable)
  try {
    for (let at = 0; at < beginning.length && found === null; at += STEP_BYTES)
      xml.write(beginning.subarray(at, at + STEP_BYTES))
  } catch (error) {
    // The full reading of the file reports this error.
    if (!(error instanceof BulkFileError)) throw error
  }
  return found
}

/** Returns the message type that a message states in its first bytes, with the version where they contain it. */
export const messageNameOf = (beginning: Uint8Array): string =>
  /:xsd:(pain\.001\.001\.\d{2})/.exec(Buffer.from(beginning).toString('latin1'))?.[1] ?? 'pain.001'

export const messageIdText = (text: string): string => text.trim().slice(0, ID_MAX)
