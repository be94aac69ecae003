/**
 * QR codes as vector pictures.
 *
 * Why `qr`: without dependencies, kept by the author of the noble libraries, under MIT or Apache-2.0, and its reader
 * (`qr/decode.js`) lets a test read what was drawn. `qrcode` has had no release in two years and brings a program for
 * the terminal. A payload of 250 bytes takes 2 ms, and an address may open sixty pages a minute.
 */
import encodeQR from 'qr'

/** The white frame that readers need, in modules. */
const QUIET_MODULES = 4

/** A square picture. */
export interface QrCode {
  /** Side of the square, in modules, with the white frame. */
  readonly size: number
  /** The dark modules as the path of an SVG whose unit is one module. */
  readonly path: string
}

/** Draws a text in UTF-8 at the error correction M, which the guideline for payments asks for. */
export function qrCode(text: string): QrCode {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', encoding: 'byte', border: QUIET_MODULES })
  const path = rows
    .flatMap((row, y) => runsOf(row).map(({ x, length }) => `M${x} ${y}h${length}v1h-${length}z`))
    .join('')
  return { size: rows.length, path }
}

/** Finds the dark runs of a row, because one shape is drawn without the hairlines between single modules. */
function runsOf(row: readonly boolean[]): { readonly x: number; readonly length: number }[] {
  const runs: { x: number; length: number }[] = []
  for (const [x, dark] of row.entries()) {
    const last = runs.at(-1)
    if (!dark) continue
    if (last !== undefined && last.x + last.length === x) last.length += 1
    else runs.push({ x, length: 1 })
  }
  return runs
}
