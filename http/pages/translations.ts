/** The words of the pages in each language. */
import { de } from './de.ts'
import { en } from './en.ts'
import { es } from './es.ts'
import { fr } from './fr.ts'
import type { Language } from './language.ts'
import type { Texts } from './texts.ts'

export const TRANSLATIONS: Readonly<Record<Language, Texts>> = { en, de, fr, es }
