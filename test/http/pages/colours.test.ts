/** The operator's colours on pages: whatever they are, buttons and links can be read in both themes. */
import fc from 'fast-check'
import t from 'tap'
import { styleOf } from '../../../http/pages/colours.ts'
import { brandOf, contrast, NO_BRANDING, readableOn } from '../../../lib/branding/brand.ts'

const CARDS = { light: '#ffffff', dark: '#182028' } as const

/** The variables of each theme. */
function themesOf(style: string): Record<'light' | 'dark', Record<string, string>> {
  const [light = '', dark = ''] = Array.from(style.matchAll(/:root\{([^}]*)\}/g), ([, text]) => text as string)
  const variables = (text: string) =>
    Object.fromEntries(Array.from(text.matchAll(/--([\w-]+):(#[0-9a-f]{6})/g), ([, name, value]) => [name, value]))
  return { light: variables(light), dark: variables(dark) }
}

const color = fc.integer({ min: 0, max: 0xffffff }).map((value) => `#${value.toString(16).padStart(6, '0')}`)

t.test('texts of buttons have a contrast of 4.5, their shapes and links what they need', (t) => {
  fc.assert(
    fc.property(color, color, (primaryColor, any) => {
      // An operator's colour of links is readable on white, or it is refused.
      const linkColor = contrast(any, CARDS.light) >= 4.5 ? any : null
      const themes = themesOf(styleOf(brandOf('Bank', { ...NO_BRANDING, primaryColor, linkColor })))
      return (['light', 'dark'] as const).every((theme) => {
        const colours = themes[theme] as Record<'button' | 'on-button' | 'button-edge' | 'accent', string>
        return (
          contrast(colours['on-button'], colours.button) >= 4.5 &&
          contrast(colours['button-edge'], CARDS[theme]) >= 3 &&
          contrast(colours.accent, CARDS[theme]) >= 4.5
        )
      })
    }),
  )
  t.equal(styleOf(null), '', 'without a brand the colours are those of the stylesheet')
  t.equal(readableOn(CARDS.dark, '#8fc1e6', 4.5), '#8fc1e6', 'a colour that is readable stays')
  t.end()
})
