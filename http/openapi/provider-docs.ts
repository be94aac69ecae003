/** The page of the banking partners: what each can do, and what a connection to it is told. Made from their descriptions. */
import type { TSchema } from 'typebox'
import { PROVIDER_DESCRIPTIONS } from '../../lib/providers/descriptions.ts'
import { CAPABILITIES, type ProviderDescription } from '../../lib/providers/provider.ts'
import { escaped } from './html-text.ts'

/** The members of JSON Schema that the page shows. */
interface Shown {
  readonly type?: string
  readonly enum?: readonly unknown[]
  readonly description?: string
  readonly items?: Shown
  readonly properties?: Readonly<Record<string, Shown>>
  readonly required?: readonly string[]
}

function typeOf({ type, enum: words, items, properties }: Shown): string {
  if (words !== undefined) return words.map(String).join(' or ')
  if (type === 'array') return `list of ${items === undefined ? 'values' : typeOf(items)}`
  if (properties !== undefined) return `{${Object.keys(properties).join(', ')}}`
  return type ?? 'value'
}

function membersOf(schema: TSchema): string {
  const { properties = {}, required = [] } = schema as Shown
  const rows = Object.entries(properties).map(
    ([name, member]) =>
      `<li><code>${escaped(name)}</code> (${escaped(typeOf(member))}${required.includes(name) ? ', required' : ''})` +
      `${member.description === undefined ? '' : `: ${escaped(member.description)}`}</li>`,
  )
  return `<ul>\n${rows.join('\n')}\n</ul>`
}

function sectionOf({ provider, name, environments, capabilities, config, credentials }: ProviderDescription): string {
  const able = CAPABILITIES.filter((capability) => capabilities[capability])
  return `<h2>${escaped(name)} <code>${provider}</code></h2>
<p>Environments: ${environments.join(', ')}. Abilities: ${able.join(', ')}.</p>
<h3><code>config</code></h3>
${membersOf(config)}
<h3>Credentials</h3>
${credentials === null ? '<p>None.</p>' : membersOf(credentials)}`
}

/** Renders the body of the page. */
export const providersBody = (): string => `<p>Staff with <code>providers.manage</code> connect a banking partner with
<code>POST /v1/provider-connections</code>, set its credentials, verify it by a live probe and activate it.</p>
${Object.values(PROVIDER_DESCRIPTIONS).map(sectionOf).join('\n')}`
