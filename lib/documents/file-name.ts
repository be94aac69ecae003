/**
 * Names of files on their way in and out. What a client calls a file is kept for people to see, never used as a path, and
 * offered again in a way that no browser can be fooled by.
 */
import { CONTROL } from '../contract/text.ts'

/** Code points; what common file systems take, with room for the four bytes that one may need. */
export const FILE_NAME_MAX = 120

/** Marks that turn the direction of writing, behind which `exe.pdf` reads `fdp.exe`. */
const BIDIRECTIONAL = /[\u200e\u200f\u061c\u202a-\u202e\u2066-\u2069]/gu

/**
 * The last part of what a client calls a file, trimmed and in NFC, no longer than may be; null when nothing is left or it
 * holds characters that no name has. Browsers of old send whole paths, so the part before the last slash goes.
 */
export function fileNameOf(sent: string): string | null {
  const name = sent.slice(Math.max(sent.lastIndexOf('/'), sent.lastIndexOf('\\')) + 1).replaceAll(BIDIRECTIONAL, '').trim().normalize('NFC')
  if (name === '' || /^\.+$/.test(name) || CONTROL.test(name) || !name.isWellFormed()) return null
  const letters = Array.from(name)
  if (letters.length <= FILE_NAME_MAX) return name
  // The ending tells people what it is.
  const dot = letters.lastIndexOf('.')
  const ending = dot > 0 && letters.length - dot <= 10 ? letters.slice(dot) : []
  return [...letters.slice(0, FILE_NAME_MAX - ending.length), ...ending].join('')
}

/** The header that offers a file under its name: in ASCII for old clients, whole for all others (RFC 6266). */
export function contentDisposition(fileName: string): string {
  const ascii = fileName.normalize('NFKD').replaceAll(/[\u0300-\u036f]/g, '').replaceAll(/[^\x20-\x7e]/g, '_').replaceAll(/["\\%]/g, '_')
  const whole = encodeURIComponent(fileName).replaceAll(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
  return ascii === fileName ? `attachment; filename="${ascii}"` : `attachment; filename="${ascii}"; filename*=UTF-8''${whole}`
}
