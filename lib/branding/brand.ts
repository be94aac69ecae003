/** How an operator appears to people: its name, colours, logo and contacts in mails and on pages. */
import type { FieldError } from '../base/problems.ts'
import type { BrandingFields, BrandingUpdate } from './branding-schema.ts'
import { logoFault, type Logo } from './logo.ts'

/** The name of the setting that stores an operator's branding. */
export const BRANDING = 'branding'

/** The branding before the first change. */
export const NO_BRANDING: BrandingFields = {
  displayName: null,
  primaryColor: null,
  linkColor: null,
  logo: null,
  supportEmail: null,
  supportPhone: null,
  supportUrl: null,
  footer: null,
}

/** The brand that mails and pages show: the branding, with the operator's name and readable colours as defaults. */
export interface Brand {
  readonly name: string
  /** `#rrggbb` in lower case, of bars and buttons. */
  readonly primaryColor: string
  /** The colour of text on `primaryColor`: white, or black where white would be hard to read. */
  readonly textColor: '#ffffff' | '#000000'
  /** `#rrggbb` in lower case, readable on white. */
  readonly linkColor: string
  readonly logo: Logo | null
  readonly support: { readonly email: string | null; readonly phone: string | null; readonly url: string | null }
  /** Details of the company below every mail and page. */
  readonly footer: string | null
}

const PRIMARY_COLOR = '#1f3a5f'
const LINK_COLOR = '#1f5fa8'
const WHITE = '#ffffff'
const BLACK = '#000000'

/** The least contrast of text that people can read, of WCAG 2.2 (1.4.3). */
const CONTRAST_MIN = 4.5
/** Steps between a colour and white. */
const LIGHTER_STEPS = 20

/** Makes the brand of an operator from its name and its branding; null: it has set none. */
export function brandOf(operatorName: string, branding: BrandingFields | null): Brand {
  const set = branding ?? NO_BRANDING
  const primaryColor = set.primaryColor ?? PRIMARY_COLOR
  return {
    name: set.displayName ?? operatorName,
    primaryColor,
    textColor: textColorOn(primaryColor),
    linkColor: set.linkColor ?? LINK_COLOR,
    logo: set.logo,
    support: { email: set.supportEmail, phone: set.supportPhone, url: set.supportUrl },
    footer: set.footer,
  }
}

/** Applies a change to a branding; colours become lower case. */
export function brandingAfter(before: BrandingFields, change: BrandingUpdate): BrandingFields {
  const after = { ...before, ...change }
  return {
    ...after,
    primaryColor: after.primaryColor?.toLowerCase() ?? null,
    linkColor: after.linkColor?.toLowerCase() ?? null,
  }
}

/** Returns the faults of a change that its schema cannot find. */
export function brandingFaults({ linkColor, logo }: BrandingUpdate): readonly FieldError[] {
  const faults: FieldError[] = []
  if (linkColor != null) {
    const found = contrast(linkColor, WHITE)
    if (found < CONTRAST_MIN)
      faults.push({
        field: '/linkColor',
        code: 'invalid_value',
        message: `Links are hard to read: the contrast with white is ${found.toFixed(1)}, and ${CONTRAST_MIN} is the least.`,
        params: { min: CONTRAST_MIN },
      })
  }
  const fault = logo == null ? null : logoFault(logo)
  if (fault !== null) faults.push({ field: '/logo/data', code: 'invalid_value', message: fault })
  return faults
}

/** Returns the colour of text on a colour: white, or black where white would be hard to read. */
export const textColorOn = (color: string): Brand['textColor'] =>
  contrast(color, WHITE) >= CONTRAST_MIN ? WHITE : BLACK

/** Lightens a colour, `#rrggbb`, as little as gives it a contrast on a dark background, at most to white. */
export function readableOn(background: string, color: string, least: number): string {
  const parts = partsOf(color)
  for (let share = 0; share < LIGHTER_STEPS; share += 1) {
    const lighter = parts.map((part) => part + Math.round(((255 - part) * share) / LIGHTER_STEPS))
    const found = `#${lighter.map((part) => part.toString(16).padStart(2, '0')).join('')}`
    if (contrast(found, background) >= least) return found
  }
  return WHITE
}

/** The contrast of two colours, `#rrggbb`: from 1, the same, to 21, black on white. The formula of WCAG 2.2. */
export function contrast(one: string, other: string): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

/** Returns red, green and blue of a colour, 0 to 255. */
const partsOf = (color: string): number[] => [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16))

function luminance(color: string): number {
  const [red, green, blue] = partsOf(color).map((byte) => {
    const part = byte / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
