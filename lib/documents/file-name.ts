/**
 * Names of uploaded and downloaded files. The client's name of a file is stored for people to see, is never used as a
 * path, and is sent back in a header that cannot mislead a browser.
 */
import { CONTROL } from '../contract/text.ts'

/** Code points, each of up to four bytes; chosen for the bounds of common file systems. */
export const FILE_NAME_MAX = 120

/** Marks that reverse the direction of writing: after one, `exe.pdf` is displayed as `fdp.exe`. */
const BIDIRECTIONAL = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/gu

/**
 * Returns the last part of the client's file name, trimmed, in NFC and cut to FILE_NAME_MAX; null when nothing is left
 * or a character is not allowed. Old browsers send whole paths, so everything up to the last slash is removed.
 */
export function fileNameOf(sent: string): string | null {
  const name = sent
    .slice(Math.max(sent.lastIndexOf('/'), sent.lastIndexOf('\\')) + 1)
    .replaceAll(BIDIRECTIONAL, '')
    .trim()
    .normalize('NFC')
  if (name === '' || /^\.+$/.test(name) || CONTROL.test(name) || !name.isWellFormed()) return null
  const letters = Array.from(name)
  if (letters.length <= FILE_NAME_MAX) return name
  // The extension is kept, because it tells people the type of the file.
  const dot = letters.lastIndexOf('.')
  const ending = dot > 0 && letters.length - dot <= 10 ? letters.slice(dot) : []
  return [...letters.slice(0, FILE_NAME_MAX - ending.length), ...ending].join('')
}

/**
 * Builds the header that offers a file under its name: in ASCII for old clients, complete for all others (RFC 6266).
 */
export function contentDisposition(fileName: string): string {
  const ascii = fileName
    .normalize('NFKD')
    .replaceAll(/[\u0300-\u036f]/g, '')
    .replaceAll(/[^\x20-\x7e]/g, '_')
    .replaceAll(/["\\%]/g, '_')
  const whole = encodeURIComponent(fileName).replaceAll(
    /['()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return ascii === fileName
    ? `attachment; filename="${ascii}"`
    : `attachment; filename="${ascii}"; filename*=UTF-8''${whole}`
}
