/** The fonts and colours of the PDFs that this service makes. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'

const font = (file: string): Buffer =>
  readFileSync(createRequire(import.meta.url).resolve(`@expo-google-fonts/noto-sans/${file}`))

/** Read once per thread. They are embedded, because names have letters that the standard fonts of PDF lack. */
export const REGULAR = font('400Regular/NotoSans_400Regular.ttf')
export const BOLD = font('700Bold/NotoSans_700Bold.ttf')

export const INK = '#1b2430'
export const SOFT = '#5b6675'
export const LINE = '#d5dae1'
export const ACCENT = '#0b5c5e'
export const BAND = '#f2f6f6'
