/** The operator's colours as a style, for the light theme and the dark one. */
import { contrast, readableOn, textColorOn, type Brand } from '../../lib/branding/brand.ts'

/** The colours of cards, on which buttons and links stand (style.css). */
const LIGHT_CARD = '#ffffff'
const DARK_CARD = '#182028'
/** The edge of a button that is hard to tell from its card (style.css). */
const LIGHT_EDGE = '#76838f'

/** The least contrast of text, and of the shape of a button, of WCAG 2.2 (1.4.3 and 1.4.11). */
const TEXT_CONTRAST = 4.5
const SHAPE_CONTRAST = 3

/** Returns the style of a brand; empty without one: then the colours of style.css hold. */
export function styleOf(brand: Brand | null): string {
  if (brand === null) return ''
  const { primaryColor, textColor, linkColor } = brand
  const edge = contrast(primaryColor, LIGHT_CARD) < SHAPE_CONTRAST ? LIGHT_EDGE : primaryColor
  const dark = readableOn(DARK_CARD, primaryColor, SHAPE_CONTRAST)
  const light = {
    bar: primaryColor,
    button: primaryColor,
    'on-button': textColor,
    'button-edge': edge,
    accent: linkColor,
  }
  const night = {
    bar: dark,
    button: dark,
    'on-button': textColorOn(dark),
    'button-edge': dark,
    accent: readableOn(DARK_CARD, linkColor, TEXT_CONTRAST),
  }
  return `:root{${variables(light)}}@media (prefers-color-scheme:dark){:root{${variables(night)}}}`
}

const variables = (colours: Readonly<Record<string, string>>): string =>
  Object.entries(colours)
    .map(([name, value]) => `--${name}:${value}`)
    .join(';')
